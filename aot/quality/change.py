# SPDX-License-Identifier: Apache-2.0
"""A change of a quantized model that is tried without lowering it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

from aot.dialect.quantization import INT16, Quantization
from aot.dialect.rule import HEADROOM_INT16

Rounding = Callable[[torch.Tensor], torch.Tensor]
"""Float weights to those that a device has."""


@dataclass(frozen=True)
class Change:
    """What is other than in the quantized graph; values are named as in the float graph.

    Attributes:
      wide: values that are int16 in place of int8. What stays int8 and reads them rounds them.
      floats: likewise, that stay in float, as the weights of their ops.
      ranges: of values that are wide, what they hold beside what they did before.
      other: quantizations that take the place of some.
      weights: how to round the weights of some layers.
    """

    wide: frozenset[str] = frozenset()
    floats: frozenset[str] = frozenset()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    other: Mapping[Quantization, Quantization] = field(default_factory=dict)
    weights: Mapping[str, Rounding] = field(default_factory=dict)

    @property
    def changed(self) -> frozenset[str]:
        """The values that are no longer int8."""
        return self.wide | self.floats

    def widened(self, name: str, quantization: Quantization) -> Quantization:
        """The int16 quantization of a value that had another."""
        q = quantization
        steps = max(q.zero_point - q.type.quant_min, q.type.quant_max - q.zero_point)
        low, high = self.ranges.get(name, (0.0, 0.0))
        room = 1.0 if q.type is INT16 else 1.0 + HEADROOM_INT16
        return Quantization(max(q.scale * steps, -low, high) * room / INT16.quant_max, 0, INT16)


NO_CHANGE = Change()
