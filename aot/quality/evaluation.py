# SPDX-License-Identifier: Apache-2.0
"""Held-out data for measuring a lowered model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from aot.accept.calibration import check_sample, samples_of
from aot.accept.inputs import Inputs, as_tensors
from aot.errors import LoweringError, describe
from aot.quality.finding import FEW_SAMPLES, Finding
from aot.quality.watch import Watch, content

Evaluation = Iterable[Any] | tuple[Any, Any]
"""Samples in the form of calibration data; or, for a model with one input, inputs [N, ...] and
their classes, int64 [N]. Both are tensors or numpy arrays.
"""


@dataclass(frozen=True, repr=False)
class HeldOut:
    """Data to measure on.

    Attributes:
      samples: each with a flag: a sequence starts with it.
      labels: int64, the right class of each; None if they are not known.
      is_held_out: they are not from the calibration data.
    """

    samples: Sequence[tuple[bool, tuple[torch.Tensor, ...]]]
    labels: torch.Tensor | None = None
    is_held_out: bool = True

    def __str__(self) -> str:
        return f"{len(self.samples)} {'held-out' if self.is_held_out else 'calibration'} samples"

    __repr__ = __str__


def held_out(evaluation: Evaluation, model_inputs: Inputs, splits: bool = True) -> HeldOut:
    """Return the samples of evaluation data.

    Args:
      evaluation: the user's.
      model_inputs: conversion of samples to tensors.
      splits: a batch of several of the example's size counts as that many samples.

    Raises:
      LoweringError: there are none, or one does not match the example.
    """
    example_inputs = model_inputs.example
    inputs, labels = labelled(evaluation, example_inputs)
    samples: list[tuple[bool, tuple[torch.Tensor, ...]]]
    if inputs is None or labels is None:
        _check_no_classes(evaluation, example_inputs)
        data = model_inputs.samples(evaluation, "evaluation", splits)
        found = samples_of(data, "evaluation")
        samples = [(starts, tuple(x.clone() for x in sample)) for starts, sample in found]
    elif len(inputs) != len(labels) or example_inputs[0].shape[:1] != (1,):
        raise LoweringError(
            f"the evaluation data are {describe(evaluation)}, but the input is "
            f"{describe(example_inputs[0])}. Give inputs [N, ...] and one class for each, int64 "
            "[N], with a model of batch size 1."
        )
    else:
        samples = [(False, (x,)) for x in torch.split(inputs, 1)]
    if not samples:
        raise LoweringError("the evaluation data are empty. Give samples, or leave evaluation out.")
    for index, (_, sample) in enumerate(samples):
        check_sample(f"evaluation sample {index}", sample, example_inputs)
    return HeldOut(samples, labels)


def labelled(
    evaluation: object, example_inputs: Sequence[torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor] | tuple[None, None]:
    """The inputs and the classes, where data are these two; else twice None."""
    if isinstance(evaluation, tuple) and len(evaluation) == 2:
        inputs, labels = as_tensors(evaluation)
        are_tensors = isinstance(inputs, torch.Tensor) and isinstance(labels, torch.Tensor)
        is_sample = are_tensors and describe(labels) == describe(example_inputs[0])
        if are_tensors and labels.dim() == 1 and not labels.is_floating_point() and not is_sample:
            return inputs, labels.to(torch.int64)
    return None, None


def _check_no_classes(evaluation: object, example_inputs: Sequence[torch.Tensor]) -> None:
    """Raise LoweringError if the data are inputs and something meant as their classes."""
    is_pair = isinstance(evaluation, tuple | list) and len(evaluation) == 2
    if not is_pair or len(example_inputs) != 1:
        return
    found = as_tensors(evaluation)
    if not all(isinstance(x, torch.Tensor) for x in found):
        return
    (example,) = example_inputs
    for is_turned, (inputs, classes) in enumerate((found, found[::-1])):
        is_batch = inputs.shape[1:] == example.shape[1:] and inputs.shape != example.shape
        if (
            not is_batch
            or inputs.shape[:1] != classes.shape[:1]
            or classes.shape[1:] == example.shape[1:]
        ):
            continue
        if classes.dim() == 1 and not classes.is_floating_point():
            what = "behind their classes" if is_turned else "in a list"
            raise LoweringError(
                f"the evaluation data are {describe(evaluation)}: inputs {what}. Give a tuple of "
                "inputs and classes, (x, y)."
            )
        hint = (
            "y.argmax(1)" if classes.dim() == 2 and classes.shape[1] > 1 else "y.flatten().long()"
        )
        raise LoweringError(
            f"the evaluation data's classes are {describe(classes)}. Give one class for each of "
            f"the {len(inputs)} inputs, int64 [N], {hint}."
        )


def of_held_out(evaluation: HeldOut, seen: Watch, is_sequence: bool) -> Iterator[Finding]:
    """Yield warnings if held-out samples repeat the calibration or one another.

    The limits are more than half known samples, or only a few different ones.

    Args:
      evaluation: the samples.
      seen: of the calibration.
      is_sequence: the model has a state, so samples may well be alike.
    """
    samples = [inputs for _, inputs in evaluation.samples]
    count = len(samples)
    known = sum(map(seen.saw, samples))
    if count > 1 and known > count // 2:
        what = "all" if known == count else f"{known} of"
        yield Finding(
            "not_held_out",
            "",
            "",
            "",
            f"{what} {count} held-out samples are also in the calibration data, so the result is "
            "too good. Use samples that neither training nor calibration has seen",
        )
    different = len({content(inputs) for inputs in samples})
    if not is_sequence and count > 1 and different <= min(FEW_SAMPLES, count // 2):
        which = "all the same" if different == 1 else f"only {different} different ones"
        text = f"the {count} held-out samples are {which}. Give different ones"
        yield Finding("same_samples", "", "", "", text)
