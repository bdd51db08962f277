# SPDX-License-Identifier: Apache-2.0
"""The user's own measure of a model's outputs, such as mAP, F1 or an error in units."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import torch

from aot.errors import LoweringError, describe

Metric = Callable[[Any, Any], float]
"""A function of a model's outputs and what is expected; larger is better.

It takes a tensor [N, ...] of all samples, or a tuple of such for several outputs.
"""


@dataclass(frozen=True)
class MetricResult:
    """A metric of both models.

    Attributes:
      name: of the function.
      float32: of the float model.
      int8: of the lowered one, hence of the device.
    """

    name: str
    float32: float
    int8: float


class Outcomes:
    """Outputs of both models for all samples."""

    def __init__(self) -> None:
        self._found: list[list[list[torch.Tensor]]] = [[], []]

    def keep(self, expected: Sequence[torch.Tensor], actual: Sequence[torch.Tensor]) -> None:
        for found, given in zip(self._found, (expected, actual), strict=True):
            found.append([x.clone() for x in given])

    def judged(self, metric: Metric, expected: Any) -> MetricResult:
        """Return the metric of both models.

        Raises:
          LoweringError: the metric fails, or returns no number.
        """
        name = str(getattr(metric, "__name__", type(metric).__name__))
        results = (_value(metric, name, _together(found), expected) for found in self._found)
        return MetricResult(name, *results)


def _together(samples: Sequence[Sequence[torch.Tensor]]) -> Any:
    """Return each output of all samples as one tensor."""
    columns = [
        torch.cat(column) if column[0].shape[:1] == (1,) else torch.stack(column)
        for column in map(list, zip(*samples, strict=True))
    ]
    return columns[0] if len(columns) == 1 else tuple(columns)


def _value(metric: Metric, name: str, outputs: Any, expected: Any) -> float:
    try:
        found: Any = metric(outputs, expected)
    except Exception as error:  # the user's function may raise anything
        shapes = describe(outputs)
        raise LoweringError(
            f"the metric {name} fails on outputs {shapes}: {type(error).__name__}: {error}"
        ) from error
    if isinstance(found, torch.Tensor) and found.numel() == 1:
        found = found.item()
    if not isinstance(found, Real) or math.isnan(found):
        raise LoweringError(f"the metric {name} must return a number; got {found!r:.60}.")
    return float(found)
