# SPDX-License-Identifier: Apache-2.0
"""Access maps of gathers: memory read and written by a call."""

from kernels.common.access import LONG, Access, Extent, Table
from kernels.common.access_forms import sizes

ACCESS: dict[str, Access] = {
    "pl_gather_x8": Access(
        "kernels/gather/gather.h",
        {**sizes("outer", LONG), **sizes("outer_step", LONG, 0), **sizes("rows runs", LONG)},
        {
            "input": Extent(
                "(outer - 1) * outer_step + most(rows, at) + most(runs, start + count)"
            ),
        },
        {"output": Extent("outer * rows * total(runs, count)")},
        tables={
            "rows": Table("rows", {"at": (0, LONG)}),
            "runs": Table("runs", {"start": (0, LONG), "count": (0, LONG)}),
        },
        has_params=False,
    )
}
