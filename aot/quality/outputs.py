# SPDX-License-Identifier: Apache-2.0
"""Compares the outputs of a lowered model with the float model's."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field

import torch
from torch.fx import Node

from aot.quality.decibels import ROUGH_DB, decibels, in_decibels, power
from aot.quality.tally import Tally, finite_parts

_CLEAR = 0.5
"""A class is clear for the float model if it leads the next by this many standard deviations of its
scores.
"""

_RESOLVED = 1e-9
"""An output that varies by less than this share of its energy counts as constant."""


@dataclass(repr=False)
class Output:
    """An output over all samples, with the classes that it selects.

    Attributes:
      name: of its node.
      class_dim: the class dimension of the output, or of the values its integers are
        chosen from; None if it is no choice, or one among all elements.
      is_class: a sample of it is one class, or one integer.
      signal: the sum of the squares of the float model's values.
      actual: the same of the lowered model's.
      noise: the same of the difference.
      product: the sum of the products of the two.
      sums: of the float model's values, element by element.
      samples: number of samples.
      endless: number of infinite or NaN values of the float model; the sums leave them
        out.
      is_float: it holds real numbers, and no integers or masks.
      is_exact: no float is on the way from the inputs to it: it has to be equal.
      path: its position in the return value of the user's model; "" if it is that value.
      choice: source of the integers, a node of the float graph; None if they are no
        choice, nor computed from one.
      count: number of chosen elements, the best first.
      largest: the largest are the best.
      is_choice: it is a softmax or an index; a row of numbers may be none.
      classes: choices of the float model and of the lowered one, all integers of an
        integer output, sample by sample.
      tally: the distance by sample and by part.
    """

    name: str
    class_dim: int | None
    is_class: bool
    choice: Node | None = None
    count: int = 1
    largest: bool = True
    signal: float = 0.0
    actual: float = 0.0
    noise: float = 0.0
    product: float = 0.0
    sums: torch.Tensor | None = None
    samples: int = 0
    endless: int = 0
    is_float: bool = True
    is_exact: bool = False
    path: str = ""
    is_choice: bool = False
    classes: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)
    tally: Tally = field(default_factory=lambda: Tally(None))
    _leads: list[torch.Tensor] = field(default_factory=list)
    _variances: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        return f"output `{self.name}`" + (f", {self.path}" if self.path else "")

    def __repr__(self) -> str:
        return f"<{self}: {self.distance}>"

    @property
    def distance(self) -> str:
        """Return a text with all measures."""
        parts = []
        if self.sqnr_db is not None:
            parts.append(f"SQNR {in_decibels(self.sqnr_db)}")
        if self.cosine is not None:
            parts.append(f"cosine {self.cosine:.5f}")
        if self.agreement is not None:
            parts.append(f"agreement {self.agreement:.2%}")
        return ", ".join(parts) or "always 0"

    @property
    def sqnr_db(self) -> float | None:
        """SQNR in dB. None for integers, and if the float model returns only zeros."""
        return decibels(self.signal, self.noise) if self.is_float else None

    @property
    def is_rough(self) -> bool:
        return self.sqnr_db is not None and self.sqnr_db < ROUGH_DB

    @property
    def varying_db(self) -> float | None:
        """SQNR of the variation between samples: each element's mean is removed.

        Example: for a temperature of 20 +- 1 degrees, an error of 2 is 20 dB below the signal and
        hides all variation. None for one sample, and if all samples are the same.
        """
        varying = self._varying()
        return None if varying is None else decibels(varying, self.noise)

    @property
    def varying_share_db(self) -> float | None:
        """Share of this variation in the signal, in dB. None as for sqnr_db."""
        varying = self._varying()
        return None if varying is None else decibels(varying, self.signal)

    def _varying(self) -> float | None:
        if self.sums is None or self.samples < 2:
            return None
        varying = self.signal - power(self.sums) / self.samples
        if varying < _RESOLVED * self.signal:
            return None
        return varying * self.samples / (self.samples - 1)

    @property
    def is_still(self) -> bool:
        """Return True if its numbers are equal in all of several samples."""
        is_one = self.is_float and self.samples > 1 and self.signal > 0.0
        return is_one and self._varying() is None

    @property
    def cosine(self) -> float | None:
        """Cosine of the angle between float and int8. None for integers, and for zeros alone."""
        length = math.sqrt(self.signal * self.actual)
        return self.product / length if length > 0.0 else None

    @property
    def agreement(self) -> float | None:
        """Share of classes equal to the float model's. None if the output is not a choice."""
        same = self._same()
        return None if same is None else same.double().mean().item()

    @property
    def several_differ(self) -> bool:
        """Return True if more than one class differs from the float model's."""
        same = self._same()
        return same is not None and int((~same).sum()) > 1

    @property
    def only_class(self) -> int | None:
        """The class that the float model selects in every sample. None if it varies."""
        return self.only_score if self.is_choice else None

    @property
    def only_score(self) -> int | None:
        """Like only_class, for any row that may hold class scores."""
        if not self.is_class:
            return None
        found = {int(expected) for expected, _ in self.classes}
        return found.pop() if len(found) == 1 else None

    @property
    def clear_agreement(self) -> tuple[int, int] | None:
        """Return how many classes are clear in float, and how many of these are selected here.

        None if the output does not show how clear a class is.
        """
        same = self._same()
        if same is None or not self._leads:
            return None
        # The median is robust: one unusual sample does not affect it.
        deviation = math.sqrt(statistics.median(self._variances))
        sure = torch.cat(self._leads) > _CLEAR * deviation
        return int(sure.sum()), int((sure & same).sum())

    def accuracy(self, labels: torch.Tensor) -> tuple[float, float]:
        """Share of samples whose class is the label: of the float model, of the lowered model."""
        chosen = (torch.cat(column) for column in zip(*self.classes, strict=True))
        float32, int8 = ((column == labels).double().mean().item() for column in chosen)
        return float32, int8

    def accuracy_by_chance(self, labels: torch.Tensor) -> float:
        """Return the accuracy of the float model's class frequencies on random samples."""
        chosen = torch.cat([expected for expected, _ in self.classes])
        shares = (
            (chosen == c).double().mean() * (labels == c).double().mean() for c in labels.unique()
        )
        return float(sum(shares))

    def confusion(self, labels: torch.Tensor, limit: int) -> list[list[int]] | None:
        """Return counts of the lowered model's class (column) for each correct class (row).

        None if there are more than `limit` classes, or integers that are none.
        """
        chosen = torch.cat([actual for _, actual in self.classes])
        every = torch.cat([chosen, labels])
        count = int(every.max()) + 1
        if count > limit or int(every.min()) < 0:
            return None
        both = (labels * count + chosen).bincount(minlength=count * count)
        rows: list[list[int]] = both.reshape(count, count).tolist()
        return rows

    def add(
        self,
        expected: torch.Tensor,
        actual: torch.Tensor,
        choice: torch.Tensor | None = None,
        starts: bool = False,
    ) -> None:
        """Add a sample: the results of both models.

        Args:
          expected: of the float model.
          actual: of the lowered one.
          choice: source of the float model's integers.
          starts: a sequence starts with the sample.
        """
        finite = torch.isfinite(expected)
        self.endless += int((~finite).sum())
        numbers, error = finite_parts(expected, actual)
        self.signal += power(numbers)
        self.noise += power(error)
        self.sums = numbers if self.sums is None else self.sums + numbers
        self.samples += 1
        if not expected.is_floating_point():
            self.classes.append((expected.flatten(), actual.flatten()))
            if choice is not None:
                self._add_lead(choice.flatten() if self.class_dim is None else choice)
            return
        self.tally.add(starts, numbers, error)
        self.actual += power(torch.where(finite, actual, 0.0))
        self.product += (actual.double() * numbers).sum().item()
        if self.class_dim is not None:
            chosen = (x.argmax(self.class_dim).flatten() for x in (expected, actual))
            self.classes.append((next(chosen), next(chosen)))
            self._add_lead(expected)

    def _add_lead(self, values: torch.Tensor) -> None:
        """Add the lead of the first class over the second, and the spread of all classes.

        Further chosen elements count likewise, with the distance to both neighbours.
        """
        dim = -1 if self.class_dim is None else self.class_dim
        values = values.movedim(dim, -1)
        values = values if values.is_floating_point() else values.double()
        best = values.sort(-1, self.largest).values[..., : self.count + 1]
        gaps = best.diff(dim=-1).abs().nan_to_num(0.0, math.inf)  # no gap between two masked ones
        gaps = torch.nn.functional.pad(gaps, (1, 1), value=math.inf)
        leads = torch.minimum(gaps[..., :-1], gaps[..., 1:])[..., : self.count]
        self._leads.append(leads.movedim(-1, dim).flatten())
        known = torch.where(values.isfinite(), values, math.nan)
        variances = (known - known.nanmean(-1, keepdim=True)).square().nanmean(-1)
        self._variances.append(variances.nanmean().nan_to_num(0.0).item())

    def _same(self) -> torch.Tensor | None:
        return torch.cat([a == b for a, b in self.classes]) if self.classes else None
