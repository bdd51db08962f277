# SPDX-License-Identifier: Apache-2.0
"""The NPU's limits for windows of pools, and adjacent windows of any size."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce

import numpy as np

from aot.backends.ethos_u.block import NUMPY, TosaValue
from aot.backends.ethos_u.emitters import maximum
from aot.backends.ethos_u.emitters.windows import (
    LARGEST_SIZE,
    LARGEST_STRIDE,
    bad_size,
    bad_stride,
    padding_after,
)
from aot.backends.ethos_u.tosa import TosaGraph

LARGEST_WIDTH, LARGEST_AREA = 256, 65536


def bad_pool(
    shape: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    windows: Sequence[int],
    separable: bool,
) -> str:
    """Return the reason why a pool over [N, H, W, C] cannot run.

    Args:
      separable: True if it may process rows and columns one after the other.
    """
    for d in (0, 1):
        before = padding[2 * d]
        after = padding_after(shape[1 + d], kernel[d], stride[d], before, 1, windows[d])
        if max(before, after) >= kernel[d]:
            return "a window lies outside of its input"
    for d in tiles(shape, kernel, stride, padding, windows, separable):
        kernel, stride = _without(kernel, d), _without(stride, d)
        shape = [*shape[: 1 + d], windows[d], *shape[2 + d :]]
    if kernel[1] > LARGEST_WIDTH or kernel[0] * kernel[1] > LARGEST_AREA:
        return (
            f"its kernel is {kernel[0]}x{kernel[1]}, of at most {LARGEST_WIDTH} columns and "
            f"{LARGEST_AREA} in all"
        )
    return bad_stride(stride, windows) or bad_size(shape)


def tiles(
    shape: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    windows: Sequence[int],
    separable: bool,
) -> list[int]:
    """Return the axes, 0 for rows and 1 for columns, with a stride above the NPU's limit, whose
    windows become tiles: adjacent ones, or any if the pool is separable.
    """
    return [
        d
        for d in (0, 1)
        if stride[d] > LARGEST_STRIDE
        and windows[d] > 1
        and kernel[d] <= LARGEST_WIDTH
        and math.prod(shape[2 + d :]) <= LARGEST_SIZE
        and (
            separable
            or stride[d] == kernel[d]
            and windows[d] * kernel[d] <= shape[1 + d]
            and not any(padding[2 * d : 2 * d + 2])
            and kernel[1 - d] == stride[1 - d] == 1
        )
    ]


def tiled(
    graph: TosaGraph,
    x: TosaValue,
    kernel: Sequence[int],
    stride: Sequence[int],
    windows: Sequence[int],
    d: int,
    pool: Callable[..., TosaValue],
) -> tuple[TosaValue, list[int], list[int]]:
    """Pool over one axis from `tiles`, over the kernel of x [..., windows, kernel, ...].

    Return the result, and the kernel and stride of the other axis.
    """
    size = list(x.shape)
    size[1 + d] = windows[d] * kernel[d]
    x = graph.materialized(graph.slice(x, [0] * 4, size))
    inner = math.prod(size[2 + d :])
    x = graph.reshape(x, (math.prod(size[: 1 + d]), windows[d], kernel[d], inner))
    y = pool(x, (1, kernel[d]), (1, 1), (0, 0, 0, 0))
    y = graph.reshape(y, (*size[: 1 + d], windows[d], *size[2 + d :]))
    return y, _without(kernel, d), _without(stride, d)


def maxima_of_tiles(
    graph: TosaGraph,
    x: TosaValue,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    windows: Sequence[int],
    d: int,
) -> tuple[TosaValue, list[int], list[int], list[int]]:
    """Take maxima over one axis from `tiles`: each of a tile of `stride` values, and of those
    behind it as far as a window reaches.

    Return the result, and the kernel, stride and padding of the other axis.
    """
    y = _maxima(graph, x, kernel[d], stride[d], padding[2 * d], windows[d], d)
    other = [0 if i // 2 == d else p for i, p in enumerate(padding)]
    return y, _without(kernel, d), _without(stride, d), other


def _maxima(
    graph: TosaGraph, x: TosaValue, kernel: int, stride: int, before: int, windows: int, d: int
) -> TosaValue:
    taps = -(-kernel // stride)
    size, limit = list(x.shape), int(np.iinfo(NUMPY[x.dtype]).min)
    size[1 + d] = (windows - 1 + taps) * stride
    after = size[1 + d] - before - x.shape[1 + d]
    if after < 0:
        read = [*size[: 1 + d], size[1 + d] - before, *size[2 + d :]]
        x = graph.materialized(graph.slice(x, [0] * 4, read))
    if before or after > 0:
        padding = [0] * 8
        padding[2 + 2 * d : 4 + 2 * d] = before, max(after, 0)
        x = graph.pad(x, padding, limit)
    outer, inner = math.prod(size[: 1 + d]), math.prod(size[2 + d :])
    x = graph.reshape(x, (outer, windows - 1 + taps, stride, inner))
    parts = []
    for tap in range(taps):
        width = min(stride, kernel - tap * stride)
        part = graph.slice(x, [0, tap, 0, 0], (outer, windows, width, inner))
        parts.append(graph.max_pool2d(part, (1, width), (1, 1), (0, 0, 0, 0)))
    y = reduce(partial(maximum.emit, graph), parts)
    return graph.reshape(y, (*size[: 1 + d], windows, *size[2 + d :]))


def _without(values: Sequence[int], d: int) -> list[int]:
    return [1 if i == d else v for i, v in enumerate(values)]
