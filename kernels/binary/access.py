# SPDX-License-Identifier: Apache-2.0
"""Access maps of elementwise ops of two operands: memory read and written by a call."""

from kernels.common.access import Access, Extent
from kernels.common.access_forms import INT8, INT16, SHIFT, two_operands, within

_ZERO_POINTS = within("a_zero_point b_zero_point output_zero_point", *INT8)
_STAGE = (*within("activation_min activation_max", *INT8), *within("shift", *SHIFT))
_STAGE_S16 = (*within("activation_min activation_max", *INT16), *within("shift", *SHIFT))
# The largest product is an int32.
_ONE = ("one >= 0 and (127 - a_zero_point) * one <= 65535 * 32768",)


def _s8(*arithmetic: str, table: int = 0) -> Access:
    compared = Extent(str(table), 2) if table else None
    return two_operands("kernels/binary/binary.h", 1, *arithmetic, table=compared)


def _s16(*arithmetic: str) -> Access:
    return two_operands("kernels/binary/binary_s16.h", 2, *arithmetic)


_COMPARE_S16 = two_operands("kernels/binary/binary_s16.h", 2, result=1, factors=Extent("2", 4))

ACCESS: dict[str, Access] = {
    "pl_maximum_s8": _s8(),
    "pl_minimum_s8": _s8(),
    "pl_less_s8": _s8(table=256),
    "pl_equal_s8": _s8(table=256),
    "pl_div_s8": _s8(*_ZERO_POINTS, *_STAGE),
    "pl_prelu_s8": _s8(*_ZERO_POINTS, *_STAGE, *_ONE),
    "pl_prelu_down_s8": _s8(*_ZERO_POINTS, *_STAGE, *_ONE, *within("shift", -20, -1)),
    "pl_maximum_s16": _s16(),
    "pl_minimum_s16": _s16(),
    "pl_less_s16": _COMPARE_S16,
    "pl_equal_s16": _COMPARE_S16,
    "pl_div_s16": _s16(*_STAGE_S16),
    "pl_prelu_s16": _s16(*_STAGE_S16),
}
