# SPDX-License-Identifier: Apache-2.0
"""Access maps of concatenations: memory read and written by a call."""

from kernels.common.access import LONG, Access, Extent, Table
from kernels.common.access_forms import sizes

ACCESS: dict[str, Access] = {
    "pl_cat_x8": Access(
        "kernels/cat/cat.h",
        sizes("inputs outer output_step", LONG),
        {},
        {"output": Extent("outer * output_step")},
        tables={"inputs": Table("inputs", {"bytes": (1, LONG)}, "pl_cat_input", "outer * bytes")},
        needs=("total(inputs, bytes) <= output_step",),
        has_params=False,
    )
}
