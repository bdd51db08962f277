# SPDX-License-Identifier: Apache-2.0
"""Conversion of each dialect op to TOSA: one file per op, by the op's name."""

from __future__ import annotations

from aot.backends.ethos_u.emitters.emitter import Emitter
from tools.python.submodules import submodules

EMITTERS: dict[str, Emitter] = {
    module.__name__.rpartition(".")[2]: module.EMITTER
    for module in submodules(__name__)
    if hasattr(module, "EMITTER")
}

_FLOAT = "it is between int8 and float, which the NPU does not have"
_INTEGERS = "it computes indices, in integers that are no activations"
_STEPS = "its steps follow one another, each with the state that the one before leaves"
_CHOSEN = "its places are chosen by data"

WHY_NOT: dict[str, str] = {
    "channels_last_to_nhwc": "its input lies in memory in another order than its dimensions",
    "dequantize": _FLOAT,
    "embedding": "its rows are chosen by data",
    "gru": _STEPS,
    "integer_add": _INTEGERS,
    "integer_and": _INTEGERS,
    "integer_divide": _INTEGERS,
    "integer_equal": _INTEGERS,
    "integer_less": _INTEGERS,
    "integer_lut": _INTEGERS,
    "integer_maximum": _INTEGERS,
    "integer_minimum": _INTEGERS,
    "integer_modulo": _INTEGERS,
    "integer_mul": _INTEGERS,
    "integer_place": _INTEGERS,
    "integer_quantize": _INTEGERS,
    "integer_sub": _INTEGERS,
    "integer_sum": _INTEGERS,
    "integer_to_float": _INTEGERS,
    "lstm": _STEPS,
    "max_with_indices": "the NPU does not say where a maximum is",
    "nhwc_to_channels_last": "its result lies in memory in another order than its dimensions",
    "quantize": _FLOAT,
    "rnn": _STEPS,
    "scatter": _CHOSEN,
    "scatter_sum": _CHOSEN,
    "scatter_sum_float": _CHOSEN,
    "svdf": "it weighs a state of int16 with weights of int16, in sums of 32 bits that wrap around",
    "topk": "the NPU does not sort",
}
"""Why an op stays on the core, where that is more than that no emitter is for it."""
