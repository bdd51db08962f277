# SPDX-License-Identifier: Apache-2.0
"""Warnings of lowering on outputs, and on the classes they are compared with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from aot.lower import Lowered, lower
from aot.options import Measure
from aot.testing.fixtures import lower_with, model, samples
from aot.testing.gestures import gesture, good, recordings

ANYTHING: dict[str, Any] = {"min_sqnr": -math.inf, "min_agreement": 0.0}


def texts_of(result: Lowered, kind: str) -> list[str]:
    return [finding["text"] for finding in result.report["warnings"] if finding["kind"] == kind]


def test_an_output_that_never_changes_is_doubted() -> None:
    layer, data = nn.Linear(6, 4), samples((1, 6), count=24)
    net, texts = model(lambda a, x: a(x) + 1.0, layer), []
    for factor in (1.0, 0.0):
        with torch.no_grad():
            layer.weight *= factor
        result = lower_with(net, data[0], calibration=data, **ANYTHING)
        texts.append(texts_of(result, "flat_output"))
    (nothing, (text,)) = texts
    assert not nothing and "is the same in float in all 24 calibration samples" in text


WRONG_LABELS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], bool]] = {
    "right": (lambda y: y, False),
    "of other samples": (lambda y: y.roll(1), True),
    "counted otherwise": (lambda y: (y + 1) % 4, True),
    "one class": (lambda y: torch.zeros_like(y), False),
}


@pytest.mark.parametrize("name", WRONG_LABELS)
def test_classes_that_are_right_by_chance_are_doubted(name: str) -> None:
    function, is_doubted = WRONG_LABELS[name]
    inputs, classes = recordings(64, seed=2)
    data = good()
    given = inputs, function(classes)
    result = lower(
        gesture(), data[0], calibration=data, measure=Measure(evaluation=given, per_op=False)
    )
    texts = texts_of(result, "doubtful_labels")
    assert ["hardly more than by" in text for text in texts] == [True] * is_doubted


HEADS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], bool]] = {
    "softmax": (lambda y: y.softmax(-1), True),
    "index": (lambda y: y.argmax(-1), True),
    "numbers": (lambda y: y, False),
    "a class for each of two": (lambda y: y.reshape(2, -1).softmax(-1), False),
}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("is_held_out", [True, False])
def test_one_class_in_all_samples_is_doubted(head: str, is_held_out: bool) -> None:
    function, is_choice = HEADS[head]
    layer = nn.Linear(6, 4)
    net = model(lambda part, x: function(part(x)), layer).eval()
    layer.bias.data += torch.tensor([0.0, 0.0, 99.0, 0.0])
    data = samples((1, 6), count=24)
    held = [(x + 0.1,) for (x,) in data[:20]] if is_held_out else None
    result = lower_with(net, data[0], calibration=data, evaluation=held, **ANYTHING)
    texts = texts_of(result, "one_class")
    what = "20 held-out" if is_held_out else "24 calibration"
    assert [f"chooses 2 in float in all {what} samples" in t for t in texts] == [True] * is_choice
    layer.bias.data.zero_()
    result = lower_with(net, data[0], calibration=data, evaluation=held, **ANYTHING)
    assert not texts_of(result, "one_class")


@pytest.mark.parametrize(("scale", "warns"), [(1.0, False), (1 / 255, True)])
@pytest.mark.parametrize("count", [24, 12])
def test_scores_that_are_nearly_those_of_the_biases_are_doubted(
    scale: float, warns: bool, count: int
) -> None:
    """A network without BatchNorm gets images of another scale. Few samples give no warning."""
    net = model(lambda a, b, x: b(a(x).relu()), nn.Linear(16, 12), nn.Linear(12, 4))
    data = [(x * scale,) for (x,) in samples((1, 16), count=count)]
    result = lower_with(net, data[0], calibration=data, **ANYTHING)
    texts = texts_of(result, "flat_output")
    hardly = [
        f"hardly differs between all {count} calibration samples in float" in t for t in texts
    ]
    assert hardly == [True] * (warns and count >= 16)
