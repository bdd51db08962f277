# SPDX-License-Identifier: Apache-2.0
"""log_mel: the tables of features of sound, as a C library."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//aot/plan:c_name.bzl", "c_name", "plan_header")

def log_mel(name, rate, frame, hop, bands, low = 20, high = 0, coefficients = 0, **kwargs):
    """Makes a library that defines `const pl_log_mel_tables <name>` (firmware/features/log_mel.h).

    For #include there is `<name>.h` in this package, with <NAME>_RATE, _FRAME, _HOP, _VALUES,
    _FRACTION and _SCRATCH. In Python LogMel of firmware/features/log_mel.py, with the same parameters, computes the same.

    Args:
      name: of the library and in C.
      rate: samples a second.
      frame: samples of a frame, 2,048 at most.
      hop: samples from the start of a frame to the start of the next.
      bands: of the mel scale, 64 at most.
      low: where the first band begins, in Hz.
      high: where the last band ends; half the rate if 0.
      coefficients: of MFCC; 0 for log-mel energies.
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
