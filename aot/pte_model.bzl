# SPDX-License-Identifier: Apache-2.0
"""pte_model: lowers a PyTorch model, or a .tflite file, to a .pte, a report and test vectors."""

load("@rules_python//python:defs.bzl", "py_binary", "py_library")
load("//aot/bazel:lowered.bzl", "lowered", "lowered_report")
load("//aot/bazel:lowering.bzl", "lowering")
load("//aot/bazel:module_name.bzl", "module_name")
load("//tools/python:package_names.bzl", "package_names")

# Targets with an NPU: how the names of Ethos-U's begin, and Neutron's.
_ETHOS_U = ("ethos-u",)
_NEUTRON = ("imxrt700", "mcxn947")

def pte_model(
        name,
        srcs = [],
        model = None,
        tflite = None,
        calibration = None,
        deps = [],
        data = [],
        target = "cortex-m",
        engines = {},
        verify_npu = "cut",
        neutron = "required",
        quantization = None,
        observer = None,
        equalize = False,
        correct_bias = False,
        train = None,
        float_io = False,
        io_layout = None,
        allow_float_fallback = False,
        test_inputs = None,
        evaluation = None,
        min_sqnr = None,
        min_agreement = None,
        per_op = True,
        input_from = None,
        optimize = "",
        **kwargs):
    """Lowers a PyTorch model, or a quantized .tflite file.

    Makes `name.pte` (also what `name` gives), `name.report.json`, and `name.vectors.npz`: inputs and
    the bit-exact reference outputs. `bazel run name.lower -- --model … --calibration … --output …` is
    the command line by hand, with what the model imports.

    Args:
      name: of the target.
      srcs: Python files of this package; the first defines `factory` and `calibration` unless `model`
        and `calibration` say where they are.
      model: "pkg.module:factory", a function that gives an nn.Module in eval mode.
      tflite: a .tflite file of int8 or int16 values, in place of a model and its calibration
        (docs/tflite.md). Only `target`, `engines`, `verify_npu`, `neutron`, `optimize` and
        `test_inputs` go with it, and `srcs`, `deps` and `data` for those. Without `test_inputs`
        its vectors are of random inputs.
      calibration: "pkg.module:function" that yields tuples of input tensors; the first is the example
        input.
      deps: py_library targets that those modules need.
      data: files they read.
      target: what to lower for: "cortex-m", or an NPU and the CPU for what that leaves, "ethos-u55-128"
        (docs/ethos_u.md), "imxrt700" (docs/neutron.md); or a Target of your own, "npu.py:TARGET" of a Python file
        of this package, "pkg.module:TARGET" of a module in deps.
      engines: dict of targets by the configuration of a board's engine, such as "ethos-u55-128"
        (boards/board.bzl): a plan for a board with that engine takes the model as it was lowered for
        that target. Those files are `name.<configuration>.pte` and so on.
      verify_npu: what becomes of a part of the model whose program for an Ethos-U does not compute what
        it should: "cut" it where that starts, "fail", or "off": nobody looks (docs/ethos_u.md). Other targets
        refuse it.
      neutron: where NXP's converter, which the targets "imxrt700" and "mcxn947" need, is not installed:
        it is "required", or "auto": everything runs on the CPU (docs/neutron.md). Other
        targets refuse it.
      quantization: "int8", "int16", …, or a dict by layer: {"default": "int8", "head": "float32"}
        (docs/accuracy.md). The default is "int8".
      observer: how calibration becomes ranges, "histogram", "minmax", "moving_average", "mse" or
        "percentile"; or a dict by layer. The default is "histogram".
      equalize: give the channels between two layers one magnitude first.
      correct_bias: put into the biases what quantization shifts the means of layers by.
      train: "pkg.module:function", a training loop for quantization-aware training: it changes the
        parameters of the module that it is given.
      float_io: keep float32 inputs and outputs.
      io_layout: "auto", the default: inputs and outputs have their channels last ([N, H, W, C], [N, L, C]) where the
        device would have to transpose them otherwise, which can take most of a model's memory; report,
        plan.json and the plan's header say which. "keep": as the PyTorch model has them; "nhwc": all
        images have their channels last.
      allow_float_fallback: run ops without an int8 form in float32 on the device.
      test_inputs: "pkg.module:function" that yields inputs for the vectors, or gives inputs [N, ...] and
        their classes, with which the vectors are a test set; without it they are the first of the
        calibration data.
      evaluation: "pkg.module:function" that yields held-out inputs, or gives inputs [N, ...] and their
        classes, to measure on; without it `evaluation` of the model's module, if that has one, else
        some of the calibration data.
      min_sqnr: signal to quantization noise in dB that each output has to reach, a number or "-inf";
        without it 10.
      min_agreement: share of samples in [0, 1] whose class has to be the float model's; without it 0.9,
        of those that the float model is sure of.
      per_op: measure what each value's quantization costs alone, for the report.
      input_from: label of another pte_model, whose first output is this model's first input as it is:
        that gets the same type, scale and zero point. `plan_library(input_from = …)` then has it read
        where it lies.
      optimize: "speed", "memory" or "size": what its plans are made for where neither they (plan_library)
        nor their image (firmware_image) say it.
      **kwargs: visibility, testonly, tags.
    """
    if srcs:
        module = module_name(native.package_name(), srcs[0])
        if not module:
            fail("pte_model %s: srcs are Python files of this package, not %s" % (name, srcs[0]))
        if not tflite:
            model = model or module + ":factory"
            calibration = calibration or module + ":calibration"
        py_library(
            name = name + ".module",
            srcs = srcs,
            deps = deps,
            **kwargs
        )
        deps = [":%s.module" % name]
    of_models = {
        "allow_float_fallback": allow_float_fallback,
        "calibration": calibration,
        "correct_bias": correct_bias,
        "equalize": equalize,
        "evaluation": evaluation,
        "float_io": float_io,
        "input_from": input_from,
        "io_layout": io_layout,
        "min_agreement": min_agreement != None,
        "min_sqnr": min_sqnr != None,
        "model": model,
        "observer": observer,
        "per_op": not per_op,
        "quantization": quantization,
        "train": train,
    }
    refused = [attribute for attribute, given in of_models.items() if given]
    if tflite and refused:
        fail("pte_model %s: a .tflite file takes no %s; remove it" % (name, ", ".join(refused)))
    if not tflite and (not model or not calibration):
        fail("pte_model %s: give srcs, or model and calibration, or tflite" % name)
    for attribute, is_default, npus in [
        ("verify_npu", verify_npu == "cut", _ETHOS_U),
        ("neutron", neutron == "required", _NEUTRON),
    ]:
        if not is_default and not [t for t in [target] + engines.values() if t.startswith(npus)]:
            fail("pte_model %s: %s is for the targets %s; remove it" % (name, attribute, npus))
    targets = {name: target} | {
        "%s.%s" % (name, configuration): target
        for configuration, target in engines.items()
    }
    for lowered_name, target in targets.items():
        targets[lowered_name], target_deps = _target(lowered_name, target, deps, kwargs)
        deps = deps + [dep for dep in target_deps if dep not in deps]
    package_names(
        name = name + ".packages",
        deps = deps,
        **kwargs
    )
    py_binary(
        name = name + ".lower",
        srcs = [Label("//aot:lower_main.py")],
        main = Label("//aot:lower_main.py"),
        data = data + [":%s.packages" % name],
        # A workspace's folder may have the name of one of Pilotlight's: both are one package.
        legacy_create_init = 0,
        deps = [Label("//tools:imports"), Label("//aot:lowering"), Label("//aot/advice:suggest"), Label("//aot/plan:pte"), Label("//tools/text:stoppable"), Label("//tools/text:written")] + deps +
               ([Label("//aot:lower_tflite")] if tflite else []),
        **kwargs
    )
    flags = []
    if not tflite:
        flags += [
            "--model=" + model,
            "--calibration=" + calibration,
            "--quantization=" + _by_layer(quantization or "int8"),
            "--observer=" + _by_layer(observer or "histogram"),
            "--io_layout=" + (io_layout or "auto"),
        ]
    if float_io:
        flags.append("--float_io")
    if allow_float_fallback:
        flags.append("--allow_float_fallback")
    if equalize:
        flags.append("--equalize")
    if correct_bias:
        flags.append("--correct_bias")
    if train:
        flags.append("--train=" + train)
    if test_inputs:
        flags.append("--test_inputs=" + test_inputs)
    if evaluation:
        flags.append("--evaluation=" + evaluation)
    if min_sqnr != None:
        flags.append("--min_sqnr=%s" % min_sqnr)
    if min_agreement != None:
        flags.append("--min_agreement=%s" % min_agreement)
    if not per_op:
        flags.append("--noper_op")
    for lowered_name, target in targets.items():
        input_report = None
        if input_from:
            input_report = ":%s.input_from" % lowered_name
            lowered_report(
                name = lowered_name + ".input_from",
                configuration = lowered_name[len(name) + 1:],
                model = native.package_relative_label(input_from),
                **kwargs
            )
        outputs = {
            "output": lowered_name + ".pte",
            "program": lowered_name + ".program",
            "report": lowered_name + ".report.json",
            "vectors": lowered_name + ".vectors.npz",
        }
        lowering(
            name = lowered_name + ".lowering",
            arguments = flags + ["--target=" + target] + _npu_flags(target, verify_npu, neutron),
            input_from = input_report,
            lower = ":%s.lower" % name,
            tflite = tflite,
            what = tflite or model,
            **(outputs | kwargs)
        )
    lowered(
        name = name,
        by_engine = {
            ":%s.%s.lowering" % (name, configuration): configuration
            for configuration in engines
        },
        default = ":%s.lowering" % name,
        optimize = optimize,
        **kwargs
    )

def _npu_flags(target, verify_npu, neutron):
    """Returns the flags that a target takes beside the others."""
    if target.startswith(_ETHOS_U):
        return ["--verify_npu=" + verify_npu]
    return ["--neutron=" + neutron] if target.startswith(_NEUTRON) else []

def _by_layer(setting):
    return json.encode(setting) if type(setting) == "dict" else setting

def _target(name, target, deps, kwargs):
    """Returns the target as lowering takes it, and what it needs beside deps."""
    if target == "tflite":
        fail("pte_model %s: a .tflite file is written by //aot:lower -- --target tflite" % name)
    if target.startswith(_ETHOS_U):
        return target, [Label("//aot/backends/ethos_u")]
    if target in _NEUTRON:
        return target, [Label("//aot/backends/neutron")]
    target_file, _, target_name = target.rpartition(":")
    if not target_file.endswith(".py"):
        return target, []
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
    return "%s:%s" % (module, target_name), [":%s.target" % name]
