# SPDX-License-Identifier: Apache-2.0
"""Positions of TFLite's windows."""

from __future__ import annotations

from collections.abc import Sequence

from ethosu.vela.tflite.Padding import Padding

from aot.importers.tflite.call import Unsupported


def paddings(
    padding: int,
    size: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
) -> list[int]:
    """Return (top, bottom, left, right) for an image of this (height, width)."""
    if padding not in (Padding.SAME, Padding.VALID):
        raise Unsupported(f"padding number {padding} must be SAME or VALID")
    found: list[int] = []
    for extent, taps, step, spread in zip(size, kernel, stride, dilation, strict=True):
        reach = (taps - 1) * spread + 1
        total = 0
        if padding == Padding.SAME:
            total = max((-(-extent // step) - 1) * step + reach - extent, 0)
        elif extent < reach:
            raise Unsupported(f"a window of {reach} pixels is larger than the image of {extent}")
        found += [total // 2, total - total // 2]
    return found


def windows(
    padding: int, size: Sequence[int], kernel: Sequence[int], stride: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return paddings, and the (height, width) of the result, for windows without dilation."""
    padded = paddings(padding, size, kernel, stride, (1, 1))
    after = [
        (extent + padded[2 * i] + padded[2 * i + 1] - kernel[i]) // stride[i] + 1
        for i, extent in enumerate(size)
    ]
    return padded, after
