# SPDX-License-Identifier: Apache-2.0
"""Held-out data to measure a lowered model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from aot.accept.calibration import check_sample, samples_of
from aot.accept.inputs import Inputs, as_tensors
from aot.errors import LoweringError, describe
from aot.quality.finding import FEW_SAMPLES, Finding
from aot.quality.watch import Watch, content

Evaluation = Iterable[Any] | tuple[Any, Any]
"""Samples in the form of calibration data; or inputs and their classes, int64 [N].

Inputs are a tensor or numpy array [N, ...]; for a model with several inputs a tuple of them, or a
dict by name. With a metric of the user, the second item is any object.
"""


@dataclass(frozen=True, repr=False)
class HeldOut:
    """Held-out data.

    Attributes:
      samples: each with a flag: a sequence starts with it.
      labels: int64, the right class of each; None if they are not known.
      is_held_out: they are not from the calibration data.
      expected: for the user's metric, as given; None if there is nothing.
      total: number of samples that these were chosen from; 0: all of them.
    """

    samples: Sequence[tuple[bool, tuple[torch.Tensor, ...]]]
    labels: torch.Tensor | None = None
    is_held_out: bool = True
    expected: Any = None
    total: int = 0

    def __str__(self) -> str:
        kind = "held-out" if self.is_held_out else "calibration"
        some = f" of {self.total}" if self.total > len(self.samples) else ""
        return f"{len(self.samples)}{some} {kind} samples"

    __repr__ = __str__


def held_out(
    evaluation: Evaluation, model_inputs: Inputs, splits: bool = True, has_metric: bool = False
) -> HeldOut:
    """Return the samples of evaluation data.

    Args:
      evaluation: the user's.
      model_inputs: conversion of samples to tensors.
      splits: a batch of several of the example's size counts as that many samples.
      has_metric: a pair is inputs, and what the user's metric expects of them.

    Raises:
      LoweringError: there are none, or one does not match the example.
    """
    example_inputs = model_inputs.example
    pair = labelled(evaluation, example_inputs)
    labels = None if pair is None else pair[1]
    expected: Any = labels
    given: Any = evaluation
    if has_metric and isinstance(evaluation, tuple) and len(evaluation) == 2:
        given, expected = evaluation
        if _is_batch(given, example_inputs):
            given = _split(given)
    elif pair is not None:
        given = pair[0]
    else:
        _check_no_classes(evaluation, example_inputs)
    data = model_inputs.samples(given, "evaluation", splits)
    found = samples_of(data, "evaluation")
    samples = [(starts, tuple(x.clone() for x in sample)) for starts, sample in found]
    if labels is not None and (
        len(samples) != len(labels) or any(x.shape[:1] != (1,) for x in example_inputs)
    ):
        raise LoweringError(
            f"the evaluation data are {describe(evaluation)}, but the input is "
            f"{describe(example_inputs[0])}. Give inputs [N, ...] and one class for each, int64 "
            "[N], with a model of batch size 1."
        )
    if not samples:
        raise LoweringError("the evaluation data are empty. Give samples, or leave evaluation out.")
    for index, (_, sample) in enumerate(samples):
        check_sample(f"evaluation sample {index}", sample, example_inputs)
    return HeldOut(samples, labels, expected=expected)


def labelled(
    evaluation: object, example_inputs: Sequence[torch.Tensor]
) -> tuple[list[Any], torch.Tensor] | None:
    """Return the samples and their classes, where data are these two; else None."""
    if not isinstance(evaluation, tuple) or len(evaluation) != 2:
        return None
    inputs, labels = evaluation
    (labels,) = as_tensors([labels])
    if not isinstance(labels, torch.Tensor) or labels.dim() != 1 or labels.is_floating_point():
        return None
    is_sample = describe(labels) == describe(example_inputs[0])
    if is_sample or not _is_batch(inputs, example_inputs):
        return None
    return _split(inputs), labels.to(torch.int64)


def _is_batch(inputs: object, example_inputs: Sequence[torch.Tensor]) -> bool:
    """Return True for one array of samples for each input, several of them in a tuple or dict."""
    if len(example_inputs) == 1 and not isinstance(inputs, Mapping):
        return isinstance(inputs, torch.Tensor | np.ndarray)
    if not isinstance(inputs, tuple | Mapping):
        return False
    arrays = [*inputs.values()] if isinstance(inputs, Mapping) else [*inputs]
    is_arrays = all(isinstance(x, torch.Tensor | np.ndarray) and x.ndim for x in arrays)
    return is_arrays and len(arrays) == len(example_inputs) and len({len(x) for x in arrays}) == 1


def _split(inputs: Any) -> list[Any]:
    """Return the samples of a batch."""
    if isinstance(inputs, Mapping):
        count = min(map(len, inputs.values()))
        return [{name: x[i : i + 1] for name, x in inputs.items()} for i in range(count)]
    if isinstance(inputs, tuple):
        return [tuple(x[i : i + 1] for x in inputs) for i in range(min(map(len, inputs)))]
    return [inputs[i : i + 1] for i in range(len(inputs))]


def _check_no_classes(evaluation: object, example_inputs: Sequence[torch.Tensor]) -> None:
    """Raise LoweringError if samples look like pairs of inputs and classes."""
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
