# SPDX-License-Identifier: Apache-2.0
"""The command line of lowering: a PyTorch model, a .tflite or an .onnx file becomes a .pte.

    bazel run //aot:lower -- --model=pkg.module:factory --calibration=pkg.module:data --output=x.pte
    bazel run //aot:lower -- --model=net.py:Net --calibration=net.py:data --output=x.pte \\
        --quantization='{"default": "int8", "head": "int16"}' --report=x.report.json --suggest
    bazel run //aot:lower -- --tflite=x.tflite --output=x.pte
    bazel run //aot:lower -- --onnx=quantized.onnx --output=x.pte
    bazel run //aot:lower -- --onnx=float.onnx --calibration=pkg.module:data --output=x.pte
"""

from __future__ import annotations

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import itertools
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

with imports_that_stay():
    import numpy as np
    import torch
    from absl import app, flags

    from aot import measure_flags
    from aot.accept.calibration import check_sample, samples_of
    from aot.accept.inputs import Inputs, first_sample
    from aot.accept.internal_error import InternalError
    from aot.accept.references import function
    from aot.advice.suggest import suggest
    from aot.artefact.files import save_artefact, save_vectors
    from aot.artefact.vectors import make_vectors
    from aot.backends.npus import CUT, PRESENCES, REQUIRED, VERIFICATIONS
    from aot.errors import LoweringError
    from aot.lower import Lowered, lower
    from aot.lower_files import WrongFlags, float_module, lower_file, onnx_arguments
    from aot.options import Io, Quantize
    from aot.passes.rewrite.io_layouts import AUTO, LAYOUTS
    from aot.quality.evaluation import labelled
    from aot.quantizer.by_layer import DEFAULT

_MODEL = flags.DEFINE_string(
    "model",
    None,
    "factory of the model, pkg.module:factory: returns an nn.Module in eval mode or an exported "
    "program",
)
_TFLITE = flags.DEFINE_string(
    "tflite", None, "a quantized .tflite file (instead of --model and --calibration)"
)
_ONNX = flags.DEFINE_string(
    "onnx", None, "an .onnx file (instead of --model): quantized, or float with --calibration"
)
_ONNX_SETTINGS = flags.DEFINE_string(
    "onnx_settings",
    "{}",
    'settings of an .onnx file as JSON: {"shapes": {"height": 96}, "bind": {}, "outputs": [], '
    '"states": {}} (docs/onnx.md)',
)
_CALIBRATION = flags.DEFINE_string(
    "calibration",
    None,
    "calibration data, pkg.module:function: yields tuples of input tensors; the first is the "
    "example input",
)
flags.DEFINE_string(
    "target",
    "cortex-m",
    "target: cortex-m; an NPU with the CPU, such as ethos-u55-128; tflite, for other tools; or "
    "your own Target, pkg.module:name or path/to/file.py:name",
)
flags.DEFINE_enum(
    "verify_npu",
    CUT,
    VERIFICATIONS,
    "if an Ethos-U program computes wrong results for a part of the model: cut that part at the "
    "first wrong op, fail, or off (no verification)",
)
flags.DEFINE_enum(
    "neutron",
    REQUIRED,
    PRESENCES,
    "if the target needs NXP's converter and it is not installed: required (fail), or auto (run "
    "everything on the CPU)",
)
_QUANTIZATION = flags.DEFINE_string(
    "quantization", "int8", 'quantization: one value for all, or JSON by layer, {"head": "float32"}'
)
_OBSERVER = flags.DEFINE_string(
    "observer",
    "histogram",
    "observer that turns calibration values into ranges: one value for all, or JSON by layer",
)
_EQUALIZE = flags.DEFINE_bool(
    "equalize", False, "equalize channels across layers before quantization"
)
_CORRECT_BIAS = flags.DEFINE_bool(
    "correct_bias", False, "correct biases by the shift of layers' means from quantization"
)
_TRAIN = flags.DEFINE_string(
    "train", None, "training loop for quantization-aware training, pkg.module:function"
)
_FLOAT_IO = flags.DEFINE_bool("float_io", False, "keep float32 model inputs and outputs")
_IO_LAYOUT = flags.DEFINE_enum(
    "io_layout", AUTO, LAYOUTS, "layout of the model's inputs and outputs"
)
_ALLOW_FLOAT_FALLBACK = flags.DEFINE_bool(
    "allow_float_fallback", False, "run ops without an int8 form in float32 on the device"
)
flags.DEFINE_alias("allow-float-fallback", "allow_float_fallback")
_SUGGEST = flags.DEFINE_bool(
    "suggest",
    False,
    "print the changes of single layers' quantization that gain most, measured by lowering again",
)
_INPUT_FROM = flags.DEFINE_string(
    "input_from",
    None,
    "report (JSON) of the model before, whose first output is this model's first input: that "
    "input gets the same type, scale and zero point",
)
_OUTPUT = flags.DEFINE_string(
    "output", None, "output file: the .pte, or the .tflite file with --target=tflite", required=True
)
_REPORT = flags.DEFINE_string("report", None, "output file for the report (JSON)")
_PROGRAM = flags.DEFINE_string(
    "program", None, "output file for the .pte in the form that plans read"
)
_TEST_INPUTS = flags.DEFINE_string(
    "test_inputs",
    None,
    "inputs for --vectors, pkg.module:function: yields inputs, or returns inputs [N, ...] and "
    "their classes [N]; by default calibration data",
)
_VECTORS = flags.DEFINE_string(
    "vectors",
    None,
    "output file for inputs and bit-exact reference outputs (.npz: input_<i>, output_<i>, "
    "[count, ...] in memory order, and labels [count] if the test inputs have classes)",
)

_DEFAULT_VECTORS = 8

flags.adopt_module_key_flags(measure_flags)

# Message for a quantized file: the file contains everything else.
_OF_TARGET = ("target", "verify_npu", "neutron")
_OF_FILES = (*_OF_TARGET, "output", "report", "program", "test_inputs", "vectors")


def _path(name: str) -> Path:
    """Return the path of a file, relative to the folder of the `bazel run` call."""
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / name


def _place(flag: flags.FlagHolder[str | None]) -> Path | None:
    """Return the path of an output file, or None without the flag.

    Raises:
      WrongFlags: there is no such folder.
    """
    if flag.value is None:
        return None
    path = _path(flag.value)
    if not path.parent.is_dir() or path.is_dir():
        what = "is a folder" if path.is_dir() else f"the folder {path.parent} does not exist"
        raise WrongFlags(f"--{flag.name}={flag.value}: {what}")
    return path


def _sequences(
    data: Iterable[Any], name: str, inputs: Inputs
) -> list[list[tuple[torch.Tensor, ...]]]:
    """Return samples by sequence, copied: a function may yield the same tensor again with new data.

    Raises:
      LoweringError: there are none, or something else than samples.
    """
    found: list[list[tuple[torch.Tensor, ...]]] = []
    for starts, sample in samples_of(inputs.samples(data, name), name):
        found += [[]] if starts else []
        found[-1].append(tuple(x.clone() for x in sample))
    if not found:
        raise LoweringError(f"{name} yields no samples; give at least one sample.")
    return found


def _input_from() -> Any:
    """Return the report of the preceding model; None without the flag."""
    if _INPUT_FROM.value is None:
        return None
    try:
        return json.loads(_path(_INPUT_FROM.value).read_text())
    except (OSError, ValueError) as error:
        raise WrongFlags(f"--input_from={_INPUT_FROM.value} cannot be read: {error}") from error


def _by_layer(flag: flags.FlagHolder[str]) -> str | dict[str, str]:
    """Return a setting for `lower`. JSON sets it by layer.

    Raises:
      WrongFlags: it looks like JSON, and is none of texts by text.
    """
    text = flag.value
    if not text.startswith("{"):
        return text
    try:
        values = json.loads(text)
    except ValueError as error:
        raise WrongFlags(f"--{flag.name}={text} must be valid JSON: {error}") from error
    if not all(isinstance(value, str) for value in values.values()):
        raise WrongFlags(f"--{flag.name}={text}: all values must be strings.")
    return cast(dict[str, str], values)


def _is_quantized_file() -> bool:
    """Return True if the model is a quantized file, which needs no calibration.

    Raises:
      WrongFlags: the flags name no model, or several, or something without a use.
    """
    given = [flag.name for flag in (_MODEL, _TFLITE, _ONNX) if flag.value is not None]
    if len(given) > 1:
        raise WrongFlags(f"--{' and --'.join(given)}: give one of them.")
    own = flags.FLAGS.get_key_flags_for_module(sys.modules[__name__])
    present = [flag.name for flag in own if flag.present]
    if _TFLITE.value is None and (_ONNX.value is None or _CALIBRATION.value is not None):
        missing = [] if given else ["--model"]
        missing += [] if _CALIBRATION.value else ["--calibration"]
        if missing:
            text = "Give both --model and --calibration, or --tflite instead, or --onnx."
            raise WrongFlags(f"missing {' and '.join(missing)}. {text}")
        if _ONNX.value is None and "onnx_settings" in present:
            raise WrongFlags("--onnx_settings needs --onnx.")
        return False
    names = [*given, *(["onnx_settings", "io_layout"] if _ONNX.value else []), *_OF_FILES]
    if others := [f"--{name}" for name in present if name not in names]:
        kind = "a .tflite file" if _TFLITE.value else "an .onnx file without --calibration"
        raise WrongFlags(
            f"{', '.join(others)}: not allowed with {kind}. It takes only --{', --'.join(names)}."
        )
    return True


def run() -> None:
    is_quantized = _is_quantized_file()
    target: dict[str, Any] = {name: flags.FLAGS[name].value for name in _OF_TARGET}
    output, report, vectors, program = map(_place, (_OUTPUT, _REPORT, _VECTORS, _PROGRAM))
    assert output is not None  # the flag is required
    places = [path for path in (output, report, vectors, program) if path is not None]
    if len({path.resolve() for path in places}) < len(places):
        raise WrongFlags("--output, --report, --vectors and --program must name different files.")
    if _TEST_INPUTS.value and vectors is None:
        raise WrongFlags("--test_inputs needs --vectors: the file to write them to.")
    if is_quantized:
        artefact, samples = lower_file(
            _path(str(_TFLITE.value or _ONNX.value)),
            onnx_arguments(_ONNX_SETTINGS.value, io_layout=_IO_LAYOUT.value)
            if _ONNX.value
            else None,
            _TEST_INPUTS.value,
            **target,
        )
        save_artefact(artefact, output, report, program)
        if vectors is not None:
            save_vectors(vectors, make_vectors(artefact, samples))
        return
    torch.set_num_threads(1)  # sums in a fixed order: the same input gives the same bytes
    assert _CALIBRATION.value is not None  # checked
    if _ONNX.value is not None:
        model = float_module(_path(_ONNX.value), str(_ONNX_SETTINGS.value))
    else:
        model = function(str(_MODEL.value))()
    if not isinstance(model, torch.nn.Module | torch.export.ExportedProgram):
        raise LoweringError(
            f"{_MODEL.value} must return a torch.nn.Module or an exported program; it returns a "
            f"{type(model).__name__}."
        )
    name = _CALIBRATION.value
    first, data = first_sample(function(name)(), name)
    inputs = Inputs(model, first, f"{name} sample 0")
    sequences = tests = _sequences(data, name, inputs)
    example, classes = sequences[0][0], None
    if _TEST_INPUTS.value:
        given = function(_TEST_INPUTS.value)()
        pair = labelled(given, example)
        given, classes = (given, None) if pair is None else pair
        tests = _sequences(given, _TEST_INPUTS.value, inputs)
        for index, sample in enumerate(itertools.chain(*tests)):
            check_sample(f"{_TEST_INPUTS.value} sample {index}", sample, example)
    quantize = Quantize(
        quantization=_by_layer(_QUANTIZATION),
        observer=_by_layer(_OBSERVER),
        equalize=_EQUALIZE.value,
        correct_bias=_CORRECT_BIAS.value,
        train=None if _TRAIN.value is None else function(_TRAIN.value, given=1),
        allow_float_fallback=_ALLOW_FLOAT_FALLBACK.value,
    )
    lower_with = partial(
        lower,
        model,
        first,
        **target,
        calibration=sequences,
        io=Io(float_io=_FLOAT_IO.value, io_layout=_IO_LAYOUT.value, input_from=_input_from()),
    )
    evaluation = partial(measure_flags.evaluation, str(_MODEL.value or _CALIBRATION.value))
    limits = measure_flags.limits(evaluation())
    lowered = lower_with(quantize=quantize, measure=limits)
    if _SUGGEST.value:
        asked = quantize.quantization
        by_layer = {DEFAULT: asked} if isinstance(asked, str) else asked

        def again(setting: Mapping[str, str], changes: Mapping[str, Any] | None = None) -> Lowered:
            quantization = {**by_layer, **setting}
            return lower_with(
                quantize=replace(quantize, quantization=quantization, **(changes or {})),
                measure=replace(measure_flags.without_limits(evaluation()), per_op=False),
            )

        ways: dict[str, Any] = {}
        if not _TRAIN.value:  # training has changed the model
            ways["again"] = ways["changed"] = again
            if not _EQUALIZE.value:
                ways["equalized"] = partial(again, {}, {"equalize": True})
        found = [str(s) for s in suggest(lowered, **ways)]
        for suggestion in found or [
            "none of the tried changes of one layer or value improves the result"
        ]:
            print(f"better: {suggestion}")
    save_artefact(lowered, output, report, program)
    if vectors is not None:
        has_state = bool(lowered.report["states"])
        if has_state and _TEST_INPUTS.value and len(tests) > 1:
            raise LoweringError(
                f"{_TEST_INPUTS.value} yields {len(tests)} sequences. Vectors of a model with "
                "state must be one sequence."
            )
        chosen = tests[0] if has_state else list(itertools.chain(*tests))
        count = None if _TEST_INPUTS.value else _DEFAULT_VECTORS
        arrays = make_vectors(lowered, chosen[:count])
        if classes is not None:
            arrays["labels"] = classes.numpy().astype(np.uint16)
        save_vectors(vectors, arrays)


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected argument {argv[1]!r}")
    try:
        run()
    except (LoweringError, InternalError) as error:
        print(f"ERROR: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, WrongFlags) else 1)


if __name__ == "__main__":
    run_main(main)
