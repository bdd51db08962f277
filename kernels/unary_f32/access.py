# SPDX-License-Identifier: Apache-2.0
"""Access maps of float32 functions: memory read and written by a call."""

from kernels.common.access import Access
from kernels.common.access_forms import elements

_NAMES = (
    "abs neg sign floor ceil trunc round sqrt_values rsqrt reciprocal exp expm1 sigmoid tanh erf "
    "log log1p sin cos atan"
)

ACCESS: dict[str, Access] = {
    f"pl_{name}_f32": elements("kernels/unary_f32/unary_f32.h", 4, 4, has_params=False)
    for name in _NAMES.split()
}
