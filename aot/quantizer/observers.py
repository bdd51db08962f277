# SPDX-License-Identifier: Apache-2.0
"""How the values that calibration shows become scales: torchao's observers, and what they lack."""

from __future__ import annotations

from typing import Any

import torch
from torchao.quantization.pt2e import MinMaxObserver, PerChannelMinMaxObserver

from aot.quantizer.histogram import FastHistogramObserver

_FINEST = 2**18  # the largest n of a scale 1/n


class _Headroom:
    """Widens what an observer found by a share of it, for values that calibration did not show."""

    def __init__(self, *, headroom: float = 0.0, **options: Any) -> None:
        super().__init__(**options)
        self.headroom = headroom

    def _calculate_qparams(self, min_val: torch.Tensor, max_val: torch.Tensor) -> Any:
        room = 1.0 + self.headroom
        return super()._calculate_qparams(min_val * room, max_val * room)  # type: ignore[misc]


class Histogram(_Headroom, FastHistogramObserver):
    """Clips what costs less than the finer step gains."""


class KnownRange(MinMaxObserver):  # type: ignore[misc]
    """For a function whose range is known: gives that range's quantization, or a scale 1/n with the
    same zero point where the values take less than three quarters of the range.

    Args:
      known_scale: of the whole range.
      known_zero_point: likewise.
      headroom: share of the observed values that the finer scale leaves room for.
    """

    def __init__(
        self, *, known_scale: float, known_zero_point: int, headroom: float, **options: Any
    ) -> None:
        super().__init__(**options)
        self.known_scale = known_scale
        self.known_zero_point = known_zero_point
        self.headroom = headroom

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        largest = float(self.max_val) / (self.quant_max - self.known_zero_point)
        below = self.known_zero_point - self.quant_min
        smallest = -float(self.min_val) / below if below else 0.0
        needed = max(largest, smallest) * (1.0 + self.headroom)
        scale = self.known_scale
        if 0.0 < needed <= 0.75 * scale:
            scale = 1.0 / min(int(1.0 / needed), _FINEST)
        return torch.tensor([scale]), torch.tensor([self.known_zero_point])


class PowerOfTwo(MinMaxObserver):  # type: ignore[misc]
    """The finest scale 2^-n that holds all values, n in [0, finest]."""

    def __init__(self, *, finest: int, **options: Any) -> None:
        super().__init__(**options)
        self.finest = finest

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        scale, zero_point = super().calculate_qparams()
        return torch.exp2(torch.log2(scale).ceil().clamp(-self.finest, 0)), zero_point


class WidestChannel(PerChannelMinMaxObserver):  # type: ignore[misc]
    """Gives every channel the scale of the widest."""

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        scales, zero_points = super().calculate_qparams()
        return scales.max().expand_as(scales).clone(), zero_points
