# SPDX-License-Identifier: Apache-2.0
"""Access maps of maximum pools: memory read and written by a call."""

from dataclasses import replace

from kernels.common.access import Access
from kernels.common.access_forms import DILATED, LAST_X, LAST_Y, pool

# Columns of the input, from the first of a row's first window to the last of its last.
_REACH = f"{LAST_X} + (kernel_w - 1) * dilation_w + 1"
_TAPS = (
    f"{LAST_Y} - pad_top < input_h",
    f"{LAST_X} - pad_left < input_w",
    "pad_top <= (kernel_h - 1) * dilation_h",
    "pad_left <= (kernel_w - 1) * dilation_w",
    # Otherwise the taps could step over the whole input.
    "pad_top == 0 or dilation_h <= input_h",
    "pad_left == 0 or dilation_w <= input_w",
)
_S8, _S16 = (pool("max_pool2d", size, DILATED, _TAPS) for size in (1, 2))

ACCESS: dict[str, Access] = {
    "pl_max_pool2d_s8": _S8,
    "pl_max_pool2d_s16": _S16,
    "pl_max_pool2d_rows_s8": replace(
        _S8,
        scratch=f"0 if kernel_h == 1 and pad_left == 0 and {_REACH} <= input_w "
        f"else ({_REACH}) * input_c",
    ),
}
