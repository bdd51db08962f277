# SPDX-License-Identifier: Apache-2.0
"""Access maps of adaptive mean pools: memory read and written by a call."""

from kernels.common.access import Access
from kernels.common.access_forms import BITS, adaptive_pool

ACCESS: dict[str, Access] = {
    f"pl_adaptive_avg_pool2d_{BITS[size]}": adaptive_pool("adaptive_avg_pool2d", size)
    for size in (1, 2)
}
