# SPDX-License-Identifier: Apache-2.0
"""Access maps of float32 powers: memory read and written by a call."""

from kernels.common.access import Access
from kernels.common.access_forms import elements

ACCESS: dict[str, Access] = {
    f"pl_{name}_f32": elements("kernels/pow/pow.h", 4, 4)
    for name in ("pow", "pow_whole", "pow_half")
}
