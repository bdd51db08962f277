# SPDX-License-Identifier: Apache-2.0
"""Access maps of float32 ops of two operands: memory read and written by a call."""

from kernels.common.access import Access
from kernels.common.access_forms import two_operands

_HEADER = "kernels/binary_f32/binary_f32.h"
_VALUE = two_operands(_HEADER, 4, has_params=False)
_BOOL = two_operands(_HEADER, 4, result=1, has_params=False)

ACCESS: dict[str, Access] = {
    **{f"pl_{op}_f32": _VALUE for op in ("add", "sub", "mul", "div", "minimum", "maximum")},
    **{f"pl_{op}_f32": _BOOL for op in ("less", "less_or_equal", "equal", "not_equal")},
}
