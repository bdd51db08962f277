# SPDX-License-Identifier: Apache-2.0
"""Access maps of sums: memory read and written by a call."""

from dataclasses import replace

from kernels.common.access import LONG, Access, Extent
from kernels.common.access_forms import FIRST_GOES, INT8, INT16, SHIFT, two_operands, within

_ACTIVATION = within("activation_min activation_max", *INT8)
_ADD = two_operands(
    "kernels/add/add.h",
    1,
    *_ACTIVATION,
    *within("a.zero_point b.zero_point output.zero_point", *INT8),
    *within("left_shift", 0, 22),
    *within("a.shift b.shift output.shift", *SHIFT),
    # The sum of two differences of 9 bits with these shifts is below 2^31.
    "left_shift + a.shift <= 22 and left_shift + b.shift <= 22",
    needs=FIRST_GOES,
)
# Excludes -2^31, whose negative saturates to 2^31 - 1.
_ADD_DOWN_MULTIPLIERS = (
    "0 - a.multiplier + a.multiplier == 0 and 0 - b.multiplier + b.multiplier == 0",
)
_ADD_DOWN = replace(
    _ADD,
    arithmetic=(
        *_ADD.arithmetic,
        "a.shift < 0 or a.shift == 0 and left_shift <= 21",
        "b.shift < 0 or b.shift == 0 and left_shift <= 21",
        *_ADD_DOWN_MULTIPLIERS,
        *within("output.shift", -20, -1),
    ),
)
_ACTIVATION_S16 = within("activation_min activation_max", *INT16)
_HALF = "32768 * 32768"
_ADD_S16 = two_operands(
    "kernels/add/add_s16.h",
    2,
    *_ACTIVATION_S16,
    *within("left_shift", 0, 15),
    *within("a.shift b.shift output.shift", *SHIFT),
    "left_shift + a.shift <= 15 and left_shift + b.shift <= 15",
    # The sum of two of 2^30 is above 2^31 - 1; of -2^30 it is not below -2^31.
    "a.multiplier >= 0 or b.multiplier >= 0 or left_shift + a.shift <= 14",
    needs=FIRST_GOES,
)
_ADD_DOWN_S16 = replace(
    _ADD_S16,
    arithmetic=(
        *_ADD_S16.arithmetic,
        *(
            f"{x}.shift < 0 or {x}.shift == 0 and left_shift >= 1 and "
            f"({x}.multiplier == {_HALF} or {x}.multiplier + {_HALF} == 0)"
            for x in "ab"
        ),
        *_ADD_DOWN_MULTIPLIERS,
        *within("output.shift", -20, -1),
    ),
)
_FLAT = "product(size) == size[4]"

ACCESS: dict[str, Access] = {
    "pl_add_lines_s8": Access(
        "kernels/add/add_lines.h",
        {"size": (1, LONG)},
        {"a": Extent("size"), "b": Extent("size")},
        {"output": Extent("size")},
        arithmetic=(
            *_ACTIVATION,
            *within("a_slope b_slope", -(2**22), 2**22),
            "start + 16384 * 32768 >= 0 and start <= 16384 * 32768",
        ),
    ),
    "pl_add_s8": _ADD,
    "pl_add_down_s8": _ADD_DOWN,
    "pl_add_flat_s8": replace(_ADD_DOWN, needs=(*_ADD_DOWN.needs, _FLAT)),
    # Same as with pl_mul_short_s8.
    "pl_add_short_s8": replace(
        _ADD_DOWN,
        reads={**_ADD.reads, "a": Extent("product(size)")},
        needs=(*_ADD_DOWN.needs, "size[4] < 24", "size[4] > 1 or size[3] == 1"),
    ),
    "pl_add_s16": _ADD_S16,
    "pl_add_down_s16": _ADD_DOWN_S16,
}
