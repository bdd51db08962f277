# SPDX-License-Identifier: Apache-2.0
"""Random regions of one op each with windows over images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch.fx import GraphModule, Node

import kernels.ops  # noqa: F401, the library
from aot.backends.ethos_u.testing.draw import CHANNELS, Draw
from aot.dialect.graph import NHWC
from kernels.conv2d.op import convolved_size


def _window(draw: Draw, shape: Sequence[int], dilated: bool) -> Any:
    """Return kernel, stride, padding and dilation fitting an image."""
    while True:
        kernel = [draw.integer(1, 5) for _ in range(2)]
        stride = [draw.one_of((1, 1, 2, 2, 3, 4, 5)) for _ in range(2)]
        padding = [draw.integer(0, k - 1) if draw.often() else 0 for k in kernel for _ in range(2)]
        dilation = [draw.integer(1, 2) if dilated and s < 4 else 1 for s in stride]
        if all(
            convolved_size(
                shape[1 + d],
                kernel[d],
                1,
                padding[2 * d],
                padding[2 * d + 1],
                dilation[d],
            )
            > 0
            for d in (0, 1)
        ):
            return kernel, stride, padding, dilation


def _conv2d(draw: Draw) -> GraphModule:
    shape, zero_point = draw.image(), draw.zero_point()
    kernel, stride, padding, dilation = _window(draw, shape, dilated=True)
    groups = 1 if draw.often() else draw.one_of([g for g in (1, 2, 3, 8) if shape[3] % g == 0])
    outputs = groups * draw.one_of((1, 4)) if groups > 1 else draw.one_of(CHANNELS)
    weight = draw.weights((outputs, *kernel, shape[3] // groups))
    x, out = draw.input(shape, zero_point, NHWC), draw.zero_point()
    window = stride, padding, dilation, groups
    args = (weight, *draw.scales(weight), *window, zero_point, out, *draw.limits())
    return draw.region("conv2d", x, *args, zero_point=out, layout=NHWC)


def _depthwise_conv2d(draw: Draw) -> GraphModule:
    shape, zero_point = draw.image(), draw.zero_point()
    kernel, stride, *window = _window(draw, shape, dilated=True)
    window = [stride, *window]
    weight = draw.weights((*kernel, shape[3] * draw.one_of((1, 1, 2, 3))))
    x, out = draw.input(shape, zero_point, NHWC), draw.zero_point()
    scales = draw.scales(weight.permute(2, 0, 1))
    args = (weight, *scales, *window, zero_point, out, *draw.limits())
    return draw.region("depthwise_conv2d", x, *args, zero_point=out, layout=NHWC)


def _transpose_conv2d(draw: Draw) -> GraphModule:
    shape, zero_point = draw.image(), draw.zero_point()
    kernel, stride = draw.shape(2)[:2], [draw.integer(1, 2)] * 2
    kernel = tuple(min(k, 5) for k in kernel)
    padding = [draw.integer(0, k // 2) if draw.often() else 0 for k in kernel]
    size = [(shape[1 + d] - 1) * stride[d] + kernel[d] - 2 * padding[d] for d in (0, 1)]
    size = [max(1, s + draw.integer(0, stride[0] - 1)) for s in size]
    groups = 1 if draw.often() else draw.one_of([g for g in (1, 2, 3) if shape[3] % g == 0])
    weight = draw.weights((groups * draw.one_of((1, 4, 9)), *kernel, shape[3] // groups))
    x, out = draw.input(shape, zero_point, NHWC), draw.zero_point()
    args = (weight, *draw.scales(weight), stride, padding, [1, 1], size, groups)
    numbers = (zero_point, out, *draw.limits())
    return draw.region("transpose_conv2d", x, *args, *numbers, zero_point=out, layout=NHWC)


def _pool(draw: Draw, most: int = 3) -> tuple[Node, Any, Any, Any, list[int], int]:
    """Return input, kernel, stride, padding, output size (sometimes as of ceil_mode), zero point.

    Args:
      most: the largest stride, where windows are not adjacent.
    """
    shape, zero_point = draw.image(), draw.zero_point()
    kernel, stride, _, _ = _window(draw, [0, *(s for s in shape[1:])], dilated=False)
    padding = [draw.integer(0, k // 2) if draw.often() else 0 for k in kernel]
    if not draw.often():
        stride = [min(s, size) for s, size in zip(stride, shape[1:3], strict=True)]
        kernel, padding = list(stride), [0, 0]
    else:
        stride = [min(s, most) for s in stride]
    sizes = []
    for d in (0, 1):
        room = shape[1 + d] + 2 * padding[d] - kernel[d]
        steps = max(0, room) // stride[d]
        more = room % stride[d] and (steps + 1) * stride[d] < shape[1 + d] + padding[d]
        sizes.append(steps + 1 + (1 if more and not draw.often() else 0))
    pads = [padding[0], padding[0], padding[1], padding[1]]
    return draw.input(shape, zero_point, NHWC), kernel, stride, pads, sizes, zero_point


def _max_pool2d(draw: Draw) -> GraphModule:
    x, kernel, stride, padding, sizes, zero_point = _pool(draw, most=5)
    args = (kernel, stride, padding, [1, 1], sizes)
    return draw.region("max_pool2d", x, *args, zero_point=zero_point, layout=NHWC)


def _avg_pool2d(draw: Draw) -> GraphModule:
    x, kernel, stride, padding, sizes, zero_point = _pool(draw)
    args = (kernel, stride, padding, sizes, draw.often(), 0, zero_point)
    return draw.region("avg_pool2d", x, *args, zero_point=zero_point, layout=NHWC)


def _mean_pool2d(draw: Draw) -> GraphModule:
    if draw.often():
        x, kernel, stride, padding, sizes, zero_point = _pool(draw)
        parts, by_count = [1, 1], draw.often()
    else:
        shape, zero_point = draw.image(), draw.zero_point()
        x = draw.input(shape, zero_point, NHWC)
        kernel = stride = list(shape[1:3])
        parts = sizes = [draw.integer(1, min(s, 4)) for s in kernel]
        padding, by_count = [0] * 4, True
    out = draw.zero_point()
    args = (kernel, stride, parts, padding, sizes, by_count, draw.often(), zero_point, out)
    factor = draw.integer(2**30, 2**31 - 1), draw.integer(-8, -5) - (0 if by_count else 3)
    return draw.region("mean_pool2d", x, *args, *factor, zero_point=out, layout=NHWC)


def _adaptive(draw: Draw, op: str) -> GraphModule:
    shape, zero_point = draw.image(), draw.zero_point()
    most = 4 if op == "adaptive_avg_pool2d" else 9
    size = [draw.integer(1, min(s, most)) for s in shape[1:3]]
    return draw.region(
        op, draw.input(shape, zero_point, NHWC), size, zero_point=zero_point, layout=NHWC
    )


def _resize_bilinear(draw: Draw) -> GraphModule:
    shape, zero_point = list(draw.image()), draw.zero_point()
    factors = [draw.one_of((1, 2, 2, 3, 4, 8)) for _ in range(2)]
    if not draw.often():
        line = draw.integer(0, 1)
        shape[1 + line], factors[line] = 1, draw.integer(1, 24)
    size = [f * s for f, s in zip(factors, shape[1:3], strict=True)]
    offset, unit = [1 - f for f in factors], [2 * f for f in factors]
    return draw.region(
        "resize_bilinear",
        draw.input(shape, zero_point, NHWC),
        size,
        [2, 2],
        offset,
        unit,
        zero_point=zero_point,
        layout=NHWC,
    )


WINDOWS: dict[str, Callable[[Draw], GraphModule]] = {
    "adaptive_avg_pool2d": lambda draw: _adaptive(draw, "adaptive_avg_pool2d"),
    "adaptive_max_pool2d": lambda draw: _adaptive(draw, "adaptive_max_pool2d"),
    "avg_pool2d": _avg_pool2d,
    "conv2d": _conv2d,
    "depthwise_conv2d": _depthwise_conv2d,
    "max_pool2d": _max_pool2d,
    "mean_pool2d": _mean_pool2d,
    "resize_bilinear": _resize_bilinear,
    "transpose_conv2d": _transpose_conv2d,
}
