# SPDX-License-Identifier: Apache-2.0
"""Access maps of scatters: memory read and written by a call."""

from kernels.common.access import LONG, Access, Extent
from kernels.common.access_forms import INT8, SHIFT, sizes, within

_HEADER = "kernels/scatter/scatter.h"
_DIMS = sizes("count rows width", LONG)
_INDICES = Extent("count", 4)


def _sum(size: int, *arithmetic: str) -> Access:
    return Access(
        _HEADER,
        _DIMS,
        {"indices": _INDICES, "values": Extent("count * width", size)},
        {"output": Extent("rows * width", size)},
        scratch="4 * rows * width" if arithmetic else "0",
        arithmetic=arithmetic,
        has_params=bool(arithmetic),
    )


_STAGE = (*within("shift", *SHIFT), *within("input_zero_point output_zero_point", *INT8))

ACCESS: dict[str, Access] = {
    "pl_scatter_x8": Access(
        _HEADER,
        _DIMS,
        {
            "base": Extent("rows * width"),
            "indices": _INDICES,
            "values": Extent("count * width"),
        },
        {"output": Extent("rows * width")},
        has_params=False,
    ),
    "pl_scatter_sum_s8": _sum(1, *_STAGE),
    "pl_scatter_sum_s16": _sum(2, *_STAGE),
    "pl_scatter_sum_f32": _sum(4),
}
