# SPDX-License-Identifier: Apache-2.0
"""Ops without an int8 form, as errors or in float, and invalid options."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.errors import LoweringError
from aot.lower import Lowered
from aot.testing.fixtures import forget_rules, lower_with, model, samples

IMAGE = (1, 3, 8, 6)


def lowered(module: nn.Module, **options: Any) -> Lowered:
    data = samples(IMAGE)
    return lower_with(module, data[0], calibration=data, **options)


class Division(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / (x.abs().sum(-1, keepdim=True) + 1.0)


@pytest.fixture
def no_division(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_rules(monkeypatch, torch.ops.aten.sum.dim_IntList, torch.ops.aten.div.Tensor)


@pytest.mark.usefixtures("no_division")
def test_an_op_without_an_int8_form_is_an_error_with_its_place() -> None:
    with pytest.raises(LoweringError) as error:
        lowered(Division().eval())
    assert [p.op for p in error.value.problems] == ["aten.sum.dim_IntList", "aten.div.Tensor"]
    text = str(error.value)
    assert "2 ops of the model cannot be lowered to int8" in text
    assert "test_float_ops.py" in text and "in forward: return x / (x.abs()" in text
    assert "float32[1, 3, 8, 6]" in text
    assert "instead: --allow-float-fallback" in text


@pytest.mark.usefixtures("no_division")
def test_float_fallback_keeps_and_reports_it() -> None:
    result = lowered(Division().eval(), allow_float_fallback=True)
    floats = [op["op"] for op in result.report["ops"] if not op["op"].startswith("pl.")]
    assert result.report["float_ops"] == 2
    assert floats == ["aten.sum", "aten.div"]
    (x,) = samples(IMAGE, count=1)[0]
    out = result.dequantize_outputs(result.reference([x]))[0]
    assert float((out - Division()(x)).abs().max()) < 0.02


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (
            lambda x: torch.linalg.matrix_exp(x[..., :2, :2]),
            "neither an int8 form nor a float kernel",
        ),
        (lambda x: x[x > 0].sum(), "its shape depends on values"),
        (lambda x: x[:, :0].tanh(), "the slice is empty"),
        (lambda x: F.pad(x[..., :1], (-1, 2)).tanh(), "it crops every element away"),
        (lambda x: x.reshape(1, 3, 2, 2, 2, 2, 3).tanh(), "more than 6 dimensions"),
    ],
)
def test_what_no_kernel_runs_is_an_error(function: Any, text: str) -> None:
    with pytest.raises(LoweringError, match=text):
        lowered(model(function), allow_float_fallback=True)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"target": "cortex-a"},
            r"target 'cortex-a' does not exist \(the nearest is 'cortex-m'\)",
        ),
        ({"quantization": "int4"}, "quantization 'int4' does not exist"),
        ({"io_layout": "chwn"}, "io_layout must be one of auto, keep, nhwc"),
    ],
)
def test_unknown_options(options: dict[str, Any], text: str) -> None:
    with pytest.raises(LoweringError, match=text):
        lowered(nn.ReLU(), **options)
