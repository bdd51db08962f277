# SPDX-License-Identifier: Apache-2.0
"""What the NPU asks of the windows of pools."""

from __future__ import annotations

from collections.abc import Sequence

from aot.backends.ethos_u.emitters.windows import bad_size, bad_stride, padding_after

_LARGEST_WIDTH, _LARGEST_AREA = 256, 65536


def bad_pool(
    shape: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    windows: Sequence[int],
) -> str:
    """Why a pool over [N, H, W, C] cannot be run."""
    if kernel[1] > _LARGEST_WIDTH or kernel[0] * kernel[1] > _LARGEST_AREA:
        return (
            f"its kernel is {kernel[0]}x{kernel[1]}, of at most {_LARGEST_WIDTH} columns and "
            f"{_LARGEST_AREA} in all"
        )
    for d in (0, 1):
        before = padding[2 * d]
        after = padding_after(shape[1 + d], kernel[d], stride[d], before, 1, windows[d])
        if max(before, after) >= kernel[d]:
            return "a window lies outside of its input"
    return bad_stride(stride, windows) or bad_size(shape)
