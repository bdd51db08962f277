# SPDX-License-Identifier: Apache-2.0
"""Memory that float32 powers touch."""

from kernels.common.access import Access
from kernels.common.access_forms import elements

ACCESS: dict[str, Access] = {
    f"pl_{name}_f32": elements("kernels/pow/pow.h", 4, 4)
    for name in ("pow", "pow_whole", "pow_half")
}
