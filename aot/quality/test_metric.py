# SPDX-License-Identifier: Apache-2.0
"""The user's own metric, and labels of models with several inputs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from aot.errors import LoweringError
from aot.lower import Lowered, lower
from aot.options import Measure


class _Pair(nn.Module):
    """The larger of two inputs' sums."""

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return torch.cat([left.sum(1, keepdim=True), right.sum(1, keepdim=True)], 1)


def _rows(count: int = 48) -> torch.Tensor:
    torch.manual_seed(0)
    return torch.rand(count, 6).cumsum(1)


def _lowered(model: nn.Module, example: Any, samples: list[Any], **measure: Any) -> Lowered:
    return lower(model.eval(), example, calibration=samples, measure=Measure(**measure))


@pytest.mark.parametrize("by_name", [False, True])
def test_labels_of_several_inputs(by_name: bool) -> None:
    left, right = _rows(), _rows().flip(0)
    labels = (right.sum(1) > left.sum(1)).long()
    labels[:6] = 1 - labels[:6]
    inputs = {"left": left, "right": right} if by_name else (left, right)
    samples = list(zip(left.split(1), right.split(1), strict=True))
    lowered = _lowered(_Pair(), samples[0], samples, evaluation=(inputs, labels))
    accuracy = lowered.report["quality"]["accuracy"]
    assert accuracy["float32"] == pytest.approx(42 / 48)
    assert accuracy["int8"] == pytest.approx(42 / 48, abs=2 / 48)
    confusion = lowered.report["quality"]["confusion"]
    assert sum(map(sum, confusion)) == 48


def _mean_error(outputs: torch.Tensor, expected: torch.Tensor) -> float:
    return -float((outputs - expected).abs().mean())


def test_a_metric_in_units() -> None:
    torch.manual_seed(1)
    model, rows = nn.Linear(6, 1), _rows()
    expected = model(rows).detach() + 0.25
    samples = list(rows.split(1))
    measure = {"evaluation": (rows, expected), "metric": _mean_error}
    lowered = _lowered(model, rows[:1], samples, **measure)
    found = lowered.report["quality"]["metric"]
    assert found["name"] == "_mean_error" and found["float32"] == pytest.approx(-0.25, abs=1e-4)
    by_hand = []
    for x, target in zip(samples, expected, strict=True):
        (y,) = lowered.dequantize_outputs(lowered.reference((x,)))
        by_hand.append(float((y - target).abs()))
    assert found["int8"] == pytest.approx(-sum(by_hand) / len(by_hand), abs=1e-6)
    assert "_mean_error -0.25 in float32" in "\n".join(lowered.quality.lines())
    with pytest.raises(LoweringError, match=r"_mean_error is -0\.\d+ .*, min_metric is -0\.1"):
        _lowered(model, rows[:1], samples, **measure, min_metric=-0.1)


def test_several_outputs_and_any_labels() -> None:
    class Two(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x * 2.0, x.sum(1)

    seen: list[Any] = []

    def metric(outputs: Any, labels: Any) -> torch.Tensor:
        seen.append((tuple(x.shape for x in outputs), labels))
        return torch.tensor(0.5)

    rows = _rows(8)
    names = [f"row {i}" for i in range(8)]
    samples = list(rows.split(1))
    lowered = _lowered(Two(), rows[:1], samples, evaluation=(samples, names), metric=metric)
    assert seen == [(((8, 6), (8,)), names)] * 2
    assert lowered.report["quality"]["metric"] == {"name": "metric", "float32": 0.5, "int8": 0.5}


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (3, "metric must be a function of outputs and labels; got int"),
        (lambda outputs: 1.0, r"metric must be a function .* it takes \(outputs\)"),
        (lambda outputs, labels: "good", "must return a number; got 'good'"),
        (lambda outputs, labels: 1 / 0, "fails on outputs .*ZeroDivisionError"),
    ],
)
def test_what_is_no_metric(metric: Any, text: str) -> None:
    rows = _rows(8)
    with pytest.raises(LoweringError, match=text):
        _lowered(nn.Linear(6, 1), rows[:1], list(rows.split(1)), metric=metric)


def test_a_limit_needs_a_metric() -> None:
    with pytest.raises(LoweringError, match="min_metric needs a metric"):
        Measure(min_metric=0.5)
    with pytest.raises(LoweringError, match="min_part_sqnr must be a number, or None; got 'low'"):
        Measure(min_part_sqnr="low")  # type: ignore[arg-type]
