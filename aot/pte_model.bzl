# SPDX-License-Identifier: Apache-2.0
"""pte_model: lowers a PyTorch model, a .tflite or an .onnx file to a .pte, a report and vectors."""

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
        onnx = None,
        onnx_settings = {},
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
        min_part_sqnr = None,
        min_sample_sqnr = None,
        min_sequence_sqnr = None,
        metric = None,
        min_metric = None,
        per_op = True,
        input_from = None,
        optimize = "",
        **kwargs):
    """Lowers a PyTorch model, a quantized .tflite file, or an .onnx file.

    Makes `name.pte`, `name.report.json`, and `name.vectors.npz` (inputs with the bit-exact reference
    outputs). `bazel run name.lower -- --model … --calibration … --output …` lowers with other
    arguments, and with the imports of the model.

    Args:
      name: name of the target.
      srcs: Python files of this package. The first has `factory` and `calibration`, unless `model`
        and `calibration` name them.
      model: "pkg.module:factory", a function that returns an nn.Module in eval mode.
      tflite: a .tflite file with int8 or int16 values, in place of a model (docs/tflite.md). Only
        `target`, `engines`, `verify_npu`, `neutron`, `optimize` and `test_inputs` go with it, and
        `srcs`, `deps` and `data` for these. Without `test_inputs` its vectors have random inputs.
      onnx: an .onnx file, in place of a model (docs/onnx.md): quantized, with `io_layout` and
        the arguments of a .tflite file; or float, with `calibration` and the other arguments of a model.
      onnx_settings: dict of `shapes`, `bind`, `outputs` and `states` of the .onnx file.
      calibration: "pkg.module:function" that yields tuples of input tensors. The first is the example
        input.
      deps: py_library targets of these modules.
      data: files for these modules.
      target: "cortex-m", or an NPU with the CPU for the rest: "ethos-u55-128" (docs/ethos_u.md),
        "imxrt700" (docs/neutron.md). Or your own Target: "npu.py:TARGET" of a Python file of this
        package, "pkg.module:TARGET" of a module in deps.
      engines: dict of targets by the engine of a board, such as "ethos-u55-128" (boards/board.bzl). A
        plan for a board with this engine takes the model for this target. Its files are
        `name.<configuration>.pte` and so on.
      verify_npu: handling of a wrong Ethos-U program: "cut" the region before it, "fail", or "off",
        without a check (docs/ethos_u.md). Other targets refuse it.
      neutron: use of NXP's converter for the targets "imxrt700" and "mcxn947": "required", or "auto",
        the CPU without it (docs/neutron.md). Other targets refuse it.
      quantization: "int8" (default), "int16" and others, or a dict by layer:
        {"default": "int8", "head": "float32"} (docs/accuracy.md).
      observer: ranges from calibration: "histogram" (default), "minmax", "moving_average", "mse",
        "percentile", or a dict by layer (docs/accuracy.md).
      equalize: equalize channels between layers.
      correct_bias: correct mean shifts in biases.
      train: "pkg.module:function", a training loop for quantization-aware training (docs/qat.md). It
        changes the parameters of the given module.
      float_io: keep float32 inputs and outputs.
      io_layout: "auto" (default): channels last ([N, H, W, C], [N, L, C]) if the device would have to
        transpose otherwise. "keep": the order of the PyTorch model. "nhwc": all images channels last.
        Report, plan.json and the plan's header have the layout.
      allow_float_fallback: run ops without an int8 form in float32 on the device.
      test_inputs: "pkg.module:function" that yields inputs of the vectors, or returns inputs [N, ...]
        and their classes, which makes the vectors a test set. The default is the start of the
        calibration data.
      evaluation: "pkg.module:function" that yields held-out inputs, or returns inputs [N, ...] and
        their classes. The default is `evaluation` of the model's module, else calibration data.
      min_sqnr: lower limit of each output's SQNR in dB, a number or "-inf". The default is 10.
      min_agreement: lower limit of the share of samples in [0, 1] with the class of the float model.
        The default is 0.9 of the clear samples.
      min_part_sqnr: lower limit of the SQNR in dB of each part of an output, such as a column.
      min_sample_sqnr: lower limit of the SQNR in dB of nine of ten samples.
      min_sequence_sqnr: lower limit of the SQNR in dB of each sequence.
      metric: "pkg.module:function", your own measure of the outputs and of the second item of
        `evaluation`; larger is better (docs/quality.md).
      min_metric: lower limit of the metric of the lowered model.
      per_op: measure the noise of each single value for the report.
      input_from: label of another pte_model. Its first output is this model's first input, with the
        same type, scale and zero point. `plan_library(input_from = …)` then saves the copy.
      optimize: "speed", "memory" or "size": default for plans whose plan_library and firmware_image
        do not set it.
      **kwargs: visibility, testonly, tags.
    """
    if srcs:
        module = module_name(native.package_name(), srcs[0])
        if not module:
            fail("pte_model %s: srcs are Python files of this package, not %s" % (name, srcs[0]))
        if not tflite and not onnx:
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
        "metric": metric,
        "min_agreement": min_agreement != None,
        "min_metric": min_metric != None,
        "min_part_sqnr": min_part_sqnr != None,
        "min_sample_sqnr": min_sample_sqnr != None,
        "min_sequence_sqnr": min_sequence_sqnr != None,
        "min_sqnr": min_sqnr != None,
        "model": model,
        "observer": observer,
        "per_op": not per_op,
        "quantization": quantization,
        "train": train,
    }
    refused = [
        attribute
        for attribute, given in of_models.items()
        if given and not (onnx and attribute == "io_layout")
    ]
    quantized_file = tflite or (onnx if not calibration else None)
    if quantized_file and refused:
        kind = "a .tflite file" if tflite else "an .onnx file without calibration"
        fail("pte_model %s: %s takes no %s; remove it" % (name, kind, ", ".join(refused)))
    if len([one for one in [model, tflite, onnx] if one]) > 1:
        fail("pte_model %s: give one of model, tflite and onnx" % name)
    if onnx_settings and not onnx:
        fail("pte_model %s: onnx_settings is for onnx; remove it" % name)
    if not quantized_file and not onnx and (not model or not calibration):
        fail("pte_model %s: give srcs, or model and calibration, or tflite, or onnx" % name)
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
        deps = [Label("//tools:imports"), Label("//aot:lower_files"), Label("//aot:lowering"), Label("//aot/advice:suggest"), Label("//aot/plan:pte"), Label("//tools/text:signal_handling"), Label("//tools/text:written")] + deps +
               ([Label("//aot:lower_tflite")] if quantized_file else []) +
               ([Label("//aot:lower_onnx")] if onnx else []),
        **kwargs
    )
    flags = []
    if onnx_settings:
        flags.append("--onnx_settings=" + json.encode(onnx_settings))
    if model:
        flags.append("--model=" + model)
    if not quantized_file:
        flags += [
            "--calibration=" + calibration,
            "--quantization=" + _by_layer(quantization or "int8"),
            "--observer=" + _by_layer(observer or "histogram"),
        ]
    if not tflite:
        flags.append("--io_layout=" + (io_layout or "auto"))
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
    for limit, least in {
        "min_metric": min_metric,
        "min_part_sqnr": min_part_sqnr,
        "min_sample_sqnr": min_sample_sqnr,
        "min_sequence_sqnr": min_sequence_sqnr,
    }.items():
        if least != None:
            flags.append("--%s=%s" % (limit, least))
    if metric:
        flags.append("--metric=" + metric)
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
            onnx = onnx,
            tflite = tflite,
            what = tflite or onnx or model,
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
    """Returns the extra flags a target takes."""
    if target.startswith(_ETHOS_U):
        return ["--verify_npu=" + verify_npu]
    return ["--neutron=" + neutron] if target.startswith(_NEUTRON) else []

def _by_layer(setting):
    return json.encode(setting) if type(setting) == "dict" else setting

def _target(name, target, deps, kwargs):
    """Returns the target as lowering takes it, and its needs besides deps."""
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
