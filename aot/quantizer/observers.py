# SPDX-License-Identifier: Apache-2.0
"""Observers: from calibrated values to scales. torchao's observers, with additions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from aot.dialect.grid import common_step, exact_scale
from aot.quantizer.histogram import FastHistogramObserver
from aot.upstream.torchao import (
    FakeQuantize,
    MinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
)

_FINEST = 2**18  # the largest n of a scale 1/n
_PERCENTILE = 99.99
_CANDIDATES = 96  # candidates for the end of a range, on either side
_EPSILON = 2.0**-120  # the smallest scale; its reciprocal, too, is a float32
_OF_ZEROS = 2.0**-24  # the scale of values that are all 0
_INFINITE_STEPS = 1.5  # for infinity; rounding takes at most half a step twice
_NEWEST = 0.1  # the part of the newest sample in a moving average
_LARGEST = 2.0**126  # of float32, so the whole range is finite


class NotANumber(RuntimeError):
    """The observed values have no range."""


class _Scaled:
    """Mixin that permits small scales.

    A value of zeros gets a scale that multipliers and shifts can express.
    """

    def _calculate_qparams(self, min_val: torch.Tensor, max_val: torch.Tensor) -> Any:
        scale, zero_point = super()._calculate_qparams(min_val, max_val)  # type: ignore[misc]
        is_zero = (min_val == 0.0) & (max_val == 0.0)
        return torch.where(is_zero.reshape(scale.shape), _OF_ZEROS, scale), zero_point


class _OnGrid:
    """Mixin that makes given constants exact multiples of the scale.

    Exact are values that are all multiples of one number, such as integers. Otherwise the constants
    of comparisons are exact.
    """

    quant_min: int
    quant_max: int
    qscheme: torch.qscheme

    def __init__(self, *, constants: Sequence[float] = (), **options: Any) -> None:
        super().__init__(**options)
        self.constants = constants
        self._step: float | None = 0.0  # until there are values other than 0
        self._ends = (0.0, 0.0)

    def forward(self, x: torch.Tensor) -> Any:
        finite = x.detach().to(torch.float32)[~x.detach().isinf()] if self._step is not None else x
        if self._step is not None and finite.numel():
            self._step = common_step(finite.numpy(), self._step)
            low, high = map(float, finite.aminmax())
            self._ends = min(low, self._ends[0]), max(high, self._ends[1])
        return super().forward(x)  # type: ignore[misc]

    def _calculate_qparams(self, min_val: torch.Tensor, max_val: torch.Tensor) -> Any:
        found = super()._calculate_qparams(min_val, max_val)  # type: ignore[misc]
        if not (self._step or self.constants) or not min_val <= max_val:
            return found
        is_symmetric = self.qscheme == torch.per_tensor_symmetric
        integers = self.quant_min, self.quant_max, is_symmetric
        ends = float(min_val), float(max_val)
        exact = exact_scale(integers, ends, self._step, self._ends, self.constants)
        return found if exact is None else tuple(map(torch.full_like, found, exact))


class _Headroom:
    """Mixin that widens an observed range by a share, for values missing in calibration data.

    If values are infinite, it adds a step at that end. Infinity then shares its step with no other
    value, so an argmax never points to a masked element.
    """

    quant_min: int
    quant_max: int

    def __init__(self, *, headroom: float = 0.0, **options: Any) -> None:
        super().__init__(**options)
        self.headroom = headroom
        self.is_endless = [False, False]

    def forward(self, x: torch.Tensor) -> Any:
        if x.numel():
            low, high = map(float, torch.aminmax(x.detach()))
            self.is_endless[0] |= low == -math.inf
            self.is_endless[1] |= high == math.inf
        return super().forward(x)  # type: ignore[misc]

    def _calculate_qparams(self, min_val: torch.Tensor, max_val: torch.Tensor) -> Any:
        room = 1.0 + self.headroom
        low, high = ((end * room).clamp(-_LARGEST, _LARGEST) for end in (min_val, max_val))
        span = high.clamp(min=0.0) - low.clamp(max=0.0)
        step = _INFINITE_STEPS * span / (self.quant_max - self.quant_min)
        below, above = self.is_endless
        return super()._calculate_qparams(  # type: ignore[misc]
            (low - below * step).clamp(min=-_LARGEST), (high + above * step).clamp(max=_LARGEST)
        )


class _Finite:
    """Mixin that ignores infinite values: on the device they saturate.

    Raises:
      NotANumber: a value is NaN, which no range holds.
    """

    def forward(self, x: torch.Tensor) -> Any:
        finite = x
        if x.numel() and not all(bool(torch.isfinite(end)) for end in torch.aminmax(x.detach())):
            if bool(torch.isnan(x).any()):
                raise NotANumber("a value is NaN")
            finite = x[torch.isfinite(x)]
        super().forward(finite)  # type: ignore[misc]
        return x


class Average(MinMaxObserver):  # type: ignore[misc]
    """Moving average of the minimum and maximum of each sample, or of each batch in training.

    It covers all values sharing the range, in any order.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._before: tuple[torch.Tensor, torch.Tensor] | None = None
        self._newest: tuple[torch.Tensor, torch.Tensor] | None = None

    def begin(self) -> None:
        """Begin the next sample: the following values belong to it."""
        if self.min_val <= self.max_val:  # not so before the first value
            self._before = self.min_val.clone(), self.max_val.clone()
        self._newest = None

    def forward(self, x: torch.Tensor) -> Any:
        if not x.numel():
            return x
        low, high = torch.aminmax(x.detach().to(self.min_val.dtype))
        if self._newest is not None:
            low, high = torch.minimum(low, self._newest[0]), torch.maximum(high, self._newest[1])
        self._newest = low, high
        for end, newest, before in zip(
            (self.min_val, self.max_val), self._newest, self._before or self._newest, strict=True
        ):
            end.copy_(before + _NEWEST * (newest - before))
        return x


def begin_sample(module: torch.nn.Module) -> None:
    """Begin the next sample for all observers in a module."""
    for observer in module.modules():
        if isinstance(observer, Average):
            observer.begin()


class MinMax(_Headroom, _OnGrid, _Finite, _Scaled, MinMaxObserver):  # type: ignore[misc]
    """Range from the smallest to the largest value."""


class MovingAverage(_Headroom, _OnGrid, _Finite, _Scaled, Average):
    """Range from moving averages of each sample's smallest and largest value."""


class Histogram(_Headroom, _OnGrid, _Scaled, FastHistogramObserver):
    """Range that clips outliers step by step while the error predicted by a histogram shrinks."""


class Percentile(_Headroom, _OnGrid, _Scaled, FastHistogramObserver):
    """Range without the outer 0.01 % of the values on either side."""

    def _non_linear_param_search(self) -> tuple[torch.Tensor, torch.Tensor]:
        cumulative = torch.cumsum(self.histogram.to(torch.float64), 0)
        outside = cumulative[-1] * (1.0 - _PERCENTILE / 100.0)
        first = int((cumulative <= outside).sum())
        last = int((cumulative < cumulative[-1] - outside).sum())
        width = (self.max_val - self.min_val) / self.bins
        return self.min_val + width * first, self.min_val + width * (last + 1)


class MeanSquaredError(_Headroom, _OnGrid, _Scaled, FastHistogramObserver):
    """Range with the smallest error according to a histogram, among ranges with any two ends.

    Values outside count with their distance to the range. Values inside count with the rounding of
    a step, zeros with none.
    """

    def _non_linear_param_search(self) -> tuple[torch.Tensor, torch.Tensor]:
        low, high = float(self.min_val), float(self.max_val)
        counts = self.histogram.to(torch.float64)
        width = (high - low) / self.bins
        centers = low + width * (torch.arange(self.bins, dtype=torch.float64) + 0.5)
        shrunk = torch.arange(_CANDIDATES, 0, -1, dtype=torch.float64) / _CANDIDATES
        lows, highs = min(low, 0.0) * shrunk, max(high, 0.0) * shrunk
        below, above = ((centers - end[:, None]) for end in (lows, highs))
        clipped_below = (counts * below.clamp(max=0.0).square()).sum(1)
        clipped_above = (counts * above.clamp(min=0.0).square()).sum(1)
        steps = (highs - lows[:, None]) / (self.quant_max - self.quant_min)
        rounded = (counts * (centers.abs() > width)).sum() * steps.square() / 12.0
        error = clipped_below[:, None] + clipped_above + rounded
        best = int(error.argmin())
        ends = lows[best // _CANDIDATES], highs[best % _CANDIDATES]
        return ends[0].to(torch.float32), ends[1].to(torch.float32)


class KnownRange(MinMaxObserver):  # type: ignore[misc]
    """Observer for functions with a known range, such as sigmoid.

    If the values take less than three quarters of the range, the scale is 1/n with the same zero
    point.

    Args:
      known_scale: of the whole range.
      known_zero_point: likewise.
      headroom: share of the observed values the finer scale leaves room for.
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
    """Observer with the finest scale 2^-n, n in [0, finest], that holds all values times
    2^spare_bits.
    """

    def __init__(self, *, finest: int, spare_bits: int, **options: Any) -> None:
        super().__init__(**options)
        self.finest, self.spare_bits = finest, spare_bits

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        scale, zero_point = super().calculate_qparams()
        holding = torch.log2(scale).ceil() + self.spare_bits
        return torch.exp2(holding.clamp(-self.finest, 0)), zero_point


class _CalibratesFirst(Average):
    """Range of all values while `calibrates`, then moving average of the batches' ranges.

    The average adapts fast enough for a few epochs. Learned values saturate in a range that lags.
    """

    calibrates = True

    def forward(self, x: torch.Tensor) -> Any:
        return MinMaxObserver.forward(self, x) if self.calibrates else super().forward(x)


class _InTraining(_Headroom, _OnGrid, _Finite, _Scaled, _CalibratesFirst):
    """Range of finite values, as _CalibratesFirst."""


class _Channels(_Scaled, MovingAveragePerChannelMinMaxObserver):  # type: ignore[misc]
    """Range of each channel: in training the latest one, else the first one.

    Args:
      constant: nothing changes the weights, as training does: they are looked at once.
    """

    def __init__(self, *, constant: bool, **options: Any) -> None:
        super().__init__(averaging_constant=1.0, **options)
        self.constant = constant

    def forward(self, x: torch.Tensor) -> Any:
        return x if self.constant and self.min_val.numel() else super().forward(x)


class _WidestChannel(_Channels):
    """Observer that gives every channel the scale of the widest one."""

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        scales, zero_points = super().calculate_qparams()
        return scales.max().expand_as(scales).clone(), zero_points


class _FakeQuantizer(FakeQuantize):  # type: ignore[misc]
    """Fake quantizer that only observes until training starts."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.disable_fake_quant()


OBSERVERS: dict[str, Any] = {
    "histogram": Histogram,
    "minmax": MinMax,
    "moving_average": MovingAverage,
    "mse": MeanSquaredError,
    "percentile": Percentile,
}
"""Observers of activations by their name in `lower`."""


def activation_observer(
    name: str, training: bool, headroom: float, constants: Sequence[float] = ()
) -> Any:
    """Return a constructor of an observer for a quantization spec; in training, of a fake
    quantizer.

    Args:
      name: of the observer.
      training: makes fake quantizers.
      headroom: share of the range reserved for values missing in calibration.
      constants: compared with the values.
    """
    observer = _InTraining if training else OBSERVERS[name]
    return _made(observer, training, headroom=headroom, constants=tuple(constants))


def known_observer(scale: float, zero_point: int, training: bool, headroom: float) -> Any:
    """Return a constructor of an observer for a value with a known range."""
    known = {"known_scale": scale, "known_zero_point": zero_point}
    return _made(KnownRange, training, headroom=headroom, **known)


def carried_observer(finest: int, spare_bits: int, training: bool) -> Any:
    """Return a constructor of an observer for a state inside of an op."""
    return _made(PowerOfTwo, training, finest=finest, spare_bits=spare_bits)


def weight_observer(axis: int, per_tensor: bool, training: bool) -> Any:
    """Return a constructor of an observer for weights, with channels in dimension `axis`."""
    kind = _WidestChannel if per_tensor else _Channels
    return _made(kind, training, ch_axis=axis, constant=not training)


def _made(observer: Any, training: bool, **options: Any) -> Any:
    if training:
        return _FakeQuantizer.with_args(observer=observer, eps=_EPSILON, **options)
    return observer.with_args(eps=_EPSILON, **options)
