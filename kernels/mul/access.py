# SPDX-License-Identifier: Apache-2.0
"""Access maps of products: memory read and written by a call."""

from dataclasses import replace

from kernels.common.access import Access, Extent
from kernels.common.access_forms import FIRST_GOES, INT8, INT16, SHIFT, two_operands, within

_ACTIVATION = within("activation_min activation_max", *INT8)
_ACTIVATION_S16 = within("activation_min activation_max", *INT16)
_MUL = two_operands(
    "kernels/mul/mul.h",
    1,
    *_ACTIVATION,
    *within("a_zero_point b_zero_point output_zero_point", *INT8),
    *within("shift", *SHIFT),
    needs=FIRST_GOES,
)
_MUL_DOWN = replace(
    _MUL, arithmetic=(*_MUL.arithmetic, "shift < 0 and (shift + 20 >= 0 or block == 1)")
)
_FLAT = "product(size) == size[4]"

ACCESS: dict[str, Access] = {
    "pl_mul_s8": _MUL,
    "pl_mul_down_s8": _MUL_DOWN,
    "pl_mul_flat_s8": replace(_MUL_DOWN, needs=(*_MUL_DOWN.needs, _FLAT)),
    # The division by a reciprocal of 16 bits is one for more than one column.
    "pl_mul_short_s8": replace(
        _MUL_DOWN,
        reads={**_MUL.reads, "a": Extent("product(size)")},
        needs=(*_MUL_DOWN.needs, "size[4] < 36", "size[4] > 1 or size[3] == 1"),
    ),
    "pl_mul_s16": two_operands(
        "kernels/mul/mul_s16.h", 2, *_ACTIVATION_S16, *within("shift", *SHIFT), needs=FIRST_GOES
    ),
    "pl_mul_down_s16": two_operands(
        "kernels/mul/mul_s16.h", 2, *_ACTIVATION_S16, *within("shift", -20, -1), needs=FIRST_GOES
    ),
}
