# SPDX-License-Identifier: Apache-2.0
"""The survey's results are those of its programs: all names, and a few rows, lowered anew;
`tools/bazel run //measure/survey` lowers all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from aot.lower import Lowered
from aot.testing.fixtures import lower_with
from measure.survey.programs import SurveyProgram
from measure.survey.survey import OUTCOMES, SurveyRow, survey
from measure.survey.survey_main import TABLES, page, results_json, results_of

_FOLDER = Path(__file__).parent
_STORED = results_of((_FOLDER / "results.json").read_text())
_PROGRAMS = {title: [*programs()] for title, programs in TABLES.items()}
_SHOWN = ("nn.PReLU()", "x[x > 0]", "add: tensor_scalar", "clamp: clamp_min/0")
_ROWS = {name: row for rows in _STORED.values() for name, row in rows.items() if name in _SHOWN}


def test_every_program_has_its_row() -> None:
    names = {title: [program.name for program in programs] for title, programs in _PROGRAMS.items()}
    assert {title: [*rows] for title, rows in _STORED.items()} == names
    assert [len(rows) for rows in names.values()] >= [180, 189, 937]
    assert {row.outcome for rows in _STORED.values() for row in rows.values()} <= {*OUTCOMES}


def test_nothing_is_wrong() -> None:
    assert [n for rows in _STORED.values() for n, r in rows.items() if r.outcome == "wrong"] == []


def test_the_page_is_of_the_results() -> None:
    assert (_FOLDER / "results.json").read_text() == results_json(_STORED)
    assert (_FOLDER / "README.md").read_text() == page(_STORED)


@pytest.mark.parametrize("name", _ROWS)
def test_rows_are_what_lowering_gives(name: str) -> None:
    (program,) = (p for programs in _PROGRAMS.values() for p in programs if p.name == name)
    assert survey(program) == _ROWS[name]


class _Odd(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.nonexistent() if x.dim() == 2 else x * 2.0  # type: ignore[attr-defined]


def _program(*shape: int) -> SurveyProgram:
    x = torch.linspace(-1.0, 1.0, math.prod(shape)).reshape(shape)
    return SurveyProgram("odd", lambda: _Odd().eval(), lambda: [(x,), (x * 0.5,)])


def test_what_torch_refuses_is_invalid() -> None:
    assert survey(_program(2, 3)).outcome == "invalid"


def test_what_raises_in_lowering_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("gone")

    monkeypatch.setattr("measure.survey.survey.lower", broken)
    assert survey(_program(3)) == SurveyRow("wrong", "KeyError is raised")


def _with_another_table(*arguments: Any, **options: Any) -> Lowered:
    """Lowers with a function's table turned around in the graph before the layout passes."""
    lowered = lower_with(*arguments, **options)
    ((name, table),) = (x for x in lowered.folded.named_buffers() if x[1].numel() == 256)
    setattr(lowered.folded, name, table.flip(0))
    return lowered


def _with_another_model(model: nn.Module, *arguments: Any, **options: Any) -> Lowered:
    return lower_with(nn.Sequential(model, nn.ReLU()).eval(), *arguments, **options)


@pytest.mark.parametrize(
    ("lowers", "reason"),
    [
        (_with_another_table, "the layout passes change values"),
        (_with_another_model, "the float graph is not the model"),
    ],
)
def test_wrong_values_are_wrong(
    monkeypatch: pytest.MonkeyPatch, lowers: Callable[..., Lowered], reason: str
) -> None:
    monkeypatch.setattr("measure.survey.survey.lower", lowers)
    assert survey(_program(3)) == SurveyRow("wrong", reason)


class _Smooth(nn.Module):
    """A layer, and a running mean of its output."""

    mean: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(4, 3)
        self.register_buffer("mean", torch.zeros(1, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean.copy_(self.mean * 0.5 + torch.tanh(self.layer(x)) * 0.5)
        return torch.relu(self.mean)


def test_a_program_with_state_is_compared_over_its_samples() -> None:
    generator = torch.Generator().manual_seed(1)
    samples = [(torch.rand(1, 4, generator=generator),) for _ in range(8)]
    program = SurveyProgram("smooth", lambda: _Smooth().eval(), lambda: samples)
    assert survey(program) == SurveyRow("int8", "")
