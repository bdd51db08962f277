# SPDX-License-Identifier: Apache-2.0
"""Memory accessed by a kernel's call, for the kernels available to packages.

A package is data from another party, and kernels trust their params and dims. Firmware with a slot
therefore computes, before a model runs, how much of each operand a call reads and writes. It checks
that this is inside.

This module defines it once for each kernel, in expressions compiled to code (bounds_code.py). A
test compares them with the operands of every case of the kernels.

Names in an expression are those of dims and params. `a // b` and `a % b` have a `b` of at least 1.
All parts are computed, including the branch not taken by a condition, in 32 bits. An overflow is
more than any memory has.
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
