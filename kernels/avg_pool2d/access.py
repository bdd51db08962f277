# SPDX-License-Identifier: Apache-2.0
"""Access maps of mean pools: memory read and written by a call."""

from dataclasses import replace

from kernels.common.access import Access
from kernels.common.access_forms import LAST_X, LAST_Y, PADS, STRIDES, pool

# Each window has a tap inside.
_TAPS = (
    "pad_top < kernel_h",
    "pad_left < kernel_w",
    f"{LAST_Y} - pad_top < input_h",
    f"{LAST_X} - pad_left < input_w",
)
_S8, _S16 = (pool("avg_pool2d", size, {**STRIDES, **PADS}, _TAPS) for size in (1, 2))

ACCESS: dict[str, Access] = {
    "pl_avg_pool2d_s8": _S8,
    "pl_avg_pool2d_s16": _S16,
    "pl_avg_pool2d_rows_s8": replace(_S8, scratch=f"2 * ({LAST_X} + kernel_w) * input_c"),
    "pl_avg_pool2d_whole_s8": replace(
        _S8,
        params={},
        needs=(
            "kernel_h == input_h and kernel_w == input_w and output_h == 1 and output_w == 1",
            "input_h * input_w >= 2 and input_h * input_w <= 255",
        ),
    ),
}
