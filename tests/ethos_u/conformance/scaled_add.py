# SPDX-License-Identifier: Apache-2.0
"""Quantized additions in TOSA in the form that Vela turns into one operation.

Both operands are rescaled to 32 bits, added, and rescaled to their old type. The larger operand's
scale may be a power of two: 2^19 with 8 bits and 2^14 with 16. The NPU then shifts it and scales
the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import tosa_serializer as ts

SHAPE = (1, 16, 64, 64)  # as many elements as pairs of 8-bit numbers
_LEFT_SHIFT = {8: 19, 16: 14}


@dataclass(frozen=True)
class ScaledAdd:
    """An addition, or a subtraction: of x and y, to z."""

    bits: int
    subtract: bool
    scales: tuple[float, float, float]  # of x, y, z
    zero_points: tuple[int, int, int]
    double: tuple[bool, bool, bool]  # rounding: DOUBLE_ROUND, not SINGLE_ROUND


def _multiplier_and_shift(scale: float) -> tuple[int, int]:
    mantissa, exponent = math.frexp(scale)
    multiplier = round(mantissa * 2**31)
    return (multiplier, 31 - exponent) if multiplier < 2**31 else (2**30, 30 - exponent)


class _Graph:
    def __init__(self) -> None:
        self.serializer = ts.TosaSerializer(
            "", targetMajor=1, targetMinor=0, targetPatch=0, targetDraft=False
        )
        self.block = self.serializer.currRegion.currBasicBlock
        self.count = 0

    def _name(self) -> str:
        self.count += 1
        return f"tensor_{self.count}"

    def input(self, dtype: int) -> str:
        name = self._name()
        self.serializer.addInputTensor(ts.TosaSerializerTensor(name, list(SHAPE), dtype, data=None))
        return name

    def _constant(self, value: int, dtype: int, numpy_type: str) -> str:
        name = self._name()
        self.serializer.addConst([1], dtype, np.array([value], numpy_type), name=name)
        return name

    def operator(self, op: int, inputs: list[str], dtype: int, attribute: object) -> str:
        name = self._name()
        self.block.addTensor(name, list(SHAPE), dtype)
        self.serializer.addOperator(op, inputs=inputs, outputs=[name], attributes=attribute)
        return name

    def rescale(
        self,
        value: str,
        scale: float,
        double: bool,
        types: tuple[tuple[int, str], tuple[int, str]],
        zero_points: tuple[int, int],
    ) -> str:
        """Return a RESCALE; `types` are those of input and output, for TOSA and for numpy."""
        multiplier, shift = _multiplier_and_shift(scale)
        attribute = ts.TosaSerializerAttribute()
        attribute.RescaleAttribute(
            scale32=True,
            rounding_mode=ts.RoundingMode.DOUBLE_ROUND if double else ts.RoundingMode.SINGLE_ROUND,
            per_channel=False,
            input_unsigned=False,
            output_unsigned=False,
        )
        inputs = [
            value,
            self._constant(multiplier, ts.DType.INT32, "i4"),
            self._constant(shift, ts.DType.INT8, "i1"),
            *(self._constant(z, *t) for z, t in zip(zero_points, types, strict=True)),
        ]
        return self.operator(ts.Op.RESCALE, inputs, types[1][0], attribute)


def tosa(add: ScaledAdd) -> bytes:
    """Return the flatbuffer of an addition: two inputs, one output."""
    graph = _Graph()
    narrow = (ts.DType.INT8, "i1") if add.bits == 8 else (ts.DType.INT16, "i2")
    wide = (ts.DType.INT32, "i4")
    unit = max(add.scales[:2]) / 2 ** _LEFT_SHIFT[add.bits]  # of the sum
    inputs = [graph.input(narrow[0]) for _ in range(2)]
    operands = [
        graph.rescale(value, scale / unit, double, (narrow, wide), (zero_point, 0))
        for value, scale, zero_point, double in zip(
            inputs, add.scales[:2], add.zero_points[:2], add.double[:2], strict=True
        )
    ]
    attribute = ts.TosaSerializerAttribute()
    if add.subtract:
        attribute.SubAttribute()
    else:
        attribute.AddAttribute()
    total = graph.operator(
        ts.Op.SUB if add.subtract else ts.Op.ADD, operands, ts.DType.INT32, attribute
    )
    result = graph.rescale(
        total, unit / add.scales[2], add.double[2], (wide, narrow), (0, add.zero_points[2])
    )
    graph.block.addOutput(result)
    return bytes(graph.serializer.serialize())
