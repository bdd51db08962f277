# SPDX-License-Identifier: Apache-2.0
"""pl::add as TOSA: RESCALE of both operands, ADD or SUB, RESCALE.

The factor of the operand with the larger scale is 2^19 (int16: 2^14). If the other factor is one
RESCALE too, Vela makes one operation of it. The dialect rounds the other operand twice; one RESCALE
does not. The emitter tests all pairs of values with a differing rescale: the sums must be equal. If
they are not, it tries multipliers nearby. If these fail too, the operands are rescaled step by
step, like the dialect.

For int16 there are too many pairs. Therefore int16 calls are adapted: their factors lose the bits
of the second rounding, and are rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from aot.backends.ethos_u.block import INT32, OF_TORCH, TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.operands import aligned, bad_rank
from aot.backends.ethos_u.emitters.rescaling import requantized, span_of, too_large, widened
from aot.backends.ethos_u.tosa import TosaGraph
from aot.dialect.arithmetic import requantize
from aot.dialect.quantization import ACTIVATION_TYPES, Quantization, QuantizedType

_NEARBY = (0, *(sign << bit for bit in range(13) for sign in (1, -1)))
_KINDS = {OF_TORCH[dtype]: kind for dtype, kind in ACTIVATION_TYPES.items()}
_MOST_PAIRS = 1 << 22  # limit for the test


@dataclass(frozen=True)
class _Operand:
    """One side, with the sign of its multiplier taken off."""

    zero_point: int
    multiplier: int
    shift: int  # shift of the dialect
    left_shift: int
    kind: QuantizedType

    @property
    def tosa_shift(self) -> int:
        return 31 - self.shift - self.left_shift

    @property
    def factor(self) -> float:
        return math.ldexp(self.multiplier, -self.tosa_shift)

    def once(self) -> torch.Tensor:
        """Emit one RESCALE with DOUBLE_ROUND."""
        x = self._every_value()
        rounding = torch.full_like(x, 1 << (self.tosa_shift - 1))
        if self.tosa_shift > 31:
            rounding += torch.where(x >= 0, 1 << 30, -(1 << 30))
        return (x * self.multiplier + rounding) >> self.tosa_shift

    def twice(self, sign: int) -> torch.Tensor:
        """Emit two RESCALEs, rounded as in the dialect."""
        return requantize(
            self._every_value() << self.left_shift, sign * self.multiplier, self.shift
        )

    def _every_value(self) -> torch.Tensor:
        values = Quantization(1.0, type=self.kind).every_value()
        return values.to(torch.int64) - self.zero_point


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
    sides = (a_multiplier, a_shift), (b_multiplier, b_shift)
    factors = [math.ldexp(abs(m), left_shift + shift - 31) for m, shift in sides]
    largest = torch.tensor(sum(math.ceil(span_of(a) * factor) + 1 for factor in factors))
    return bad_rank(a, b) or too_large(largest, output_multiplier, output_shift)


def emit(
    graph: TosaGraph,
    a: TosaValue | torch.Tensor,
    b: TosaValue | torch.Tensor,
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
) -> TosaValue:
    sign = -1 if b_multiplier < 0 else 1
    values = aligned(graph, a, b)
    kind = _KINDS[values[0].dtype]
    operands = (
        _Operand(a_zero_point, a_multiplier, a_shift, left_shift, kind),
        _Operand(b_zero_point, abs(b_multiplier), b_shift, left_shift, kind),
    )
    combine = graph.sub if sign < 0 else graph.add
    for tried in _nearby(operands):
        if _same(tried, operands, sign, output_multiplier, output_shift):
            x, y = (_rescaled_once(graph, v, o) for v, o in zip(values, tried, strict=True))
            total = combine(x, y)
            break
    else:
        x = _rescaled_twice(graph, values[0], operands[0], 1)
        total = graph.add(x, _rescaled_twice(graph, values[1], operands[1], sign))
    limits = activation_min, activation_max
    scale = output_multiplier, output_shift
    dtype = values[0].dtype
    return requantized(graph, total, *scale, output_zero_point, *limits, dtype=dtype)


def _adapt(
    a: torch.Tensor,
    a_multiplier: int,
    a_shift: int,
    b_multiplier: int,
    b_shift: int,
    left_shift: int,
    output_shift: int,
    **_: Any,
) -> Mapping[str, Any]:
    if a.dtype is torch.int8:
        return {}
    fewer = 1 if b_multiplier < 0 else 0  # guard bits: then half a step is never left over
    return {
        **dict(zip(("a_multiplier", "a_shift"), _once(a_multiplier, a_shift), strict=True)),
        **dict(zip(("b_multiplier", "b_shift"), _once(b_multiplier, b_shift), strict=True)),
        "left_shift": left_shift - fewer,
        "output_shift": output_shift + fewer,
    }


def _once(multiplier: int, shift: int) -> tuple[int, int]:
    """Return the nearest factor that the dialect rounds once: odd, or a power of 2."""
    if shift > 0 or abs(multiplier) == 1 << 30:
        return multiplier, shift
    magnitude = (abs(multiplier) >> -shift) | 1
    return (magnitude if multiplier > 0 else -magnitude), 0


def _nearby(operands: tuple[_Operand, _Operand]) -> Iterator[tuple[_Operand, _Operand]]:
    """Yield the operands; the one with the smaller factor gets multipliers around its own."""
    a, b = operands
    for offset in _NEARBY:
        if a.factor < b.factor:
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
    """Return True if all sums equal the dialect's."""
    if any(not 2 <= o.tosa_shift <= 62 for o in tried):
        return False
    sides = [
        (t.once(), factor * o.twice(factor), factor)
        for t, o, factor in zip(tried, operands, (1, sign), strict=True)
    ]
    for (once, twice, factor), (other_once, other_twice, other) in (sides, sides[::-1]):
        rows = once != twice
        if int(rows.sum()) * len(other_once) > _MOST_PAIRS:
            return False
        sums = factor * once[rows][:, None] + other * other_once
        wanted = factor * twice[rows][:, None] + other * other_twice
        if not torch.equal(*(requantize(v, multiplier, shift) for v in (sums, wanted))):
            return False
    return True


def _rescaled_once(graph: TosaGraph, x: TosaValue, operand: _Operand) -> TosaValue:
    scale = operand.multiplier, operand.tosa_shift
    zero_point = operand.zero_point
    return graph.rescale(x, *scale, INT32, input_zero_point=zero_point, double_round=True)


def _rescaled_twice(graph: TosaGraph, x: TosaValue, operand: _Operand, sign: int) -> TosaValue:
    bits = graph.constant(torch.full((1,) * len(x.shape), operand.left_shift), INT32)
    wide = graph.shift_left(widened(graph, x, operand.zero_point), bits)
    if sign < 0:
        wide = graph.sub(graph.constant(torch.zeros((1,) * len(wide.shape)), INT32), wide)
    return graph.rescale(wide, operand.multiplier, 31 - operand.shift, INT32, double_round=True)


EMITTER = Emitter(emit, reject, adapt=_adapt)
