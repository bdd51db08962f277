# SPDX-License-Identifier: Apache-2.0
"""Training statistics in a BatchNorm, and the warnings on calibration data based on them."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
import torch
from torch import nn

from aot.lower import Lowered
from aot.testing.fixtures import lower_with, samples

ANYTHING: dict[str, Any] = {"min_sqnr": -math.inf, "min_agreement": 0.0}


def warned(result: Lowered) -> set[str]:
    return {finding["kind"] for finding in result.report["warnings"]}


@pytest.mark.parametrize(
    ("scale", "text"),
    [
        (1.0, None),
        (255.0, r"times as far out"),
        (0.5, r"0.5 times as wide"),
        (1 / 255, r"times as wide"),
        (0.0, "times as wide"),
    ],
)
def test_samples_of_another_scale_than_trainings(scale: float, text: str | None) -> None:
    """A BatchNorm keeps the statistics of its training data."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6, momentum=1.0), nn.ReLU())
    batch = torch.rand(32, 1, 8, 8)
    network(batch)
    data = [(x * scale,) for x in torch.split(batch, 1)]
    result = lower_with(network.eval(), data[0], calibration=data, **ANYTHING)
    found = [f for f in result.report["warnings"] if f["kind"] == "unlike_training"]
    assert [f["module"] for f in found] == (["0 (Conv2d)"] if text else [])
    assert text is None or text in found[0]["text"]


NORMS_THAT_READ: dict[str, tuple[nn.Module, str]] = {
    "an input, folded into a convolution": (
        nn.Sequential(nn.BatchNorm1d(3, momentum=1.0), nn.Conv1d(3, 4, 5)),
        "input `input_1` for",
    ),
    "an input, beside a linear layer": (
        nn.Sequential(nn.BatchNorm1d(3, momentum=1.0), nn.Flatten(), nn.Linear(3 * 16, 4)),
        "input `input_1` for",
    ),
    "what a layer gives": (
        nn.Sequential(nn.Conv1d(3, 4, 5), nn.ReLU(), nn.BatchNorm1d(4, momentum=1.0), nn.ReLU()),
        "what `squeeze_dims` gives for",
    ),
}


@pytest.mark.parametrize("name", NORMS_THAT_READ)
@pytest.mark.parametrize("equalize", [False, True])
@pytest.mark.parametrize("scale", [1.0, 16.0])
def test_a_batch_norm_in_front_of_layers_remembers_what_it_read(
    name: str, equalize: bool, scale: float
) -> None:
    network, subject = NORMS_THAT_READ[name]
    network = copy.deepcopy(network).train()
    batch = torch.cat([x for (x,) in samples((1, 3, 16), count=32)]) * 9.0 + 2.0
    network(batch)
    data = [(x * scale,) for x in torch.split(batch, 1)]
    options = {**ANYTHING, "equalize": equalize}
    result = lower_with(network.eval(), data[0], calibration=data, **options)
    found = [f["text"] for f in result.report["warnings"] if f["kind"] == "unlike_training"]
    assert [subject in text for text in found] == [True] * (scale != 1.0)


@pytest.mark.parametrize(("count", "warns"), [(32, True), (31, False)])
def test_samples_with_one_value_a_channel_are_together_enough(count: int, warns: bool) -> None:
    """Fewer samples do not allow an estimate of their variation."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8, momentum=1.0), nn.ReLU())
    batch = torch.randn(count, 6)
    network(batch)
    data = [(x / 255,) for x in torch.split(batch, 1)]
    lowered = lower_with(network.eval(), data[0], calibration=data, **ANYTHING)
    assert ("unlike_training" in warned(lowered)) is warns


def test_a_batch_norm_that_was_never_trained_remembers_nothing() -> None:
    network = nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6)).eval()
    data = [(x * 255.0,) for (x,) in samples((1, 1, 8, 8), count=16)]
    assert "unlike_training" not in warned(
        lower_with(network, data[0], calibration=data, **ANYTHING)
    )


@pytest.mark.parametrize("moved", [0.0, 3.0, 4.0])
def test_samples_that_are_shifted_from_trainings(moved: float) -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8, momentum=1.0), nn.ReLU())
    batch = torch.randn(32, 6)
    network(batch)
    data = [(x + moved,) for x in torch.split(batch, 1)]
    result = lower_with(network.eval(), data[0], calibration=data, **ANYTHING)
    found = [f["text"] for f in result.report["warnings"] if f["kind"] == "unlike_training"]
    assert [" deviations away from " in text for text in found] == [True] * (moved > 0.0)


def test_one_sample_that_is_far_out_does_not_make_all_unlike_training() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8, momentum=1.0), nn.ReLU())
    batch = torch.randn(32, 6)
    network(batch)
    batch[7] *= 60.0
    data = [(x,) for x in torch.split(batch, 1)]
    kinds = warned(lower_with(network.eval(), data[0], calibration=data, **ANYTHING))
    assert "stretched_range" in kinds and "unlike_training" not in kinds
