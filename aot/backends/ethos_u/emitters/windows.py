# SPDX-License-Identifier: Apache-2.0
"""Windows of convolutions and pools: TOSA's end at the edge of what they are given."""

from __future__ import annotations

from collections.abc import Sequence

from aot.backends.ethos_u.tosa import TosaGraph, Value

_LARGEST_SIZE = 65536
_LARGEST_STRIDE = 3


def padding_after(
    size: int, kernel: int, stride: int, before: int, dilation: int, windows: int
) -> int:
    """What the last window needs behind the input; negative where it ends before that."""
    return (windows - 1) * stride + dilation * (kernel - 1) + 1 - size - before


def fitted(
    graph: TosaGraph,
    x: Value,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    windows: Sequence[int],
) -> tuple[Value, list[int], list[int]]:
    """x [N, H, W, C] without the rows and columns that no window reads, and the padding and stride
    with which that gives `windows` rows and columns.
    """
    size = list(x.shape)
    pads: list[int] = []
    for d in (0, 1):
        before = padding[2 * d]
        after = padding_after(x.shape[1 + d], kernel[d], stride[d], before, dilation[d], windows[d])
        size[1 + d] += min(after, 0)
        pads += [before, max(after, 0)]
    strides = [s if w > 1 else 1 for s, w in zip(stride, windows, strict=True)]
    x = graph.slice(x, [0] * 4, size)
    if x.shape[0] > 1:
        x = graph.materialized(x)
    return x, pads, strides


def bad_stride(stride: Sequence[int], windows: Sequence[int]) -> str:
    for step, count in zip(stride, windows, strict=True):
        if step > _LARGEST_STRIDE and count > 1:
            return f"its stride is {step}, of at most {_LARGEST_STRIDE}"
    return ""


def bad_size(shape: Sequence[int]) -> str:
    """Of [N, H, W, C]."""
    if max(shape[1:]) > _LARGEST_SIZE:
        return f"a dimension of {max(shape[1:])}, of at most {_LARGEST_SIZE}"
    return ""
