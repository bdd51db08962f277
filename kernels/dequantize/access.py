# SPDX-License-Identifier: Apache-2.0
"""Access maps of dequantization: memory read and written by a call."""

from kernels.common.access import Access
from kernels.common.access_forms import BITS, WIDTH, elements

ACCESS: dict[str, Access] = {
    f"pl_dequantize_{BITS[size]}_f32": elements(
        f"kernels/dequantize/dequantize{WIDTH[size]}.h", size, 4
    )
    for size in (1, 2)
}
