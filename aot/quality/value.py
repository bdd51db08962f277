# SPDX-License-Identifier: Apache-2.0
"""Measurements of a quantized value."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.fx import Node

from aot.dialect.quantization import Quantization
from aot.errors import module_path, source_line
from aot.quality.decibels import decibels, in_decibels, power

BINS = 32
"""Number of histogram bins of a value, over the range of its quantization."""

Elements = np.ndarray[Any, np.dtype[np.float32]]

_CLIPPED = 0.01
"""A value saturates from this share of elements outside its range."""

_LOST = 1e-3
"""And the share of its energy: less is 30 dB."""


@dataclass
class End:
    """The smallest, or the largest, elements of a value.

    Attributes:
      sign: 1 for the smallest, -1 for the largest.
      at: their value.
      count: their number.
      next: the nearest other element.
    """

    sign: float = 1.0
    at: float = math.nan
    count: int = 0
    next: float = math.nan

    def add(self, elements: Elements) -> None:
        """Add finite elements."""
        if not elements.size:
            return
        nearest = np.min if self.sign > 0.0 else np.max
        at = nearest(elements)
        is_at = elements == at
        count = int(np.count_nonzero(is_at))
        found = [(self.sign * float(at), count)]
        if count < elements.size:
            others = np.where(is_at, elements.dtype.type(self.sign * math.inf), elements)
            found.append((self.sign * float(nearest(others)), 0))
        found += [(self.sign * v, n) for v, n in ((self.at, self.count), (self.next, 0))]
        known = sorted(value for value, _ in found if not math.isnan(value))
        self.count = sum(n for value, n in found if value == known[0])
        self.at = self.sign * known[0]
        self.next = self.sign * next((v for v in known if v != known[0]), math.nan)


@dataclass(repr=False)
class MeasuredValue:
    """Measurements of a quantized value. Sums are over all samples and elements.

    Attributes:
      name: of the node that quantizes it in torchao's graph, as in Origin.quantized.
      value: the quantized node of the float graph.
      quantization: its own.
      signal: sum of its squares in float.
      noise: sum of the squared errors on the device.
      low, high: of its elements in float.
      least, largest: its finite elements at either end.
      clipped: number of elements more than a step outside of its limits.
      energy: of finite elements, the sum of their squares in float.
      lost: energy of the parts of these outside of its limits.
      noise_to_signal: of the model's outputs with this value alone quantized, the mean
        over them; None if it was not measured.
      histogram: elements in float: those clipped below, those in each of BINS equal
        parts between its limits, and those clipped above.
    """

    name: str
    value: Node
    quantization: Quantization
    signal: float = 0.0
    noise: float = 0.0
    low: float = float("inf")
    high: float = float("-inf")
    clipped: int = 0
    energy: float = 0.0
    lost: float = 0.0
    elements: int = 0
    noise_to_signal: float | None = None
    histogram: list[int] = field(default_factory=lambda: [0] * (BINS + 2))
    least: End = field(default_factory=lambda: End())
    largest: End = field(default_factory=lambda: End(-1.0))

    def __repr__(self) -> str:
        alone = f", {in_decibels(self.alone_db)} alone" if self.alone_db is not None else ""
        return f"<`{self.value.name}`: SQNR {in_decibels(self.sqnr_db)}{alone}>"

    @property
    def is_input(self) -> bool:
        return bool(self.value.op == "placeholder")

    @property
    def module(self) -> str:
        return module_path(self.value)

    @property
    def source(self) -> str:
        return source_line(self.value)

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest real number of its quantization."""
        return self.quantization.ends

    @property
    def sqnr_db(self) -> float | None:
        """SQNR of the value on the device, including all earlier errors."""
        return decibels(self.signal, self.noise)

    @property
    def alone_db(self) -> float | None:
        """SQNR of the model's outputs if only this value is quantized."""
        return None if self.noise_to_signal is None else decibels(1.0, self.noise_to_signal)

    @property
    def clipped_share(self) -> float:
        return self.clipped / max(self.elements, 1)

    @property
    def saturates(self) -> bool:
        """Return True if clipping matters: many elements, or elements far outside."""
        return self.clipped_share > _CLIPPED and self.lost > _LOST * self.energy

    @property
    def is_filled(self) -> bool:
        """Return True if all clipped elements are equal at each end, as in a mask."""
        (low, high), step = self.limits, self.quantization.scale
        fills = self.least.count if self.low < low - step else 0
        fills += self.largest.count if self.high > high + step else 0
        return self.clipped == fills

    def add(self, expected: torch.Tensor, actual: torch.Tensor | None) -> None:
        """Add a sample: the value in float, and on the device if it is known."""
        (low, high), step = self.limits, self.quantization.scale
        elements: Elements = expected.flatten().numpy()
        least, largest = elements.min(), elements.max()
        self.low, self.high = min(self.low, float(least)), max(self.high, float(largest))
        self.elements += elements.size
        finite = elements
        part = elements.astype(np.float64)  # and in place: new memory takes longer
        part -= low
        part /= high - low
        part *= BINS
        is_within = low - step <= least and largest <= high + step  # False for NaN
        if not is_within:
            finite = elements[np.isfinite(elements)]
            part = np.nan_to_num(part)
        part = np.clip(part, 0, BINS - 1, out=part).astype(np.intp)
        if not is_within:
            part[elements < low - step], part[elements > high + step] = BINS, BINS + 1
        *within, below, above = np.bincount(part, minlength=BINS + 2).tolist()
        self.clipped += below + above
        counts = [below, *within, above]
        self.histogram = [a + b for a, b in zip(self.histogram, counts, strict=True)]
        values = torch.from_numpy(finite)
        self.energy += power(values)
        if not low <= least <= largest <= high:
            self.lost += power(values - values.clamp(low, high))
        self.least.add(finite)
        self.largest.add(finite)
        if actual is not None:
            self.signal += power(expected)
            self.noise += power(actual - expected)
