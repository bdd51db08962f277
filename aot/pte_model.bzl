# SPDX-License-Identifier: Apache-2.0
"""pte_model: lowers a PyTorch model to a .pte, a report and test vectors."""

load("@rules_python//python:defs.bzl", "py_binary")

def pte_model(
        name,
        model,
        calibration,
        deps,
        data = [],
        target = "cortex-m",
        quantization = "int8",
        float_io = False,
        io_layout = "keep",
        allow_float_fallback = False,
        test_inputs = None,
        **kwargs):
    """Lowers a PyTorch model.

    Makes `name.pte` (also what `name` gives) and `name.report.json`; with test_inputs also `name.vectors.npz`, the inputs and
    the bit-exact reference outputs. `bazel run name.lower -- --output …` is the same command line by hand.

    Args:
      name: of the target.
      model: "pkg.module:factory", a function that gives an nn.Module in eval mode.
      calibration: "pkg.module:function" that yields tuples of input tensors; the first is the example input.
      deps: py_library targets that hold those modules.
      data: files they read.
      target: what to lower for.
      quantization: "int8".
      float_io: keep float32 inputs and outputs.
      io_layout: "keep" or "nhwc".
      allow_float_fallback: run ops without an int8 form in float32 on the device.
      test_inputs: "pkg.module:function" that yields inputs for the vectors.
      **kwargs: visibility, testonly, tags.
    """
    py_binary(
        name = name + ".lower",
        srcs = ["//aot:lower_main.py"],
        main = "//aot:lower_main.py",
        data = data,
        deps = ["//aot:lowering"] + deps,
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
    ]
    if float_io:
        flags.append("--float_io")
    if allow_float_fallback:
        flags.append("--allow_float_fallback")
    outs = [name + ".pte", name + ".report.json"]
    if test_inputs:
        outs.append(name + ".vectors.npz")
        flags.append("--test_inputs=" + test_inputs)
        flags.append("--vectors=$(location {}.vectors.npz)".format(name))
    native.genrule(
        name = name + ".lowering",
        outs = outs,
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
