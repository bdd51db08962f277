# SPDX-License-Identifier: Apache-2.0
"""Access maps of batched matrix products: memory read and written by a call."""

from dataclasses import replace

from kernels.common.access import LONG, Access, Extent
from kernels.common.access_forms import INT8, INT16, SHIFT, sizes, within

_BATCHES = {"batch.size": (1, LONG), "batch.a_stride": (0, LONG), "batch.b_stride": (0, LONG)}
_A = "span(batch.size, batch.a_stride) + (rows - 1) * a_row_stride + depth - 1"
_B = (
    "span(batch.size, batch.b_stride) + (depth - 1) * b_depth_stride"
    " + (columns - 1) * b_column_stride"
)


def _bmm(size: int, header: str, scratch: str, *arithmetic: str) -> Access:
    return Access(
        header,
        {
            **_BATCHES,
            **sizes("rows depth columns"),
            **sizes("a_row_stride b_depth_stride b_column_stride", LONG, 0),
        },
        {"a": Extent(_A, size), "b": Extent(_B, size)},
        {"output": Extent("product(batch.size) * rows * columns", size)},
        scratch=scratch,
        needs=("batch.size[4] == 1",),
        arithmetic=arithmetic,
    )


# Columns are packed as int8 on cores with Helium, unless they are contiguous; elsewhere as int16.
_S8 = _bmm(
    1,
    "kernels/bmm/bmm.h",
    "(0 if b_depth_stride == 1 else 4 * depth) if block == 1 else 8 * depth",
    *within("a_zero_point b_zero_point output_zero_point", *INT8),
    *within("activation_min activation_max", *INT8),
    *within("shift", *SHIFT),
)

_TAPS_DEPTH = "up(depth, 4)"
_TAPS = _bmm(
    1,
    "kernels/bmm/bmm_taps.h",
    f"4 * {_TAPS_DEPTH} + 4 * expanded * ({_TAPS_DEPTH} // 2 + 7)",
    *within("a_zero_point b_zero_point", *INT8),
    *within("activation_min activation_max", *INT8),
)

ACCESS: dict[str, Access] = {
    "pl_bmm_s8": _S8,
    "pl_bmm_down_s8": replace(_S8, arithmetic=(*_S8.arithmetic, *within("shift", -20, -1))),
    "pl_bmm_taps_s8": replace(
        _TAPS,
        dims={**_TAPS.dims, **sizes("expanded")},
        reads={**_TAPS.reads, "stage": Extent("6", 4)},
    ),
    "pl_bmm_s16": _bmm(
        2,
        "kernels/bmm/bmm_s16.h",
        "0",
        *within("activation_min activation_max", *INT16),
        *within("shift", -31, 14),
    ),
}
