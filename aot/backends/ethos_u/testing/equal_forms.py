# SPDX-License-Identifier: Apache-2.0
"""Random calls that have an equal form: one function for each row of the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule

import kernels.ops  # noqa: F401, the library
from aot.backends.ethos_u.emit import matching
from aot.backends.ethos_u.testing.draw import Draw
from aot.backends.ethos_u.testing.regions import random_region
from aot.backends.npus import NPUS
from aot.dialect.arithmetic import quantize_mean
from aot.dialect.graph import NHWC
from kernels.conv2d.op import convolved_size


def _conv(
    draw: Draw,
    shape: Sequence[int],
    weight: Sequence[int],
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0, 0, 0),
    dilation: Sequence[int] = (1, 1),
    groups: int = 1,
) -> GraphModule:
    zero_point, out, weights = draw.zero_point(), draw.zero_point(), draw.weights(weight)
    x = draw.input(shape, zero_point, NHWC)
    window = list(stride), list(padding), list(dilation), groups
    args = (weights, *draw.scales(weights), *window, zero_point, out, *draw.limits())
    return draw.region("conv2d", x, *args, zero_point=out, layout=NHWC)


def _depthwise(
    draw: Draw,
    shape: Sequence[int],
    kernel: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int] = (1, 1),
) -> GraphModule:
    zero_point, out = draw.zero_point(), draw.zero_point()
    weights, x = draw.weights((*kernel, shape[3])), draw.input(shape, zero_point, NHWC)
    window = [1, 1], list(padding), list(dilation)
    args = (weights, *draw.scales(weights.permute(2, 0, 1)), *window, zero_point, out)
    return draw.region("depthwise_conv2d", x, *args, *draw.limits(), zero_point=out, layout=NHWC)


def _transposed(draw: Draw) -> GraphModule:
    batch, height, width, channels = draw.image()
    kernel = [draw.integer(1, 5) for _ in range(2)]
    padding = [draw.integer(0, k // 2) for k in kernel]
    sizes = (
        (s - 1) * 2 + k - 2 * p for s, k, p in zip((height, width), kernel, padding, strict=True)
    )
    size = [max(2, s + draw.integer(0, 1)) for s in sizes]
    groups = 3 if channels % 3 == 0 and not draw.often() else 1
    weights = draw.weights((groups * draw.one_of((1, 4, 9)), *kernel, channels // groups))
    zero_point, out = draw.zero_point(), draw.zero_point()
    x = draw.input((batch, max(2, height), max(2, width), channels), zero_point, NHWC)
    size = [s + 2 * (max(2, n) - n) for s, n in zip(size, (height, width), strict=True)]
    args = (weights, *draw.scales(weights), [2, 2], padding, [1, 1], size, groups, zero_point)
    return draw.region(
        "transpose_conv2d", x, *args, out, *draw.limits(), zero_point=out, layout=NHWC
    )


def _repeated(draw: Draw, counts: Sequence[int]) -> GraphModule:
    shape = (1, *draw.image()[1:])
    indices = [torch.arange(shape[1 + d]).repeat_interleave(n) for d, n in enumerate(counts)]
    x = draw.input(shape, 0, NHWC)
    given = [draw.builder.constant(f"i{d}", i.to(torch.int32)) for d, i in enumerate(indices)]
    return draw.region("gather", x, given, [1, 2], zero_point=0, layout=NHWC)


def _bilinear(draw: Draw) -> GraphModule:
    shape = 1, draw.integer(2, 12), draw.integer(2, 12), draw.one_of((1, 3, 8, 17))
    x, zero_point = draw.input(shape, 3, NHWC), 3
    size = [2 * shape[1], 2 * shape[2]]
    scales = [2, 2], [-1, -1], [4, 4]
    return draw.region("resize_bilinear", x, size, *scales, zero_point=zero_point, layout=NHWC)


def _elementwise(draw: Draw, op: str) -> GraphModule:
    """Return the first random call whose operands have three dimensions."""
    seeds = range(draw.integer(0, 1 << 20), 1 << 21)
    regions = (random_region(op, seed) for seed in seeds)
    return next(r for r in regions if matching(r, NPUS["ethos-u55-128"]))


def _thin(draw: Draw) -> GraphModule:
    channels, steps = draw.integer(1, 4), draw.integer(2, 4)
    kernel = draw.integer(1, 7), draw.one_of((9, 16, 25))
    stride = draw.integer(1, 3), draw.integer(1, 2)
    width = 16 * stride[1] * steps
    before = draw.integer(0, kernel[1] // 2)
    after = (16 * steps - 1) * stride[1] + kernel[1] - width - before
    padding = draw.integer(0, kernel[0] - 1), draw.integer(0, kernel[0] - 1), before, max(after, 0)
    shape = 1, draw.integer(7, 12), width, channels
    return _conv(draw, shape, (draw.integer(1, 9), *kernel, channels), stride, padding)


def _prelu(draw: Draw) -> GraphModule:
    shape, zero_point, out = draw.image(), draw.zero_point(), draw.zero_point()
    slope = draw.activations((shape[3],))
    args = (zero_point, draw.integer(1, 600), out, *draw.product_scale(draw.rng.uniform(-7, -4)))
    x = draw.input(shape, zero_point, NHWC)
    return draw.region("prelu", x, slope, *args, zero_point=out, layout=NHWC)


def _max_pool(draw: Draw) -> GraphModule:
    batch, height, width, channels = draw.image()
    kernel = [draw.integer(4, 9), draw.integer(4, 9)]
    padding = [draw.integer(0, k // 2) for k in kernel]
    shape = batch, height + 8, width + 8, channels
    sizes = [s + 2 * p - k + 1 for s, k, p in zip(shape[1:3], kernel, padding, strict=True)]
    pads = [p for p in padding for _ in range(2)]
    args = (kernel, [1, 1], pads, [1, 1], sizes)
    return draw.region("max_pool2d", draw.input(shape, 0, NHWC), *args, zero_point=0, layout=NHWC)


def _line_pool(draw: Draw) -> GraphModule:
    count, windows, channels = draw.one_of((2, 4)), draw.integer(1, 40), draw.image()[3]
    x = draw.input((1, 1, count * windows, channels), 0, NHWC)
    args = ([1, count], [1, count], [0] * 4, [1, 1], [1, windows])
    return draw.region("max_pool2d", x, *args, zero_point=0, layout=NHWC)


def _avg_pool(draw: Draw) -> GraphModule:
    batch, height, width, channels = draw.image()
    kernel, stride = [draw.integer(3, 6), draw.integer(3, 6)], [draw.integer(1, 3)] * 2
    shape = batch, height + 6, width + 6, channels
    sizes = [(s - k) // t + 1 for s, k, t in zip(shape[1:3], kernel, stride, strict=True)]
    args = (kernel, stride, [0] * 4, sizes, True, 0, 5)
    return draw.region("avg_pool2d", draw.input(shape, 5, NHWC), *args, zero_point=5, layout=NHWC)


def _transpose(draw: Draw, shape: Sequence[int], perm: Sequence[int]) -> GraphModule:
    return draw.region("transpose", draw.input(shape, 0), list(perm), zero_point=0)


def _first_to_last(draw: Draw) -> GraphModule:
    return _transpose(draw, (1, draw.integer(2, 16), draw.integer(2, 9), 16), (0, 2, 3, 1))


def _last_to_first(draw: Draw) -> GraphModule:
    return _transpose(draw, (1, draw.integer(2, 9), 8, draw.integer(2, 4)), (0, 3, 1, 2))


def _fewer(draw: Draw) -> GraphModule:
    return _transpose(draw, (1, draw.integer(2, 9), 1, draw.integer(2, 9)), (0, 3, 1, 2))


def _mean(draw: Draw) -> GraphModule:
    shape = 1, draw.integer(5, 24), draw.integer(5, 24), draw.image()[3] + 1
    zero_point, out = draw.zero_point(), draw.zero_point()
    scale = quantize_mean(float(draw.rng.uniform(0.5, 2)), shape[1] * shape[2])
    args = ([1, 2], draw.often(), zero_point, out, *scale)
    return draw.region("mean", draw.input(shape, zero_point), *args, zero_point=out)


def _line(draw: Draw) -> dict[str, Any]:
    taps, step = draw.integer(2, 4), draw.one_of((2, 4, 8))
    padding = 0, 0, step * draw.integer(0, taps - 1), step * draw.integer(0, taps - 1)
    width = step * draw.integer(taps, 9)
    assert convolved_size(width, taps, 1, *padding[2:], step) > 0
    return {"kernel": (1, taps), "padding": padding, "dilation": (1, step), "width": width}


def _dilated(draw: Draw) -> GraphModule:
    line, channels = _line(draw), draw.image()[3]
    shape, weight = (
        (1, 1, line["width"], channels),
        (draw.integer(1, 20), *line["kernel"], channels),
    )
    return _conv(draw, shape, weight, padding=line["padding"], dilation=line["dilation"])


def _dilated_depthwise(draw: Draw) -> GraphModule:
    line = _line(draw)
    shape = 1, 1, line["width"], draw.image()[3]
    return _depthwise(draw, shape, line["kernel"], line["padding"], line["dilation"])


def _grouped(draw: Draw, width: int, groups: int) -> GraphModule:
    shape = 1, draw.integer(3, 12), draw.integer(3, 12), width * groups
    weight = groups * draw.integer(1, 5), draw.integer(1, 3), draw.integer(1, 3), width
    return _conv(draw, shape, weight, padding=(0, 1, 0, 1), groups=groups)


def _small_depthwise(draw: Draw) -> GraphModule:
    shape = 1, draw.integer(3, 12), draw.integer(3, 12), draw.integer(1, 8)
    return _depthwise(draw, shape, (3, 3), (1, 1, 1, 1))


FORM_REGIONS: dict[str, Callable[[Draw], GraphModule]] = {
    "transpose_conv_by_parity": _transposed,
    "nearest_by_resize": lambda draw: _repeated(draw, (2, 2)),
    "nearest_by_convolution": lambda draw: _repeated(draw, (2, 2)),
    "repeats_by_columns": lambda draw: _repeated(draw, (draw.integer(1, 4), draw.integer(2, 4))),
    "bilinear_by_resize": _bilinear,
    "bilinear_by_parity": _bilinear,
    "add_in_four_dimensions": lambda draw: _elementwise(draw, "add"),
    "mul_in_four_dimensions": lambda draw: _elementwise(draw, "mul"),
    "maximum_in_four_dimensions": lambda draw: _elementwise(draw, "maximum"),
    "minimum_in_four_dimensions": lambda draw: _elementwise(draw, "minimum"),
    "lut_in_four_dimensions": lambda draw: _elementwise(draw, "lut"),
    "folded_width": _thin,
    "prelu_by_depthwise": _prelu,
    "max_pool_by_rows": _max_pool,
    "max_pool_by_halves": _line_pool,
    "avg_pool_by_depthwise": _avg_pool,
    "transpose_in_fewer_dimensions": _fewer,
    "first_to_last_by_convolution": _first_to_last,
    "last_to_first_by_convolution": _last_to_first,
    "mean_by_columns": _mean,
    "mean_by_window": _mean,
    "dilated_line": _dilated,
    "dilated_depthwise_line": _dilated_depthwise,
    "merged_groups": lambda draw: _grouped(draw, draw.integer(1, 4), 16),
    "dense_groups": lambda draw: _grouped(draw, 8, draw.integer(2, 3)),
    "dense_depthwise": _small_depthwise,
}
