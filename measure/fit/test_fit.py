# SPDX-License-Identifier: Apache-2.0
"""A search finds settings that are right by numbers, and keeps its limits."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from aot.errors import LoweringError
from aot.lower import Lowered, lower
from aot.options import Measure, Quantize
from aot.plan.testing import sample_board
from measure.fit.cost import FitCost, FitCosts
from measure.fit.results import as_json, as_page, as_text, settings, to_paste
from measure.fit.search import FitLimits, Search, Trial


class _Standardized(nn.Module):
    """Temperature and pressure, standardized inside: int8 has six steps for one of them."""

    mean: torch.Tensor
    deviation: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.register_buffer("mean", torch.tensor([24.0, 1013.0]))
        self.register_buffer("deviation", torch.tensor([3.0, 8.0]))
        self.body = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.head = nn.Linear(32, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.head(self.body((x - self.mean) / self.deviation))
        return result


def _rows(count: int, seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    return torch.randn(count, 2) * torch.tensor([3.0, 8.0]) + torch.tensor([24.0, 1013.0])


def _search(limits: FitLimits, most: int) -> Search:
    model, held = _Standardized().eval(), _rows(48, 2)
    samples = list(_rows(48, 1).split(1))
    measure = Measure(
        evaluation=(held, model(held).argmax(1)), min_sqnr=-math.inf, min_agreement=0.0
    )

    def lower_so(quantize: Quantize) -> Lowered:
        return lower(model, samples[0], calibration=samples, quantize=quantize, measure=measure)

    return Search(lower_so, FitCosts(sample_board(), 80_000_000), limits, most)


def test_the_front_of_a_model_is_found_in_few_lowerings() -> None:
    search = _search(FitLimits(min_metric=0.97), 14)
    chosen = search.run(Quantize())
    assert len(search.trials) + len(search.refused) <= 14
    int8 = search.trials[0]
    whole = next(t for t in search.trials if t.quantize.quantization == "int16")
    assert chosen is not None and int8.metric < 0.97 <= chosen.metric
    assert chosen.quality >= whole.quality
    front = search.front()
    assert chosen in front and all(not o.dominates(t) for t in front for o in search.trials)
    costs = [t.cost for t in (int8, whole)]
    assert costs[0] is not None and costs[1] is not None
    assert costs[0].instructions < costs[1].instructions and costs[0].ram < costs[1].ram
    again = search.lower(chosen.quantize)
    assert again.report["quality"]["accuracy"]["int8"] == chosen.metric
    text = as_text(front, chosen)
    assert text.count("*") == 1 and to_paste(chosen.quantize).partition(" ")[0] in text
    fields = json.loads(json.dumps(as_json(search.trials, front, chosen, search.limits)))
    assert [t["is_chosen"] for t in fields["trials"]].count(True) == 1
    assert fields["trials"][0]["cost"]["flash"] == costs[0].flash
    assert 'class="chosen"' in as_page("a <net>", front, chosen, search.limits)


def test_limits_of_cost() -> None:
    """The chosen settings are within the limits, or there are none."""
    cost = FitCost(flash=1000, ram=100, instructions=10, ms=2.0)
    trial = Trial(Quantize(), 0.9, 30.0, cost)
    assert FitLimits().hold(trial) and FitLimits(2.0, 1000, 100, 0.9).hold(trial)
    for limits in (
        FitLimits(1.9),
        FitLimits(max_flash=999),
        FitLimits(max_ram=99),
        FitLimits(min_metric=0.91),
    ):
        assert not limits.hold(trial)
    assert not FitLimits(2.0).hold(replace(trial, cost=replace(cost, ms=None)))
    assert not FitLimits().hold(replace(trial, cost=None))


def test_a_smaller_trial_dominates_one_of_the_same_quality() -> None:
    cost = FitCost(flash=1000, ram=100, instructions=10, ms=None)
    trial = Trial(Quantize(), 0.9, 30.0, cost)
    smaller = replace(trial, cost=replace(cost, flash=900))
    slower = replace(smaller, cost=replace(cost, flash=900, instructions=11))
    assert smaller.dominates(trial) and not trial.dominates(smaller)
    assert not slower.dominates(trial) and not trial.dominates(trial)
    assert trial.dominates(replace(trial, cost=None))


@pytest.mark.parametrize(
    ("quantize", "text"),
    [
        ({}, 'quantization = "int8"'),
        (
            {"quantization": {"default": "int8", "head": "int16"}, "correct_bias": True},
            'quantization = {"default": "int8", "head": "int16"}, correct_bias = True',
        ),
        ({"observer": "mse"}, 'observer = "mse"'),
    ],
)
def test_what_is_pasted_gives_the_same_settings(quantize: dict[str, Any], text: str) -> None:
    given = Quantize(**quantize)
    assert to_paste(given) == text
    assert eval(f"Quantize({text})") == given and Quantize(**settings(given)) == given


def test_a_model_that_cannot_be_lowered_is_an_error() -> None:
    def refuse(quantize: Quantize) -> Lowered:
        raise LoweringError("no such op")

    with pytest.raises(LoweringError, match="no such op"):
        Search(refuse, FitCosts(sample_board(), 0), FitLimits()).run(Quantize())
