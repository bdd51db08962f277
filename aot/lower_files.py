# SPDX-License-Identifier: Apache-2.0
"""Lowers model files for the command line: quantized .tflite and .onnx, float .onnx."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from aot.accept.references import function
from aot.artefact.artefact import Artefact
from aot.dialect.io_layout import IoLayout
from aot.errors import LoweringError

_SETTINGS = ("shapes", "bind", "outputs", "states")
_VECTORS = 8


class WrongFlags(LoweringError):
    """Flags contradict each other, or one names an unreadable file."""


def lower_file(
    path: Path, onnx_settings: Mapping[str, Any] | None, test_inputs: str | None, **target: Any
) -> tuple[Artefact, list[tuple[torch.Tensor, ...]]]:
    """Lower a quantized file. Return the result, and inputs for test vectors.

    Args:
      path: of the file.
      onnx_settings: of an .onnx file (onnx_arguments); None for a .tflite file.
      test_inputs: generator of inputs; None for random ones.
      **target: of lower_tflite and lower_onnx.
    """
    # Import on demand: only this path needs TFLite's schema, or ONNX.
    from aot.lower_tflite import lower_tflite, random_inputs

    if onnx_settings is None:
        lowered = lower_tflite(_bytes(path, "tflite"), **target)
    else:
        from aot.lower_onnx import lower_onnx

        _bytes(path, "onnx")
        lowered = lower_onnx(path, **target, **onnx_settings)
    if not test_inputs:
        back = IoLayout(outputs=lowered.moved.inputs)
        return lowered, [tuple(back.given(x)) for x in random_inputs(lowered, _VECTORS)]
    given = function(test_inputs)()
    samples = [(x,) if isinstance(x, torch.Tensor) else tuple(x) for x in given]
    try:
        for sample in samples:
            lowered.quantize_inputs(lowered.moved.taken(sample))
    except (ValueError, AttributeError) as error:
        raise LoweringError(f"{test_inputs}: {error}") from error
    return lowered, samples


def float_module(path: Path, settings: str) -> torch.nn.Module:
    """Return the module of a float .onnx file; `settings` is JSON."""
    from aot.importers.onnx.module import onnx_module

    _bytes(path, "onnx")
    return onnx_module(path, **onnx_arguments(settings))


def _bytes(path: Path, flag: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WrongFlags(f"--{flag}={path}: {error.strerror}") from error


def onnx_arguments(text: str, **others: str) -> dict[str, Any]:
    """Return settings from JSON and other flags as arguments of `onnx_module` or `lower_onnx`."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise WrongFlags(f"--onnx_settings={text} must be valid JSON: {error}") from error
    if not isinstance(found, dict) or not {*found} <= {*_SETTINGS}:
        raise WrongFlags(f"--onnx_settings={text}: its keys are {', '.join(_SETTINGS)}")
    return found | others
