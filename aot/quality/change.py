# SPDX-License-Identifier: Apache-2.0
"""Changes of a quantized graph that can be tried without lowering again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

from aot.dialect.quantization import INT16, Quantization
from aot.dialect.rule import HEADROOM_INT16

Rounding = Callable[[torch.Tensor], torch.Tensor]
"""Function from float weights to the weights on a device."""


@dataclass(frozen=True)
class Change:
    """Differences from the quantized graph, by names of values in the float graph.

    Attributes:
      wide: int16 values instead of int8. int8 readers of them round them.
      floats: values kept in float, with the weights of their ops.
      unrounded: values that are not rounded, with the weights as they are.
      ranges: of wide values, additional values they have to hold.
      other: replacements for some quantizations.
      weights: rounding of the weights of some layers.
    """

    wide: frozenset[str] = frozenset()
    floats: frozenset[str] = frozenset()
    unrounded: frozenset[str] = frozenset()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    other: Mapping[Quantization, Quantization] = field(default_factory=dict)
    weights: Mapping[str, Rounding] = field(default_factory=dict)

    @property
    def changed(self) -> frozenset[str]:
        """Return the values without int8."""
        return self.wide | self.floats | self.unrounded

    def widened(self, name: str, quantization: Quantization) -> Quantization:
        """Return a value's new quantization in int16."""
        q = quantization
        steps = max(q.zero_point - q.type.quant_min, q.type.quant_max - q.zero_point)
        low, high = self.ranges.get(name, (0.0, 0.0))
        room = 1.0 if q.type is INT16 else 1.0 + HEADROOM_INT16
        return Quantization(max(q.scale * steps, -low, high) * room / INT16.quant_max, 0, INT16)


NO_CHANGE = Change()
