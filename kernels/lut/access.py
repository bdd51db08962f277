# SPDX-License-Identifier: Apache-2.0
"""Access maps of tables of a function: memory read and written by a call."""

from kernels.common.access import Access, Extent
from kernels.common.access_forms import elements

ACCESS: dict[str, Access] = {
    "pl_lut_s8": elements("kernels/lut/lut.h", 1, 1, Extent("256")),
    "pl_lut_s32": elements("kernels/lut/lut_s32.h", 1, 4, Extent("256", 4)),
    "pl_lut_s16": elements("kernels/lut/lut_s16.h", 2, 2, Extent("513", 2)),
    "pl_lut_near_zero_s16": elements("kernels/lut/lut_near_zero_s16.h", 2, 2, Extent("1537", 2)),
}
