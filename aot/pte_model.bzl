# SPDX-License-Identifier: Apache-2.0
"""pte_model: lowers a PyTorch model to a .pte, a report and test vectors."""

load("@rules_python//python:defs.bzl", "py_binary", "py_library")
load(":module_name.bzl", "module_name")

def pte_model(
        name,
        srcs = [],
        model = None,
        calibration = None,
        deps = [],
        data = [],
        target = "cortex-m",
        quantization = "int8",
        float_io = False,
        io_layout = "keep",
        allow_float_fallback = False,
        test_inputs = None,
        **kwargs):
    """Lowers a PyTorch model.

    Makes `name.pte` (also what `name` gives), `name.report.json`, and `name.vectors.npz`: inputs and
    the bit-exact reference outputs. `bazel run name.lower -- --output …` is the same command line by
    hand.

    Args:
      name: of the target.
      srcs: Python files of this package; the first defines `factory` and `calibration` unless `model`
        and `calibration` say where they are.
      model: "pkg.module:factory", a function that gives an nn.Module in eval mode.
      calibration: "pkg.module:function" that yields tuples of input tensors; the first is the example
        input.
      deps: py_library targets that those modules need.
      data: files they read.
      target: what to lower for: "cortex-m"; or a Target of your own, "npu.py:TARGET" of a Python file
        of this package, "pkg.module:TARGET" of a module in deps.
      quantization: "int8".
      float_io: keep float32 inputs and outputs.
      io_layout: "keep" or "nhwc".
      allow_float_fallback: run ops without an int8 form in float32 on the device.
      test_inputs: "pkg.module:function" that yields inputs for the vectors; without it they are the
        first of the calibration data.
      **kwargs: visibility, testonly, tags.
    """
    if srcs:
        module = module_name(native.package_name(), srcs[0])
        if not module:
            fail("pte_model %s: srcs are Python files of this package, not %s" % (name, srcs[0]))
        model = model or module + ":factory"
        calibration = calibration or module + ":calibration"
        py_library(
            name = name + ".module",
            srcs = srcs,
            deps = deps,
            **kwargs
        )
        deps = [":%s.module" % name]
    if not model or not calibration:
        fail("pte_model %s: give srcs, or model and calibration" % name)
    target_file, _, target_name = target.rpartition(":")
    if target_file.endswith(".py"):
        module = module_name(native.package_name(), target_file)
        if not module:
            fail("pte_model %s: %s is not in this package; for a file of another one, put its " % (name, target_file) +
                 "py_library into deps, and say target = \"pkg.module:%s\"" % target_name)
        py_library(
            name = name + ".target",
            srcs = [target_file],
            deps = deps,
            **kwargs
        )
        target = "%s:%s" % (module, target_name)
        deps = deps + [":%s.target" % name]
    py_binary(
        name = name + ".lower",
        srcs = [Label("//aot:lower_main.py")],
        main = Label("//aot:lower_main.py"),
        data = data,
        # A workspace's folder may have the name of one of Pilotlight's: both are one package.
        legacy_create_init = 0,
        deps = [Label("//aot:lowering")] + deps,
        **kwargs
    )
    flags = [
        "--model=" + model,
        "--calibration=" + calibration,
        "--target=" + target,
        "--quantization=" + quantization,
        "--io_layout=" + io_layout,
        "--output=$(location {}.pte)".format(name),
        "--report=$(location {}.report.json)".format(name),
        "--vectors=$(location {}.vectors.npz)".format(name),
    ]
    if float_io:
        flags.append("--float_io")
    if allow_float_fallback:
        flags.append("--allow_float_fallback")
    if test_inputs:
        flags.append("--test_inputs=" + test_inputs)
    native.genrule(
        name = name + ".lowering",
        outs = [name + suffix for suffix in [".pte", ".report.json", ".vectors.npz"]],
        cmd = "$(location :{}.lower) {}".format(name, " ".join(["'%s'" % f for f in flags])),
        message = "Lowering " + model,
        tools = [":" + name + ".lower"],
        **kwargs
    )
    native.filegroup(
        name = name,
        srcs = [name + ".pte"],
        **kwargs
    )
