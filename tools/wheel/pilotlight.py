# SPDX-License-Identifier: Apache-2.0
"""Pilotlight: from a PyTorch model to firmware for a Cortex-M microcontroller.

    from pilotlight import Measure, lower

    measure = Measure(evaluation=held_out)
    lowered = lower(module, example_inputs, calibration=samples, measure=measure)

This file is the `__init__` of the wheel (make.py). Its names are imported when they are first used,
since torch takes seconds.
"""

from importlib import import_module
from typing import Any

_NAMES = {
    "Io": "aot.options",
    "Lowered": "aot.lower",
    "LoweringError": "aot.errors",
    "Measure": "aot.options",
    "Quantize": "aot.options",
    "Target": "aot.backends.target",
    "lower": "aot.lower",
    "lower_onnx": "aot.lower_onnx",
    "lower_tflite": "aot.lower_tflite",
    "onnx_module": "aot.importers.onnx.module",
}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
