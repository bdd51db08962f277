# SPDX-License-Identifier: Apache-2.0
"""Access maps of pools of repeated pixels: memory read and written by a call."""

from kernels.common.access import LONG, Access
from kernels.common.access_forms import BITS, LAST_X, LAST_Y, PADS, STRIDES, pool, sizes

_NEEDS = (
    "pad_top * parts_h < kernel_h",
    "pad_left * parts_w < kernel_w",
    f"{LAST_Y} // parts_h - pad_top < input_h",
    f"{LAST_X} // parts_w - pad_left < input_w",
    # The count of a window is a divisor and must not wrap to 0.
    f"(kernel_h // parts_h + 2) * (kernel_w // parts_w + 2) <= {LONG}",
    "shift + 31 >= 0",
    "shift <= 30",
)
_PARAMS = {**STRIDES, **sizes("parts_h parts_w"), **PADS}

ACCESS: dict[str, Access] = {
    f"pl_mean_pool2d_{BITS[size]}": pool("mean_pool2d", size, _PARAMS, _NEEDS) for size in (1, 2)
}
