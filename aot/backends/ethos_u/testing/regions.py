# SPDX-License-Identifier: Apache-2.0
"""Random regions of one op each: odd shapes, extreme zero points, sums that saturate."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.fx import Graph, GraphModule, Node

import aot.dialect.ops  # noqa: F401, the library
from aot.dialect.arithmetic import quantize_mean, quantize_multiplier
from aot.dialect.graph import NHWC, Builder, Edge, Origin
from aot.dialect.library import OPS
from aot.dialect.ops.conv2d import convolved_size
from aot.dialect.ops.normalize import constants as normalization
from aot.dialect.ops.softmax import exponential_table
from aot.dialect.quantization import Quantization
from aot.dialect.verifier import verify

_LEFT_SHIFT = 20  # guard bits of an addition
_CHANNELS = (1, 2, 3, 8, 16, 17, 33)


class Draw:
    """Random choices and the graph that is made of them."""

    def __init__(self, name: str, seed: int) -> None:
        self.rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
        self.module = GraphModule(torch.nn.Module(), Graph())
        self.builder = Builder(self.module, self.module.graph)

    def integer(self, low: int, high: int) -> int:
        """In [low, high]."""
        return int(self.rng.integers(low, high, endpoint=True))

    def one_of(self, values: Sequence[Any]) -> Any:
        return values[self.integer(0, len(values) - 1)]

    def often(self) -> bool:
        return self.integer(0, 2) > 0

    def zero_point(self) -> int:
        return int(self.one_of((-128, 127, 0, self.integer(-128, 127))))

    def limits(self) -> tuple[int, int]:
        if self.often():
            return -128, 127
        low = self.integer(-128, 126)
        return low, self.integer(low + 1, 127)

    def weights(self, shape: Sequence[int]) -> torch.Tensor:
        values = self.rng.integers(-127, 127, shape, np.int8, endpoint=True)
        if not self.often():
            values = self.rng.choice(np.array([-127, 0, 127], np.int8), shape)
        return torch.from_numpy(values)

    def shape(self, rank: int) -> tuple[int, ...]:
        return tuple(self.integer(1, 9) for _ in range(rank))

    def image(self) -> tuple[int, int, int, int]:
        batch = 1 if self.often() else 2
        return batch, self.integer(1, 14), self.integer(1, 14), int(self.one_of(_CHANNELS))

    def input(self, shape: Sequence[int], zero_point: int, layout: str = "row_major") -> Node:
        value = torch.empty(tuple(shape), dtype=torch.int8, device="meta")
        edge = Edge(Quantization(1.0, zero_point), layout)
        return self.builder.placeholder(f"x{len(self.module.graph.nodes)}", value, edge)

    def scales(self, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Bias, multiplier and shift for weights [O, ...]; results fill int8, or overflow it."""
        spread = weight.flatten(1).double().square().sum(1).sqrt().clamp(min=1) * 73
        bias = torch.from_numpy(self.rng.normal(0, 1, len(spread))) * spread
        factors = torch.from_numpy(self.rng.uniform(20, 200, len(spread))) / spread
        pairs = [quantize_multiplier(float(f)) for f in factors]
        multiplier, shift = (torch.tensor(v, dtype=torch.int32) for v in zip(*pairs, strict=True))
        return bias.round().to(torch.int32), multiplier, shift

    def region(
        self, op: str, *args: Any, zero_point: int, layout: str = "row_major"
    ) -> GraphModule:
        edge = Edge(Quantization(1.0, zero_point), layout)
        given = [self._argument(f"c{i}", a) for i, a in enumerate(args)]
        node = self.builder.call(OPS[op], *given, edge=edge, origin=Origin((f"aten.{op}",)))
        self.module.graph.output((node,))
        self.module.recompile()
        verify(self.module, "a region for tests")
        return self.module

    def _argument(self, name: str, value: Any) -> Any:
        return self.builder.constant(name, value) if isinstance(value, torch.Tensor) else value


def _window(draw: Draw, shape: Sequence[int], dilated: bool) -> Any:
    """Kernel, stride, padding, dilation that fit an image."""
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
    outputs = groups * draw.one_of((1, 4)) if groups > 1 else draw.one_of(_CHANNELS)
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


def _linear(draw: Draw) -> GraphModule:
    shape, zero_point, out = draw.shape(draw.integer(1, 4)), draw.zero_point(), draw.zero_point()
    weight = draw.weights((draw.integer(1, 40), shape[-1]))
    args = (weight, *draw.scales(weight), zero_point, out, *draw.limits())
    return draw.region("linear", draw.input(shape, zero_point), *args, zero_point=out)


def _operands(draw: Draw) -> tuple[list[Any], list[int]]:
    """Two values or a value and a constant, broadcast now and then; their zero points."""
    shape = draw.shape(draw.integer(1, 4))
    shapes = [tuple(1 if draw.integer(0, 4) == 0 else s for s in shape) for _ in range(2)]
    shapes[1] = shapes[1][draw.integer(0, 1) if len(shape) > 1 else 0 :]
    zero_points = [draw.zero_point(), draw.zero_point()]
    operands: list[Any] = [draw.input(s, z) for s, z in zip(shapes, zero_points, strict=True)]
    if not draw.often():
        constant = draw.weights(shapes[1])
        edge = Edge(Quantization(1.0, zero_points[1]))
        draw.module.graph.erase_node(operands[1])
        operands[1] = draw.builder.constant("c", constant, edge)
    return operands, zero_points


def _add(draw: Draw) -> GraphModule:
    operands, zero_points = _operands(draw)
    scales = np.exp(draw.rng.uniform(-4, 4, 2))
    common = 2 * max(scales)
    result = max(scales) * np.exp(draw.rng.uniform(-1, 1.5))
    sides = [quantize_multiplier(float(s / common)) for s in scales]
    if not draw.often():
        sides[1] = (-sides[1][0], sides[1][1])
    out = draw.zero_point()
    args = [
        *operands,
        *(zero_points[0], *sides[0], zero_points[1], *sides[1], _LEFT_SHIFT),
        *(out, *quantize_multiplier(float(common / (2**_LEFT_SHIFT * result))), *draw.limits()),
    ]
    return draw.region("add", *args, zero_point=out)


def _mul(draw: Draw) -> GraphModule:
    operands, zero_points = _operands(draw)
    out = draw.zero_point()
    scale = quantize_multiplier(float(np.exp(draw.rng.uniform(-7, 0.5))))
    args = (*operands, *zero_points, out, *scale, *draw.limits())
    return draw.region("mul", *args, zero_point=out)


def _lut(draw: Draw) -> GraphModule:
    table = torch.from_numpy(draw.rng.integers(-128, 127, 256, np.int8, endpoint=True))
    x = draw.input(draw.shape(draw.integer(1, 4)), 0)
    return draw.region("lut", x, table, zero_point=draw.zero_point())


def _pool(draw: Draw) -> tuple[Node, Any, Any, Any, list[int], int]:
    """Input, kernel, stride, padding, output size (as of ceil_mode now and then), zero point."""
    shape, zero_point = draw.image(), draw.zero_point()
    kernel, stride, _, _ = _window(draw, [0, *(s for s in shape[1:])], dilated=False)
    padding = [draw.integer(0, k // 2) if draw.often() else 0 for k in kernel]
    if not draw.often():
        stride = [min(s, size) for s, size in zip(stride, shape[1:3], strict=True)]
        kernel, padding = list(stride), [0, 0]
    else:
        stride = [min(s, 3) for s in stride]
    sizes = []
    for d in (0, 1):
        room = shape[1 + d] + 2 * padding[d] - kernel[d]
        steps = max(0, room) // stride[d]
        more = room % stride[d] and (steps + 1) * stride[d] < shape[1 + d] + padding[d]
        sizes.append(steps + 1 + (1 if more and not draw.often() else 0))
    pads = [padding[0], padding[0], padding[1], padding[1]]
    return draw.input(shape, zero_point, NHWC), kernel, stride, pads, sizes, zero_point


def _max_pool2d(draw: Draw) -> GraphModule:
    x, kernel, stride, padding, sizes, zero_point = _pool(draw)
    args = (kernel, stride, padding, [1, 1], sizes)
    return draw.region("max_pool2d", x, *args, zero_point=zero_point, layout=NHWC)


def _avg_pool2d(draw: Draw) -> GraphModule:
    x, kernel, stride, padding, sizes, zero_point = _pool(draw)
    args = (kernel, stride, padding, sizes, draw.often(), 0, zero_point)
    return draw.region("avg_pool2d", x, *args, zero_point=zero_point, layout=NHWC)


def _mean(draw: Draw) -> GraphModule:
    shape = draw.shape(draw.integer(1, 4))
    first = draw.integer(0, len(shape) - 1)
    dim = list(range(first, draw.integer(first, len(shape) - 1) + 1))
    count = math.prod(shape[d] for d in dim)
    zero_point, out = draw.zero_point(), draw.zero_point()
    scale = quantize_mean(float(np.exp(draw.rng.uniform(-1, 1))), count)
    args = (dim, draw.often(), zero_point, out, *scale)
    return draw.region("mean", draw.input(shape, zero_point), *args, zero_point=out)


def _pad(draw: Draw) -> GraphModule:
    shape = draw.shape(draw.integer(1, 4))
    padding = [draw.integer(0, 3) for _ in range(2 * len(shape))]
    args = (padding, draw.integer(-128, 127))
    return draw.region("pad", draw.input(shape, 0), *args, zero_point=0)


def _cat(draw: Draw) -> GraphModule:
    shape = list(draw.shape(draw.integer(1, 4)))
    dim = draw.integer(0, len(shape) - 1)
    inputs = []
    for _ in range(draw.integer(2, 4)):
        shape[dim] = draw.integer(1, 9)
        inputs.append(draw.input(shape, 0))
    return draw.region("cat", inputs, dim, zero_point=0)


def _slice(draw: Draw) -> GraphModule:
    shape = draw.shape(draw.integer(1, 4))
    dim = draw.integer(0, len(shape) - 1)
    start = draw.integer(0, shape[dim] - 1)
    args = (dim, start, draw.integer(start + 1, shape[dim]), draw.one_of((1, 1, 2, 3)))
    return draw.region("slice", draw.input(shape, 0), *args, zero_point=0)


def _gather(draw: Draw) -> GraphModule:
    shape = draw.shape(draw.integer(1, 4))
    dims = list(range(draw.integer(0, len(shape) - 1), len(shape)))[:2]
    x, indices = draw.input(shape, 0), []
    for dim in dims:
        index = torch.arange(shape[dim]).repeat_interleave(draw.integer(1, 3))
        if not draw.often():
            index = torch.from_numpy(draw.rng.integers(0, shape[dim], draw.integer(1, 8)))
        indices.append(draw.builder.constant("index", index.to(torch.int32)))
    return draw.region("gather", x, indices, dims, zero_point=0)


def _reshape(draw: Draw) -> GraphModule:
    shape = draw.shape(draw.integer(1, 4))
    cut = draw.integer(0, len(shape))
    result = [math.prod(shape[:cut]), math.prod(shape[cut:])]
    return draw.region("reshape", draw.input(shape, 0), result, zero_point=0)


def _transpose(draw: Draw) -> GraphModule:
    shape = draw.shape(draw.integer(2, 4))
    perm = [int(d) for d in draw.rng.permutation(len(shape))]
    return draw.region("transpose", draw.input(shape, 0), perm, zero_point=0)


def _softmax(draw: Draw) -> GraphModule:
    shape = (*draw.shape(draw.integer(0, 3)), draw.one_of((1, 2, 17, 40, 257, 300)))
    scale = float(np.exp(draw.rng.uniform(-5, 0)))
    dim = len(shape) - 1 if draw.often() else draw.integer(0, len(shape) - 1)
    table, _ = exponential_table(scale, shape[dim])
    return draw.region("softmax", draw.input(shape, 0), table, dim, 256, zero_point=-128)


def _normalize(draw: Draw) -> GraphModule:
    """Over the last dimensions; over groups of channels, behind the batch or last."""
    form, affine = draw.integer(0, 2), draw.often()
    channels, groups = draw.one_of(((1, 1), (4, 2), (6, 6), (24, 3), (17, 1), (33, 11)))
    if form == 0:
        shape = draw.shape(draw.integer(1, 4))
        first = draw.integer(0, len(shape) - 1)
        parts = [*shape[:first], *(1 for _ in shape[first:])]
        spread = shape[first:]
    else:
        batch, height, width = draw.shape(3)
        shape = (batch, channels, height, width) if form == 1 else (batch, height, width, channels)
        parts = [batch, groups, 1, 1] if form == 1 else [batch, 1, 1, groups]
        spread = (channels, 1, 1) if form == 1 else (channels,)
    draws = [torch.from_numpy(draw.rng.normal(0, 1, spread)) for _ in range(2)]
    gain, offset = draws if affine else (torch.ones(()), torch.zeros(()))
    centered, count = draw.often(), math.prod(shape) // math.prod(parts)
    epsilon = float(np.exp(draw.rng.uniform(-9, 2)))
    numbers = normalization(count, centered, epsilon, gain * 30, offset * 20)
    zero_point, out = draw.zero_point(), draw.zero_point()
    x = draw.input(shape, zero_point)
    args = (*numbers[:2], parts, centered, *numbers[2:], zero_point, out, *draw.limits())
    return draw.region("normalize", x, *args, zero_point=out)


def _bmm(draw: Draw) -> GraphModule:
    batch, (m, k, n) = draw.shape(draw.integer(0, 2)), draw.shape(3)
    transposed = draw.often()
    zero_points = draw.zero_point(), draw.zero_point(), draw.zero_point()
    shapes: tuple[tuple[int, ...], ...] = (
        (*batch, m, k),
        (*batch, n, k) if transposed else (*batch, k, n),
    )
    orders: list[list[int]] = [[], []]
    if batch and not draw.often():  # one of them has fewer
        short = draw.integer(0, 1)
        kept = tuple(1 if draw.often() else b for b in batch[draw.integer(0, 1) :])
        less = (*kept, *shapes[short][-2:])
        shapes = (less, shapes[1]) if short == 0 else (shapes[0], less)
    elif len(batch) > 1 and draw.often():  # heads: the second dimension and the rows are exchanged
        orders = [[0, 2, 1, 3], [0, 2, 1, 3]]
        shapes = tuple((s[0], s[2], s[1], s[3]) for s in shapes)
    a, b = (draw.input(s, z) for s, z in zip(shapes, zero_points[:2], strict=True))
    scale = quantize_multiplier(float(np.exp(draw.rng.uniform(-8, -3))))
    args = (a, b, transposed, *orders, *zero_points, *scale, *draw.limits())
    return draw.region("bmm", *args, zero_point=zero_points[2])


def _larger(draw: Draw, op: str) -> GraphModule:
    shape = draw.shape(draw.integer(1, 4))
    shapes = [tuple(1 if draw.integer(0, 4) == 0 else s for s in shape) for _ in range(2)]
    return draw.region(op, *(draw.input(s, 0) for s in shapes), zero_point=0)


def _extreme(draw: Draw, op: str) -> GraphModule:
    shape = draw.shape(draw.integer(1, 4))
    first = draw.integer(0, len(shape) - 1)
    dim = list(range(first, draw.integer(first, len(shape) - 1) + 1))
    return draw.region(op, draw.input(shape, 0), dim, draw.often(), zero_point=0)


def _adaptive(draw: Draw, op: str) -> GraphModule:
    shape, zero_point = draw.image(), draw.zero_point()
    most = 4 if op == "adaptive_avg_pool2d" else 9
    size = [draw.integer(1, min(s, most)) for s in shape[1:3]]
    return draw.region(
        op, draw.input(shape, zero_point, NHWC), size, zero_point=zero_point, layout=NHWC
    )


def _prelu(draw: Draw) -> GraphModule:
    shape, zero_point, out = draw.shape(draw.integer(1, 4)), draw.zero_point(), draw.zero_point()
    spread = tuple(1 if draw.often() else s for s in shape[draw.integer(0, len(shape) - 1) :])
    scale = quantize_multiplier(float(np.exp(draw.rng.uniform(-7, -3))))
    x, slope = draw.input(shape, zero_point), draw.weights(spread)
    args = (zero_point, draw.integer(1, 127), out, *scale)
    return draw.region("prelu", x, slope, *args, zero_point=out)


REGIONS: dict[str, Callable[[Draw], GraphModule]] = {
    "adaptive_avg_pool2d": lambda draw: _adaptive(draw, "adaptive_avg_pool2d"),
    "adaptive_max_pool2d": lambda draw: _adaptive(draw, "adaptive_max_pool2d"),
    "add": _add,
    "amax": lambda draw: _extreme(draw, "amax"),
    "amin": lambda draw: _extreme(draw, "amin"),
    "avg_pool2d": _avg_pool2d,
    "bmm": _bmm,
    "cat": _cat,
    "conv2d": _conv2d,
    "depthwise_conv2d": _depthwise_conv2d,
    "gather": _gather,
    "linear": _linear,
    "lut": _lut,
    "max_pool2d": _max_pool2d,
    "maximum": lambda draw: _larger(draw, "maximum"),
    "mean": _mean,
    "minimum": lambda draw: _larger(draw, "minimum"),
    "mul": _mul,
    "normalize": _normalize,
    "pad": _pad,
    "prelu": _prelu,
    "reshape": _reshape,
    "slice": _slice,
    "softmax": _softmax,
    "transpose": _transpose,
    "transpose_conv2d": _transpose_conv2d,
}


def random_region(op: str, seed: int) -> GraphModule:
    """The same op and seed, the same region."""
    return REGIONS[op](Draw(op, seed))
