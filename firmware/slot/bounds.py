# SPDX-License-Identifier: Apache-2.0
"""What memory a kernel's call touches, for the kernels that packages may use.

A package is data that somebody else made, and kernels believe their params and dims. So firmware
with a slot computes from them, before a model runs, how much of each operand a call reads and
writes, and whether that is inside. This says it for each kernel once, in expressions that become
code for it (bounds_code.py) and that a test compares with the operands of every case of the
kernels.

In an expression the names are those of dims and params; `a // b` and `a % b` have a `b` of at least
1. All is computed, also what a condition does not choose, in 32 bits; what overflows is more than
any memory has.
"""

from firmware.slot.bounds_recurrent import BOUNDS_RECURRENT
from firmware.slot.bounds_s8 import BOUNDS_S8
from firmware.slot.bounds_s16 import BOUNDS_S16
from firmware.slot.bounds_two import BOUNDS_TWO
from firmware.slot.extents import LONG, Bounds, Extent, sizes


def _copy(size: int) -> Bounds:
    """A copy of elements in nested loops: transpose, slice, a part of a concatenation."""
    return Bounds(
        "kernels/strided_copy/strided_copy.h",
        {
            "size": (1, LONG),
            "input_stride": (0, LONG),
            "output_stride": (0, LONG),
            "input_offset": (0, LONG),
            "output_offset": (0, LONG),
        },
        {"input": Extent("input_offset + span(size, input_stride)", size)},
        {"output": Extent("output_offset + span(size, output_stride)", size)},
        has_params=False,
    )


_CAT = Bounds(
    "kernels/cat/cat.h",
    sizes("inputs outer output_step", LONG),
    {},
    {"output": Extent("outer * output_step")},
    pieces="inputs",
    has_params=False,
)

BOUNDS: dict[str, Bounds] = {
    **BOUNDS_S8,
    **BOUNDS_S16,
    **BOUNDS_RECURRENT,
    **BOUNDS_TWO,
    "pl_cat_x8": _CAT,
    "pl_strided_copy_x8": _copy(1),
    "pl_strided_copy_x16": _copy(2),
    "pl_strided_copy_x32": _copy(4),
}
