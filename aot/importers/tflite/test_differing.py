# SPDX-License-Identifier: Apache-2.0
"""Warnings list exactly the ops without TFLite Micro's bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from aot.importers.tflite.differing import DIFFERENCES, differing
from aot.importers.tflite.importing import import_tflite
from aot.importers.tflite.testing import cases
from aot.importers.tflite.testing.borders import wide_softmax
from aot.importers.tflite.testing.build import File
from aot.importers.tflite.testing.layers import narrow_bias

Make = Callable[[], File]


def _case(name: str) -> File:
    return cases.INT8[name](np.random.default_rng(0))


def _wide(name: str) -> Make:
    return lambda: cases.NEARLY[name][0](np.random.default_rng(0))


def _quantize() -> File:
    file = File()
    x, y = file.input((4, 8), None, np.float32), file.tensor((4, 8), np.int8, (0.043, 5))
    file.op("QUANTIZE", [x], [y], "QuantizeOptions")
    file.output(y)
    return file


def _svdf() -> File:
    file = _case("SVDF")
    state = file.at.tensors[file.at.operators[0].inputs[4]]
    state.quantization.zeroPoint = [7]
    return file


def _pads() -> File:
    file, q = File(), (0.1, 7)
    x, y = file.input((1, 3, 2), q), file.tensor((2, 3, 2), np.int8, q)
    inputs = [x, file.ints([2]), file.ints([[1, 2]])]
    file.op("SPACE_TO_BATCH_ND", inputs, [y], "SpaceToBatchNDOptions")
    file.output(y)
    return file


def _bias(name: str) -> Make:
    count = 4 if name == "TRANSPOSE_CONV" else 3

    def make() -> File:
        drawn = (cases.INT16[name](np.random.default_rng(seed)) for seed in range(20))
        file = next(f for f in drawn if len(f.at.operators[0].inputs) == count)
        narrow_bias(file)
        return file

    return make


NAMED: dict[str, list[Make]] = {
    "softmax of int8": [lambda: _case("SOFTMAX")],
    "softmax of int16": [_wide("SOFTMAX")],
    "softmax of int8 to int16": [wide_softmax],
    "pads of SPACE_TO_BATCH_ND": [_pads],
    "quantize of float32": [_quantize],
    "log_softmax": [lambda: _case("LOG_SOFTMAX")],
    "lstm": [lambda: _case("UNIDIRECTIONAL_SEQUENCE_LSTM")],
    "lines of int16": [_wide("LOGISTIC"), _wide("TANH")],
    "bias of int32": [_bias("CONV_2D"), _bias("FULLY_CONNECTED")],
    "bias of int32 as int64": [_bias("DEPTHWISE_CONV_2D"), _bias("TRANSPOSE_CONV")],
    "sub of int16": [lambda: cases.INT16["SUB"](np.random.default_rng(0))],
    "state of SVDF": [_svdf],
}


@pytest.mark.parametrize("kind", DIFFERENCES)
def test_ops_of_other_bits_are_named(kind: str) -> None:
    for make in NAMED[kind]:
        (finding,) = differing(import_tflite(make().bytes()))
        assert finding.kind == "not_tflite"
        assert finding.module.startswith("op 0 ")
        assert finding.text == f"not TFLite's bits, {kind}: {DIFFERENCES[kind]}"


_ALL = [*cases.INT8, *(f"{name} int16" for name in cases.INT16)]
_NAMED = {"SOFTMAX", "UNIDIRECTIONAL_SEQUENCE_LSTM", "SUB int16", "SVDF", "LOG_SOFTMAX"}


@pytest.mark.parametrize("name", [name for name in _ALL if name not in _NAMED])
def test_no_others_are_named(name: str) -> None:
    wide = name.endswith(" int16")
    make = cases.INT16[name.removesuffix(" int16")] if wide else cases.INT8[name]
    for seed in range(4):
        assert differing(import_tflite(make(np.random.default_rng(seed)).bytes())) == []
