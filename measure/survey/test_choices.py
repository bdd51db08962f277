# SPDX-License-Identifier: Apache-2.0
"""Choices between nearly equal values count as right if equally good. Worse choices stay wrong."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from aot.accept.export import export_aten
from aot.quality.decibels import decibels, power
from measure.survey.choices import chooses, given_the_choices
from measure.survey.programs import SurveyProgram
from measure.survey.survey import SurveyRow, survey


class _Chosen(nn.Module):
    """Indices of the largest scores, and rows of a table by them."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        generator = torch.Generator().manual_seed(0)
        self.table = nn.Parameter(torch.randn(9, 4, generator=generator))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = torch.tanh(0.02 * x) + 4.0 * x.mean(1, keepdim=True)
        if self.kind == "argmax":
            chosen = scores.argmax(1)
        elif self.kind == "max":
            chosen = scores.max(1)[1]
        elif self.kind == "sort":
            chosen = scores.sort(1, descending=True)[1][:, 1]
        else:
            chosen = scores.topk(3, 1)[1][:, 0]
        return chosen, nn.functional.embedding(chosen, self.table)


def _samples() -> list[tuple[torch.Tensor]]:
    """Return samples with scores closer together than int8 steps over the scores of all samples."""
    generator = torch.Generator().manual_seed(1)
    return [(torch.rand(2, 9, generator=generator) * 2.0 - 1.0,) for _ in range(12)]


@pytest.mark.parametrize("kind", ["topk", "sort", "max", "argmax"])
def test_choices_of_nearly_equal_values_are_right(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = SurveyProgram(kind, lambda: _Chosen(kind).eval(), _samples)
    assert survey(program) == SurveyRow("int8", "")
    monkeypatch.setattr("measure.survey.survey.chooses", lambda module: False)
    assert survey(program).outcome == "wrong"


@pytest.mark.parametrize("kind", ["topk", "sort", "max", "argmax"])
def test_choices_that_are_worse_are_not(kind: str) -> None:
    """A graph with reversed scores stands for a wrongly quantized one."""
    x = torch.linspace(-0.9, 0.9, 9)[None]
    graph, other = (export_aten(_Chosen(kind).eval(), [x]) for _ in range(2))
    assert chooses(graph)
    (tanh,) = (n for n in other.graph.nodes if n.target is torch.ops.aten.tanh.default)
    with other.graph.inserting_before(tanh):
        turned = other.graph.call_function(torch.ops.aten.neg.default, tanh.args)
        tanh.args = (turned,)
    other.recompile()
    found = [
        decibels(power(expected), power(actual.double() - expected.double()))
        for expected, actual in given_the_choices(graph, other, [x])
    ]
    assert min(sqnr for sqnr in found if sqnr is not None) < 0.0


def test_what_only_computes_has_no_choices() -> None:
    assert not chooses(export_aten(nn.ReLU().eval(), [torch.ones(2)]))
