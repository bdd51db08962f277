# SPDX-License-Identifier: Apache-2.0
"""Quantization of real numbers: scale, zero point, and the limits of a type.

All code from the quantizer to the verifier uses this module for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch


@dataclass(frozen=True)
class QuantizedType:
    """An integer type for quantized real numbers.

    Attributes:
      dtype: of the integers.
      quant_min: the smallest used integer.
      quant_max: the largest.
      symmetric: the zero point is 0.
    """

    dtype: torch.dtype
    quant_min: int
    quant_max: int
    symmetric: bool = False

    def __str__(self) -> str:
        return str(self.dtype).removeprefix("torch.")


INT8 = QuantizedType(torch.int8, -128, 127)
INT16 = QuantizedType(torch.int16, -32768, 32767, symmetric=True)
INT8_WEIGHT = QuantizedType(torch.int8, -127, 127, symmetric=True)
INT4_WEIGHT = QuantizedType(torch.int8, -7, 7, symmetric=True)
MAX_GROUP_SCALE = 127
_GROUPED = MAX_GROUP_SCALE * INT4_WEIGHT.quant_max
INT4_GROUPS_WEIGHT = QuantizedType(torch.int16, -_GROUPED, _GROUPED, symmetric=True)
"""Four bits times the scale of a group of weights, in steps of the output channel."""

WEIGHT_TYPES = {kind.quant_max: kind for kind in (INT8_WEIGHT, INT4_WEIGHT, INT4_GROUPS_WEIGHT)}

ACTIVATION_TYPES = {kind.dtype: kind for kind in (INT8, INT16)}
ACTIVATIONS = tuple(ACTIVATION_TYPES)
"""Dtypes of activations, for an op with either. All activations of a call and its result have the
same.
"""


@dataclass(frozen=True)
class Quantization:
    """An activation's quantization: the integer q stands for scale * (q - zero_point).

    Attributes:
      scale: finite, above 0.
      zero_point: a value of the type.
      type: of the integers.
      whole: the values are integers of the model, not reals: each is exact. Two quantizations of
        the same numbers are equal either way.
    """

    scale: float
    zero_point: int = 0
    type: QuantizedType = INT8
    whole: bool = field(default=False, compare=False)

    @property
    def problem(self) -> str:
        """Return the violation of its type's limits; "" if there is none."""
        kind = self.type
        if not 0.0 < self.scale < math.inf:
            return f"a scale of {self.scale}"
        if not kind.quant_min <= self.zero_point <= kind.quant_max:
            return f"zero_point {self.zero_point}, not in [{kind.quant_min}, {kind.quant_max}]"
        if kind.symmetric and self.zero_point != 0:
            return f"zero_point {self.zero_point}, but {kind.dtype} is symmetric"
        if self.whole and self not in WHOLE_NUMBERS.values():
            return f"whole numbers, but a scale of {self.scale} and zero_point {self.zero_point}"
        return ""

    @property
    def span(self) -> int:
        """The largest |q - q'| of two values, hence of q - zero_point."""
        return self.type.quant_max - self.type.quant_min

    @property
    def ends(self) -> tuple[float, float]:
        """Return the least and the greatest real number of the quantization."""
        lowest, highest = (q - self.zero_point for q in (self.type.quant_min, self.type.quant_max))
        return self.scale * lowest, self.scale * highest

    def nearest(self, value: float) -> int:
        """Return the integer nearest to a real value, saturated."""
        steps = value / self.scale
        if math.isinf(steps):
            return self.type.quant_max if steps > 0 else self.type.quant_min
        q = round(steps) + self.zero_point
        return min(self.type.quant_max, max(self.type.quant_min, q))

    def limits(self, minimum: float | None, maximum: float | None) -> tuple[int, int]:
        """Return the integers within a clamp to [minimum, maximum]; None is open."""
        return (
            self.type.quant_min if minimum is None else self.nearest(minimum),
            self.type.quant_max if maximum is None else self.nearest(maximum),
        )

    def every_value(self) -> torch.Tensor:
        """Return every integer of the type in order."""
        return torch.arange(self.type.quant_min, self.type.quant_max + 1, dtype=self.type.dtype)

    def quantize(self, values: torch.Tensor) -> torch.Tensor:
        """Return saturate(rint(x * (1 / scale)) + zero_point) in float32, ties to even.

        NaN becomes zero_point. The reciprocal is taken in float32, like torch's
        quantize_per_tensor.
        """
        kind = self.type
        far = 2.0 * (self.span + 1)  # saturates whatever the zero point, and is exact in float32
        inverse = torch.tensor(1.0, dtype=torch.float32) / torch.tensor(
            self.scale, dtype=torch.float32
        )
        rounded = torch.round(values * inverse).nan_to_num(nan=0.0).clamp(-far, far)
        return (rounded + self.zero_point).clamp(kind.quant_min, kind.quant_max).to(kind.dtype)

    def dequantize(self, q: torch.Tensor) -> torch.Tensor:
        """Return (q - zero_point) * scale in float32."""
        return (q.to(torch.int32) - self.zero_point).to(torch.float32) * torch.tensor(
            self.scale, dtype=torch.float32
        )


WHOLE_NUMBERS = {
    torch.uint8: Quantization(1.0, INT8.quant_min, INT8, whole=True),
    torch.int8: Quantization(1.0, 0, INT8, whole=True),
    torch.int16: Quantization(1.0, 0, INT16, whole=True),
}
"""Quantization of integer inputs on the device, by dtype: each number is kept exactly."""


@dataclass(frozen=True, eq=False)
class ChannelQuantization:
    """Quantization of a weight: the value is scales[c] * q, with c the index in dimension `axis`.

    Attributes:
      scales: float64 [channels].
      axis: of the channels.
      type: symmetric.
    """

    scales: torch.Tensor
    axis: int = 0
    type: QuantizedType = INT8_WEIGHT

    def scales_like(self, values: torch.Tensor) -> torch.Tensor:
        """Return the scale of each of a weight's integers."""
        shape = [-1 if d == self.axis else 1 for d in range(values.dim())]
        return self.scales.reshape(shape).expand(values.shape)
