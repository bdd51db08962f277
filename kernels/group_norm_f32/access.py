# SPDX-License-Identifier: Apache-2.0
"""Access maps of float32 group norms: memory read and written by a call."""

from kernels.common.access import Access, Extent
from kernels.common.access_forms import sizes

_WHOLE = Extent("batches * groups * group_channels * pixels", 4)
_EACH = Extent("groups * group_channels", 4, optional=True)
_GROUPS = Extent("batches * groups", 4)

ACCESS: dict[str, Access] = {
    "pl_group_norm_f32": Access(
        "kernels/group_norm_f32/group_norm_f32.h",
        sizes("batches groups group_channels pixels"),
        {"input": _WHOLE, "weight": _EACH, "bias": _EACH},
        {"output": _WHOLE, "mean": _GROUPS, "rstd": _GROUPS},
    )
}
