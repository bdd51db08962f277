# SPDX-License-Identifier: Apache-2.0
"""Windows of convolutions and pools: TOSA's windows end at the edge of their input."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.tosa import TosaGraph

LARGEST_SIZE = 65536
LARGEST_STRIDE = 3


def padding_after(
    size: int, kernel: int, stride: int, before: int, dilation: int, windows: int
) -> int:
    """Return the last window's padding after the input; negative if it ends before."""
    return (windows - 1) * stride + dilation * (kernel - 1) + 1 - size - before


def fitted(
    graph: TosaGraph,
    x: TosaValue,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    windows: Sequence[int],
) -> tuple[TosaValue, list[int], list[int]]:
    """Return x [N, H, W, C] without unread rows and columns, with its padding and stride.

    These padding and stride give `windows` rows and columns.
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


def folded(
    graph: TosaGraph,
    x: TosaValue,
    weight: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    windows: Sequence[int],
    zero_point: int,
) -> tuple[TosaValue, torch.Tensor, list[int], list[int]]:
    """Rewrite a convolution with too large a stride as one with stride 1.

    Each step's rows or columns become channels. Return x, weights [O, KH, KW, C], stride and
    padding.
    """
    stride, padding = list(stride), list(padding)
    for d in (0, 1):
        step = stride[d]
        if step <= LARGEST_STRIDE or windows[d] == 1:
            continue
        taps = -(-weight.shape[1 + d] // step)
        missing = [0] * 8
        size = list(x.shape)
        size[1 + d] = (windows[d] - 1 + taps) * step
        before, after = padding[2 * d], size[1 + d] - x.shape[1 + d] - padding[2 * d]
        if after < 0:
            x = graph.slice(x, [0] * 4, [*size[: 1 + d], size[1 + d] - before, *size[2 + d :]])
        missing[2 + 2 * d], missing[3 + 2 * d] = before, max(after, 0)
        x = graph.pad(x, missing, zero_point) if any(missing) else graph.materialized(x)
        more = [0, 0, 0, 0, 0, 0]
        more[5 - 2 * d] = taps * step - weight.shape[1 + d]
        weight = torch.nn.functional.pad(weight, more)
        outputs, height, width, channels = weight.shape
        batch, rows, columns = size[0], size[1], size[2]
        if d == 1:
            x = graph.reshape(x, (batch, rows, columns // step, step * channels))
            weight = weight.reshape(outputs, height, taps, step * channels)
        else:
            x = graph.reshape(x, (batch * rows // step, step, columns, channels))
            x = graph.transpose(x, (0, 2, 1, 3))
            x = graph.reshape(x, (batch, rows // step, columns, step * channels))
            weight = weight.reshape(outputs, taps, step, width, channels).permute(0, 1, 3, 2, 4)
            weight = weight.reshape(outputs, taps, width, step * channels)
        stride[d], padding[2 * d], padding[2 * d + 1] = 1, 0, 0
    return x, weight, stride, padding


def bad_stride(stride: Sequence[int], windows: Sequence[int]) -> str:
    for step, count in zip(stride, windows, strict=True):
        if step > LARGEST_STRIDE and count > 1:
            return f"its stride is {step}, of at most {LARGEST_STRIDE}"
    return ""


def bad_size(shape: Sequence[int]) -> str:
    """Return the reason why the NPU cannot have this shape [N, H, W, C]; "" if it can."""
    if max(shape[1:]) > LARGEST_SIZE:
        return f"a dimension of {max(shape[1:])}, of at most {LARGEST_SIZE}"
    return ""
