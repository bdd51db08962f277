# SPDX-License-Identifier: Apache-2.0
"""Access maps of float32 reductions: memory read and written by a call."""

from kernels.common.access import Access
from kernels.common.access_forms import reduction

_VALUE = reduction("kernels/reduce_f32/reduce_f32.h", 4, 4, has_params=False)

ACCESS: dict[str, Access] = {f"pl_{op}_f32": _VALUE for op in ("sum", "amax", "amin")}
