# SPDX-License-Identifier: Apache-2.0
"""Attention in the form of torch's decompositions, from a decomposed program."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from aot.accept.export import export_aten
from aot.lower import lower
from aot.options import Measure
from aot.testing.fixtures import model, op_counts, samples

ROWS, COLUMNS = 4, 6
CAUSAL = torch.ones(ROWS, COLUMNS, dtype=torch.bool).tril()
NO_ROW_1 = CAUSAL.index_fill(0, torch.tensor(1), False)
QUESTIONS = {"aten.eq", "aten.any", "aten.logical_not", "aten.where"}
"""Torch's ops that look for fully masked rows."""


def numbers(mask: Tensor, number: float = -math.inf) -> Tensor:
    return torch.zeros(mask.shape).masked_fill(~mask, number)


# name: mask, resulting softmax
CONSTANTS: dict[str, tuple[Tensor | None, str]] = {
    "none": (None, "aten.softmax"),
    "a bias": (torch.linspace(-1.0, 1.0, ROWS * COLUMNS).reshape(ROWS, COLUMNS), "aten.softmax"),
    "causal": (CAUSAL, "pl_float.masked_softmax"),
    "causal numbers": (numbers(CAUSAL), "pl_float.masked_softmax"),
    "a row without keys": (NO_ROW_1, "pl_float.masked_softmax"),
    "a row of minus infinity": (numbers(NO_ROW_1), "pl_float.masked_softmax"),
    # Finite: the row is as if it had no mask.
    "a row of large numbers": (numbers(NO_ROW_1, -128.0), "pl_float.masked_softmax"),
}


def inputs() -> tuple[Tensor, ...]:
    return samples((1, 2, ROWS, 8), (1, 2, COLUMNS, 8), (1, 2, COLUMNS, 5))[0]


@pytest.mark.parametrize("name", CONSTANTS)
def test_no_question_is_left(name: str) -> None:
    mask, softmax = CONSTANTS[name]

    def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    program = torch.export.export(model(attention), inputs()).run_decompositions()
    graph = export_aten(program, inputs())
    counts = op_counts(graph)
    assert counts[softmax] == 1
    assert not QUESTIONS & set(counts)
    # Next to -128, float32 scores have 2^-17 of a step.
    torch.testing.assert_close(graph(*inputs())[0], attention(*inputs()), rtol=0.0, atol=1e-4)


def test_a_mask_that_is_given() -> None:
    """The mask may also mask a whole row; the row then gives 0."""

    def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    masks = [CAUSAL, NO_ROW_1, CAUSAL.flip(0)]
    shapes = ((1, 2, ROWS, 8), (1, 2, COLUMNS, 8), (1, 2, COLUMNS, 5))
    data = [(*s, masks[i % 3]) for i, s in enumerate(samples(*shapes, count=32))]
    program = torch.export.export(model(attention), data[0]).run_decompositions()
    lowered = lower(program, data[0], calibration=data, measure=Measure(per_op=False))
    assert op_counts(lowered.module)["pl.masked_softmax"] == 1
    assert not {"pl.amax", "pl.where"} & set(op_counts(lowered.module))
    (result,) = lowered.dequantize_outputs(lowered.reference(data[1]))
    assert not bool(result[:, :, 1].any()) and bool(result[:, :, 0].any())


def test_the_question_stays_where_it_matters() -> None:
    """A constant makes scores infinite, and their softmax is over another dimension."""

    def function(x: Tensor) -> Tensor:
        y = x + numbers(NO_ROW_1.mT)
        return torch.where((y == -math.inf).all(1, keepdim=True), 0.0, y.softmax(1))

    example = samples((1, COLUMNS, ROWS))[0]
    graph = export_aten(model(function), example)
    assert QUESTIONS & set(op_counts(graph))
    torch.testing.assert_close(graph(*example), function(*example))
