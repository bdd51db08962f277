# SPDX-License-Identifier: Apache-2.0
"""pl::add: RESCALE of both operands, ADD or SUB, RESCALE.

Where one operand's factor is 2^19, as it is of the larger scale, and the other's is one RESCALE
too, Vela makes one operation of it. The dialect rounds the other operand twice, which one RESCALE
does not; that this comes to the same in the end is tried for all pairs of values. Where it does
not, another multiplier nearby may do; else the operands are rescaled as the dialect says, step by
step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.operands import aligned, bad_rank
from aot.backends.ethos_u.emitters.rescaling import requantized, too_large
from aot.backends.ethos_u.tosa import INT32, TosaGraph, Value
from aot.dialect.arithmetic import requantize
from aot.dialect.quantization import INT8, Quantization

_NEARBY = (0, 1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 64, -64)
_SPAN = 255
_EVERY_VALUE = Quantization(1.0, type=INT8).every_value().to(torch.int64)


@dataclass(frozen=True)
class _Operand:
    """One side, with the sign of its multiplier taken off."""

    zero_point: int
    multiplier: int
    shift: int  # of the dialect
    left_shift: int

    @property
    def tosa_shift(self) -> int:
        return 31 - self.shift - self.left_shift

    def once(self) -> torch.Tensor:
        """Every value by one RESCALE with DOUBLE_ROUND."""
        x = _EVERY_VALUE - self.zero_point
        rounding = torch.full_like(x, 1 << (self.tosa_shift - 1))
        if self.tosa_shift > 31:
            rounding += torch.where(x >= 0, 1 << 30, -(1 << 30))
        return (x * self.multiplier + rounding) >> self.tosa_shift

    def twice(self, sign: int) -> torch.Tensor:
        """Every value as the dialect has it."""
        x = (_EVERY_VALUE - self.zero_point) << self.left_shift
        return requantize(x, sign * self.multiplier, self.shift)


def reject(
    a: torch.Tensor,
    b: torch.Tensor,
    a_multiplier: int,
    a_shift: int,
    b_multiplier: int,
    b_shift: int,
    left_shift: int,
    output_multiplier: int,
    output_shift: int,
    **_: int,
) -> str:
    if a_multiplier < 0:
        return "its first operand is subtracted"
    if max(a_shift, b_shift) + left_shift > 29 or min(a_shift, b_shift) + left_shift < -31:
        return "a scale of its operands is out of TOSA's range"
    largest = torch.tensor(2 * _SPAN << max(0, left_shift + max(a_shift, b_shift)))
    return bad_rank(a, b) or too_large(largest, output_multiplier, output_shift)


def emit(
    graph: TosaGraph,
    a: Value | torch.Tensor,
    b: Value | torch.Tensor,
    a_zero_point: int,
    a_multiplier: int,
    a_shift: int,
    b_zero_point: int,
    b_multiplier: int,
    b_shift: int,
    left_shift: int,
    output_zero_point: int,
    output_multiplier: int,
    output_shift: int,
    activation_min: int,
    activation_max: int,
) -> Value:
    sign = -1 if b_multiplier < 0 else 1
    operands = (
        _Operand(a_zero_point, a_multiplier, a_shift, left_shift),
        _Operand(b_zero_point, abs(b_multiplier), b_shift, left_shift),
    )
    combine = graph.sub if sign < 0 else graph.add
    values = aligned(graph, a, b)
    for tried in _nearby(operands):
        if _same(tried, operands, sign, output_multiplier, output_shift):
            x, y = (_rescaled_once(graph, v, o) for v, o in zip(values, tried, strict=True))
            total = combine(x, y)
            break
    else:
        x = _rescaled_twice(graph, values[0], operands[0], 1)
        total = graph.add(x, _rescaled_twice(graph, values[1], operands[1], sign))
    limits = activation_min, activation_max
    return requantized(graph, total, output_multiplier, output_shift, output_zero_point, *limits)


def _nearby(operands: tuple[_Operand, _Operand]) -> Iterator[tuple[_Operand, _Operand]]:
    """The operands, the one of the smaller scale with multipliers around its own."""
    a, b = operands
    for offset in _NEARBY:
        if a.tosa_shift > b.tosa_shift or (a.multiplier, a.shift) < (b.multiplier, b.shift):
            yield replace(a, multiplier=max(0, a.multiplier + offset)), b
        else:
            yield a, replace(b, multiplier=max(0, b.multiplier + offset))


def _same(
    tried: tuple[_Operand, _Operand],
    operands: tuple[_Operand, _Operand],
    sign: int,
    multiplier: int,
    shift: int,
) -> bool:
    """Whether all sums come out as the dialect's."""
    if any(not 2 <= o.tosa_shift <= 62 for o in tried):
        return False
    once = tried[0].once()[:, None] + sign * tried[1].once()
    twice = operands[0].twice(1)[:, None] + operands[1].twice(sign)
    return torch.equal(requantize(once, multiplier, shift), requantize(twice, multiplier, shift))


def _rescaled_once(graph: TosaGraph, x: Value, operand: _Operand) -> Value:
    scale = operand.multiplier, operand.tosa_shift
    zero_point = operand.zero_point
    return graph.rescale(x, *scale, INT32, input_zero_point=zero_point, double_round=True)


def _rescaled_twice(graph: TosaGraph, x: Value, operand: _Operand, sign: int) -> Value:
    shifted = 1 << 30, 30 - operand.left_shift
    wide = graph.rescale(x, *shifted, INT32, input_zero_point=operand.zero_point)
    if sign < 0:
        wide = graph.sub(graph.constant([0] * 1, INT32), wide)
    return graph.rescale(wide, operand.multiplier, 31 - operand.shift, INT32, double_round=True)


EMITTER = Emitter(emit, reject)
