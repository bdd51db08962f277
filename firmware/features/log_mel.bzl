# SPDX-License-Identifier: Apache-2.0
"""log_mel: the tables of features of sound, as a C library."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//aot/plan:c_name.bzl", "c_name", "plan_header")

def log_mel(name, rate, frame, hop, bands, low = 20, high = 0, coefficients = 0, **kwargs):
    """Makes a library with `const pl_log_mel_tables <name>` (firmware/features/log_mel.h).

    The header is `<name>.h` in this package. It has <NAME>_RATE, _FRAME, _HOP, _VALUES, _FRACTION and
    _SCRATCH. LogMel of firmware/features/log_mel.py computes the same bits for the same arguments.

    Args:
      name: name of the library and of the tables in C.
      rate: samples per second.
      frame: samples of a frame, at most 2,048.
      hop: samples between the starts of two frames.
      bands: bands of the mel scale, at most 64.
      low: lower frequency of the first band, in Hz.
      high: upper frequency of the last band, in Hz. 0: half the rate.
      coefficients: number of MFCC. 0: log-mel energies.
      **kwargs: tags, testonly, visibility.
    """
    if c_name(name) != name:
        fail("log_mel %s: C has no such name; name the target otherwise" % name)
    include = plan_header(native.package_name(), name)
    native.genrule(
        name = name + ".tables",
        outs = [name + ".c", name + ".h"],
        cmd = ("$(execpath %s) --name=%s --include=%s --parameters='%s' --source=$(execpath %s.c) " +
               "--header=$(execpath %s.h)") % (
            Label("//firmware/features:emit"),
            name,
            include,
            json.encode({
                "bands": bands,
                "coefficients": coefficients,
                "frame": frame,
                "high": high,
                "hop": hop,
                "low": low,
                "rate": rate,
            }),
            name,
            name,
        ),
        tools = [Label("//firmware/features:emit")],
        **kwargs
    )
    cc_library(
        name = name,
        srcs = [name + ".c"],
        hdrs = [name + ".h"],
        deps = [Label("//firmware/features:log_mel_c")],
        **kwargs
    )
