# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::mul, declared in kernels/mul/mul.h."""

import math
from collections.abc import Mapping

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import (
    SUFFIXES,
    activation_dtype,
    activation_range,
    factor,
    requantize,
    zero_point,
)
from kernels.common.rows import broadcast_by_rows
from kernels.common.shapes import Broadcast, merged

_SHORT_WHOLE, _SHORT_ROW = 24, 36
"""Row length limits: from here on, one loop per row is faster than index computation.

The first is for rows of full vectors. The second is for other rows, with their tail in the same
loop. Both come from instruction counts times instruction cost.
"""

_LANES = 8
"""PL_MUL_LANES."""


@kernel("pl::mul")
def mul(call: OpCall, isa: Isa) -> KernelCall:
    dtype = activation_dtype(call, "a")
    multiplier, shift = factor(call, "multiplier", "shift")
    zero_points = [zero_point(call, f"{name}_zero_point", dtype) for name in "ab"]
    a, b = call.tensor("a", dtype), call.tensor("b", dtype)
    if isa == "mve" and a.size < b.size and _is_short(b.shape[-1]):
        a, b = b, a  # the operand without broadcast, for pl_mul_short_s8
        zero_points.reverse()
    broadcast = Broadcast.of(call, a, b)
    if broadcast.swapped:
        zero_points.reverse()
    output = call.output(dtype)
    activation = activation_range(call, dtype)
    fits = shift < 0 and (isa == "mve" or shift >= -20)
    if dtype == "int16":
        fits = fits and isa != "mve" and _alike_below(multiplier, shift, activation)
    down = fits and not call.small
    return KernelCall(
        function=_down(dtype, isa, broadcast) if down else f"pl_mul_{SUFFIXES[dtype]}",
        header="kernels/mul/mul.h" if dtype == "int8" else "kernels/mul/mul_s16.h",
        params={
            "a_zero_point": zero_points[0],
            "b_zero_point": zero_points[1],
            "output_zero_point": zero_point(call, "output_zero_point", dtype),
            "multiplier": multiplier,
            "shift": shift,
            **activation,
        },
        dims=broadcast.dims(),
        data={"a": broadcast.a, "b": broadcast.b, "output": output},
        in_place=broadcast.in_place(output),
        rows=broadcast_by_rows(broadcast, output),
    )


def _alike_below(multiplier: int, shift: int, activation: Mapping[str, int]) -> bool:
    """Return True if the products 2^30 and 2^30 - 1 give the same result.

    2^30 is the square of the least int16. This is nearly always so: one result is above all limits,
    or both are in the same output step.
    """
    least, most = activation["activation_min"], activation["activation_max"]
    results = (requantize(x, multiplier, shift) for x in (2**30, 2**30 - 1))
    return len({min(max(result, least), most) for result in results}) == 1


def _down(dtype: str, isa: Isa, broadcast: Broadcast) -> str:
    """Return the function for dividing factors. On cores with Helium two cases have their own.

    One is a single row, the most frequent case. The other is short rows of an operand that does not
    repeat.
    """
    if isa != "mve":
        return f"pl_mul_down_{SUFFIXES[dtype]}"
    if broadcast.is_flat:
        return "pl_mul_flat_s8"
    row = merged(broadcast.each)[-1].size
    repeats = broadcast.a.size < math.prod(dim.size for dim in broadcast.each)
    return "pl_mul_short_s8" if _is_short(row) and not repeats else "pl_mul_down_s8"


def _is_short(row: int) -> bool:
    return row < (_SHORT_ROW if row % _LANES else _SHORT_WHOLE)
