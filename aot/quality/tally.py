# SPDX-License-Identifier: Apache-2.0
"""Distance of an output from float by sample, by sequence and by part."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from aot.quality.decibels import decibels, power
from aot.quality.parts import OutputParts

_RESOLVED = 1e-9
"""A part, or a sample, with a smaller share of the energy counts as nothing."""


@dataclass(frozen=True)
class PartQuality:
    """One part of an output.

    Attributes:
      index: of the part.
      name: of the part, for people.
      sqnr_db: of its elements.
      varying_db: the same without each element's mean over the samples; None of a part that never
        changes.
    """

    index: int
    name: str
    sqnr_db: float | None
    varying_db: float | None

    @property
    def least_db(self) -> float:
        """The smaller of the two."""
        return min((db for db in (self.sqnr_db, self.varying_db) if db is not None), default=0.0)


@dataclass(frozen=True)
class Spread:
    """SQNRs of several samples, or sequences.

    Attributes:
      median: half of them have more.
      decile: nine of ten have at least this.
      worst: the smallest.
      index: of the worst.
    """

    median: float
    decile: float
    worst: float
    index: int

    @classmethod
    def of(cls, found: Sequence[float | None]) -> Spread | None:
        """Return the spread of these, without those that are None."""
        known = sorted((db, i) for i, db in enumerate(found) if db is not None)
        if not known:
            return None
        values = [db for db, _ in known]
        return cls(statistics.median(values), values[(len(values) - 1) // 10], *known[0])


def finite_parts(expected: torch.Tensor, actual: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the float model's results and their errors in float64, both 0 if not finite."""
    finite = torch.isfinite(expected)
    numbers = torch.where(finite, expected.double(), 0.0)
    return numbers, torch.where(finite, actual.double() - numbers, 0.0)


@dataclass(repr=False)
class Tally:
    """Energies of an output of real numbers.

    Attributes:
      parts: of the output; None if it has one.
      elements: of one sample.
    """

    parts: OutputParts | None
    elements: int = 0
    _samples: list[tuple[bool, float, float]] = field(default_factory=list)
    _signal: torch.Tensor | None = None
    _noise: torch.Tensor | None = None
    _sums: torch.Tensor | None = None

    def add(self, starts: bool, expected: torch.Tensor, error: torch.Tensor) -> None:
        """Add a sample: finite numbers in float64, and their errors."""
        self._samples.append((starts, power(expected), power(error)))
        self.elements = expected.numel()
        if self.parts is None:
            return
        signal, noise = (self.parts.sums(x.square()) for x in (expected, error))
        self._signal = signal if self._signal is None else self._signal + signal
        self._noise = noise if self._noise is None else self._noise + noise
        self._sums = expected.clone() if self._sums is None else self._sums + expected

    def by_part(self) -> list[PartQuality]:
        """Return the parts in order; none if there is one only, and without samples."""
        if self.parts is None or self._sums is None:
            return []
        assert self._signal is not None and self._noise is not None
        count = len(self._samples)
        varying = self._signal - self.parts.sums(self._sums.square()) / count
        rows = zip(self._signal.tolist(), self._noise.tolist(), varying.tolist(), strict=True)
        found = []
        for index, (signal, noise, changing) in enumerate(rows):
            moves = count > 1 and changing > _RESOLVED * signal
            varying_db = decibels(changing * count / (count - 1), noise) if moves else None
            name = self.parts.names[index]
            found.append(PartQuality(index, name, decibels(signal, noise), varying_db))
        return found

    def by_sample(self) -> Spread | None:
        return Spread.of(self._decibels([(s, n) for _, s, n in self._samples]))

    def by_sequence(self) -> Spread | None:
        """None if there are not several sequences."""
        found: list[tuple[float, float]] = []
        for starts, signal, noise in self._samples:
            before = (0.0, 0.0) if starts or not found else found.pop()
            found.append((before[0] + signal, before[1] + noise))
        return Spread.of(self._decibels(found)) if len(found) > 1 else None

    def _decibels(self, energies: Sequence[tuple[float, float]]) -> list[float | None]:
        least = _RESOLVED * math.fsum(s for s, _ in energies) / max(1, len(energies))
        return [decibels(s, n) if s > least else None for s, n in energies]
