# SPDX-License-Identifier: Apache-2.0
"""Every operator against onnxruntime."""

from __future__ import annotations

import pytest

from aot.importers.onnx import importing  # noqa: F401 (fills the registry)
from aot.importers.onnx.registry import FUNCTIONS, LAYERS
from aot.importers.onnx.testing.cases import CASES
from aot.importers.onnx.testing.graphs import GraphCase
from aot.importers.onnx.testing.oracle import least_sqnr

_LEAST = 110.0


# Used by other tests: they take constants only, or are no float operators.
_ELSEWHERE = {
    *("NonZero", "Range", "Shape", "Size"),
    *("QuantizeLinear", "DequantizeLinear"),
}


def test_every_operator_has_a_case() -> None:
    assert {*FUNCTIONS, *LAYERS} - {case.operator for case in CASES} == _ELSEWHERE


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.operator)
def test_equals_onnxruntime(case: GraphCase) -> None:
    assert least_sqnr(case.bytes(), case.feeds) >= _LEAST
