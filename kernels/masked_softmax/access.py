# SPDX-License-Identifier: Apache-2.0
"""Access maps of masked softmaxes: memory read and written by a call."""

from kernels.common.access import LONG, Access, Extent
from kernels.common.access_forms import BITS, WIDTH, sizes


def _masked_softmax(size: int) -> Access:
    return Access(
        f"kernels/masked_softmax/masked_softmax{WIDTH[size]}.h",
        {
            "rows.size": (1, LONG),
            "rows.a_stride": (0, LONG),
            "rows.b_stride": (0, LONG),
            **sizes("size"),
        },
        {
            "input": Extent("span(rows.size, rows.a_stride) + size - 1", size),
            "mask": Extent("span(rows.size, rows.b_stride) + size - 1"),
            "exp_table": Extent(str(256 * size), 4),
        },
        {"output": Extent("product(rows.size) * size", size)},
        needs=("rows.size[4] == 1",),
        has_params=size == 1,
    )


ACCESS: dict[str, Access] = {
    f"pl_masked_softmax_{BITS[size]}": _masked_softmax(size) for size in (1, 2)
}
