# SPDX-License-Identifier: Apache-2.0
"""Access maps of transposes and slices: memory read and written by a call."""

from kernels.common.access import ANY, LONG, Access, Extent


def _copy(size: int) -> Access:
    """Return a copy of elements in nested loops."""
    return Access(
        "kernels/strided_copy/strided_copy.h",
        {
            "size": (1, LONG),
            "input_stride": ANY,
            "output_stride": (0, LONG),
            "input_offset": (0, LONG),
            "output_offset": (0, LONG),
        },
        {"input": Extent("input_offset + span(size, input_stride)", size)},
        {"output": Extent("output_offset + span(size, output_stride)", size)},
        needs=("below(size, input_stride) <= input_offset",),
        has_params=False,
    )


ACCESS: dict[str, Access] = {f"pl_strided_copy_x{8 * size}": _copy(size) for size in (1, 2, 4)}
