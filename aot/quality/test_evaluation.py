# SPDX-License-Identifier: Apache-2.0
"""Held-out data: the accepted forms, and the rejected ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from aot.accept.inputs import Inputs
from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Measure
from aot.quality.evaluation import held_out
from aot.testing.gestures import gesture, recordings


@pytest.mark.parametrize(
    ("evaluation", "text"),
    [
        ([], "the evaluation data are empty"),
        (3, "evaluation must be a list .* got int"),
        ([torch.ones(1, 5)], r"evaluation sample 0, input 0 is float32\[1, 5\]"),
        (
            (torch.ones(3, 4), torch.zeros(2, dtype=torch.int64)),
            r"Give inputs \[N, \.\.\.\] and one class",
        ),
        ((torch.ones(3, 4), torch.eye(3)), r"classes are float32\[3, 3\].* y\.argmax\(1\)"),
        (
            [torch.ones(3, 4), torch.tensor([0, 1, 1])],
            r"inputs in a list. Give a tuple of .* classes, \(x, y\)",
        ),
        (
            (torch.tensor([0, 1, 1]), torch.ones(3, 4)),
            r"inputs behind their classes. Give a tuple of .* classes, \(x, y\)",
        ),
        (
            {"input": torch.ones(3, 4)},
            r"evaluation must be a list .* got dict. Pass one sample as \[sample\]. S",
        ),
        (
            (torch.ones(3, 4), torch.zeros(3)),
            r"classes are float32\[3\].* y\.flatten\(\)\.long\(\)",
        ),
    ],
)
def test_bad_evaluation_data(evaluation: Any, text: str) -> None:
    with pytest.raises(LoweringError, match=text):
        held_out(evaluation, Inputs(nn.Linear(4, 2), torch.ones(1, 4), ""))


@pytest.mark.parametrize("classes", [[1, 2, 4], [0, -1, 3]])
def test_labels_that_are_no_classes_of_the_model(classes: list[int]) -> None:
    inputs, labels = recordings(3, seed=2)
    strange = labels.new_tensor(classes)
    calibration = recordings(16, seed=1)[0].split(1)
    with pytest.raises(
        LoweringError, match=r"1 of .* 3 classes are outside of 0 to 3, the classes of output"
    ):
        lower(
            gesture(),
            inputs[:1],
            calibration=calibration,
            measure=Measure(evaluation=(inputs, strange)),
        )


def test_one_buffer_filled_again_is_several_samples() -> None:
    buffer = torch.empty(1, 4)
    inputs = Inputs(nn.Linear(4, 2), buffer, "")
    data: Sequence[Any] = held_out((buffer.fill_(v) for v in (1.0, 2.0)), inputs).samples
    assert [float(x[0, 0]) for _, (x,) in data] == [1.0, 2.0]


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_classes_may_be_arrays_of_numpy(dtype: Any) -> None:
    inputs, classes = recordings(8, seed=2)
    given = inputs.double().numpy(), classes.numpy().astype(dtype)
    held = held_out(given, Inputs(gesture(), inputs[:1], ""))
    assert held.labels is not None and torch.equal(held.labels, classes)
    assert len(held.samples) == 8 and torch.equal(held.samples[3][1][0], inputs[3:4])


def test_batches_are_samples_unless_a_model_has_state() -> None:
    inputs, classes = recordings(8, seed=2)
    loader = [(inputs[:4], classes[:4]), (inputs[4:], classes[4:])]
    model_inputs = Inputs(gesture(), inputs[:1], "")
    held = held_out(loader, model_inputs)
    assert torch.equal(torch.cat([x for _, (x,) in held.samples]), inputs)
    with pytest.raises(LoweringError, match=r"evaluation sample 0, input 0 is float32\[4, 3, 64\]"):
        held_out(loader, model_inputs, splits=False)


HELD_OUT: dict[str, tuple[Callable[[torch.Tensor, torch.Tensor], torch.Tensor], str]] = {
    "others": (lambda old, new: new, ""),
    "some of the calibration": (lambda old, new: torch.cat([old[:8], new[:8]]), ""),
    "all of the calibration": (
        lambda old, new: old,
        "all 16 held-out samples are also in the calibration data",
    ),
    "most of the calibration": (
        lambda old, new: torch.cat([old[:9], new[:7]]),
        "9 of 16 held-out samples are also in the calibration data",
    ),
    "one": (lambda old, new: new[:1].repeat(4, 1, 1), "the 4 held-out samples are all the same"),
    "two": (
        lambda old, new: new[:2].repeat(3, 1, 1),
        "the 6 held-out samples are only 2 different ones",
    ),
}


@pytest.mark.parametrize("name", HELD_OUT)
def test_held_out_samples_that_are_hardly_any_are_doubted(name: str) -> None:
    choose, text = HELD_OUT[name]
    old, new = (recordings(16, seed=seed)[0] for seed in (1, 2))
    result = lower(
        gesture(),
        old[:1],
        calibration=old.split(1),
        measure=Measure(
            evaluation=choose(old, new).split(1), min_sqnr=-math.inf, min_agreement=0.0
        ),
    )
    kinds = ("not_held_out", "same_samples")
    found = [f["text"] for f in result.report["warnings"] if f["kind"] in kinds]
    assert len(found) == bool(text) and all(line.startswith(text) for line in found)
