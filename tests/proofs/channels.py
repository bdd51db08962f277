# SPDX-License-Identifier: Apache-2.0
"""Requantizations of a model: factors of output channels and the ranges of their sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aot.plan.pte import read_program
from kernels.common.kernel import AnyArray, OpCall

# Layers with weights. The axis of the output channels in the weights follows.
LAYERS = {"pl::conv2d": 0, "pl::linear": 0, "pl::depthwise_conv2d": -1}
_INT8 = np.array([-128, 127])


@dataclass(frozen=True)
class Channel:
    """One factor, the zero point of its results, and the sums of all channels that have it."""

    multiplier: int
    shift: int
    zero_point: int
    low: int
    high: int

    @property
    def right(self) -> int | None:
        """The shift of pl_requantize_down, or None if a kernel does not call it for this layer."""
        right = -self.shift - 1
        most = max(abs(self.low), abs(self.high))
        return right if 0 <= right < 20 and self.multiplier >= 0 and most < 1 << 30 else None


def channels_of(pte: bytes) -> list[Channel]:
    """Return the channels of all int8 layers with weights; equal factors once."""
    found: dict[tuple[int, int, int], tuple[int, int]] = {}
    for call in read_program(pte).calls:
        if call.op in LAYERS and call.tensor("input").dtype == "int8":
            for key, (low, high) in _layer(call):
                least, most = found.get(key, (low, high))
                found[key] = min(least, low), max(most, high)
    return [Channel(*key, *sums) for key, sums in sorted(found.items())]


def _layer(call: OpCall) -> list[tuple[tuple[int, int, int], tuple[int, int]]]:
    weight = np.moveaxis(call.constant("weight", "int8"), LAYERS[call.op], 0).astype(np.int64)
    matrix = weight.reshape(len(weight), -1)
    low, high = sums(matrix, call.constant("bias", "int32"), call.integer("input_zero_point"))
    multiplier, shift = call.constant("multiplier", "int32"), call.constant("shift", "int32")
    zero_point = call.integer("output_zero_point")
    return [
        ((int(multiplier[o]), int(shift[o]), zero_point), (int(low[o]), int(high[o])))
        for o in range(len(matrix))
    ]


def sums(weight: AnyArray, bias: AnyArray, zero_point: int) -> tuple[AnyArray, AnyArray]:
    """Return the least and the largest sum of each channel, over all int8 inputs."""
    terms = weight[..., np.newaxis] * (_INT8 - zero_point)
    return bias + terms.min(axis=-1).sum(axis=1), bias + terms.max(axis=-1).sum(axis=1)
