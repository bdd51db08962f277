# SPDX-License-Identifier: Apache-2.0
"""Bias correction restores means lost by quantized weights."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from aot.dialect.qdq import UNCORRECTED
from aot.lower import Lowered
from aot.testing.fixtures import lower_with

CHANNELS = 48


class Net(nn.Module):
    """Many small weights of one sign next to a large one, on values that are not negative. int8
    rounds the small weights to 0.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, CHANNELS, 1)
        self.pixels = nn.Conv2d(CHANNELS, CHANNELS, 1, bias=False)
        self.head = nn.Linear(CHANNELS, CHANNELS)
        with torch.no_grad():
            small = torch.full((CHANNELS, CHANNELS), 0.35 / 127)
            weight = small.fill_diagonal_(1.0)
            self.pixels.weight.copy_(weight[:, :, None, None])
            self.head.weight.copy_(weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.pixels(torch.relu(self.conv(x))))
        result: torch.Tensor = self.head(x.mean((2, 3)))
        return result


def data(count: int, seed: int) -> list[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(1, 3, 6, 6, generator=generator),) for _ in range(count)]


@pytest.fixture(scope="module")
def results() -> tuple[Lowered, Lowered]:
    torch.manual_seed(0)
    net = Net().eval()
    options: dict[str, Any] = {"evaluation": data(16, 2), "per_op": False, "min_sqnr": 0.0}
    calibration = data(16, 1)
    before, after = (
        lower_with(net, calibration[0], calibration=calibration, correct_bias=correct, **options)
        for correct in (False, True)
    )
    return before, after


def test_held_out_samples_are_closer_to_float(results: tuple[Lowered, Lowered]) -> None:
    before, after = (result.quality.outputs[0].sqnr_db or 0.0 for result in results)
    assert before < 25.0
    assert after > before + 10.0


def test_it_costs_nothing(results: tuple[Lowered, Lowered]) -> None:
    """The layer without a bias had one of zeros."""
    before, after = results
    assert len(after.pte) == len(before.pte)
    for row in ("op", "outputs", "constant_bytes"):
        assert [op[row] for op in after.report["ops"]] == [op[row] for op in before.report["ops"]]


def test_every_layer_remembers_what_it_was(results: tuple[Lowered, Lowered]) -> None:
    kept = [n.meta[UNCORRECTED] for n in results[1].quantized.graph.nodes if UNCORRECTED in n.meta]
    assert [bool(bias.any()) for bias in kept] == [True, False, True]
