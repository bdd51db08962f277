# SPDX-License-Identifier: Apache-2.0
"""Random regions of one op each: odd shapes, extreme zero points, sums that saturate."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.fx import GraphModule

import kernels.ops  # noqa: F401, the library
from aot.backends.ethos_u.testing.draw import Draw
from aot.backends.ethos_u.testing.masks import MASKS
from aot.backends.ethos_u.testing.windows import WINDOWS
from aot.dialect.arithmetic import quantize_mean, quantize_multiplier, sums_multiplier
from aot.dialect.graph import Edge, quantization_of
from aot.dialect.library import OPS
from aot.dialect.quantization import ACTIVATIONS, INT8, INT16, Quantization, QuantizedType
from aot.rules.binary import LEFT_SHIFT
from kernels.binary.op_div import FRACTION_BITS
from kernels.linear.op_w4 import packed
from kernels.log_softmax.op import log_constants
from kernels.normalize.op import constants as normalization
from kernels.quantize.op_requantize import requantize_arguments
from kernels.reduce.op_cumsum import guard_bits
from kernels.reduce.op_second_moment import fraction_bits
from kernels.softmax.op import WIDE_STEPS, exponential_table, wide_exponential_table


def _linear(draw: Draw) -> GraphModule:
    shape, zero_point, out = draw.shape(draw.integer(1, 4)), draw.zero_point(), draw.zero_point()
    weight = draw.weights((draw.integer(1, 40), shape[-1]))
    args = (weight, *draw.scales(weight), zero_point, out, *draw.limits())
    return draw.region("linear", draw.input(shape, zero_point), *args, zero_point=out)


def _linear_w4(draw: Draw) -> GraphModule:
    shape, zero_point, out = draw.shape(draw.integer(1, 4)), draw.zero_point(), draw.zero_point()
    outputs, group = draw.integer(1, 40), draw.one_of((2, 4, 32))
    weight = torch.from_numpy(draw.rng.integers(-7, 7, (outputs, shape[-1]), np.int8, True))
    groups = draw.rng.integers(1, 18, (outputs, -(-shape[-1] // group)), np.int8, True)
    scale = torch.from_numpy(groups)
    numbers = draw.scales(weight.double() * 9)
    args = (packed(weight), scale, *numbers, group, zero_point, out, *draw.limits())
    return draw.region("linear_w4", draw.input(shape, zero_point), *args, zero_point=out)


def _operands(draw: Draw) -> tuple[list[Any], list[int]]:
    """Return two values, or a value and a constant, sometimes broadcast, with their zero points."""
    shape = draw.shape(draw.integer(1, 4))
    shapes = [tuple(1 if draw.integer(0, 4) == 0 else s for s in shape) for _ in range(2)]
    shapes[1] = shapes[1][draw.integer(0, 1) if len(shape) > 1 else 0 :]
    zero_points = [draw.zero_point(), draw.zero_point()]
    operands: list[Any] = [draw.input(s, z) for s, z in zip(shapes, zero_points, strict=True)]
    if not draw.often():
        constant = draw.activations(shapes[1])
        edge = Edge(Quantization(1.0, zero_points[1], draw.kind))
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
    bits = LEFT_SHIFT[draw.kind]
    args = [
        *operands,
        *(zero_points[0], *sides[0], zero_points[1], *sides[1], bits),
        *(out, *quantize_multiplier(float(common / (2**bits * result))), *draw.limits()),
    ]
    return draw.region("add", *args, zero_point=out)


def _mul(draw: Draw) -> GraphModule:
    operands, zero_points = _operands(draw)
    out = draw.zero_point()
    factor = float(np.exp(draw.rng.uniform(-7, 0.5)))
    scale = quantize_multiplier(factor * 2**-8 if draw.kind is INT16 else factor)
    args = (*operands, *zero_points, out, *scale, *draw.limits())
    return draw.region("mul", *args, zero_point=out)


def _div(draw: Draw) -> GraphModule:
    operands, zero_points = _operands(draw)
    factor = float(np.exp(draw.rng.uniform(-1, 6))) / 2 ** FRACTION_BITS[draw.kind.dtype]
    scale = sums_multiplier(factor, draw.kind.dtype)
    out = draw.zero_point()
    args = (*operands, *zero_points, out, *scale, *draw.limits())
    return draw.region("div", *args, zero_point=out)


def _lut(draw: Draw) -> GraphModule:
    if draw.kind is INT16:  # without jumps
        steps = draw.rng.integers(-3000, 3000, 513).cumsum() + draw.value()
        table = torch.from_numpy(steps.clip(-32768, 32767)).to(torch.int16)
    else:
        table = draw.activations((256,))
    x = draw.input(draw.shape(draw.integer(1, 4)), 0)
    return draw.region("lut", x, table, zero_point=draw.zero_point())


def _mean(draw: Draw) -> GraphModule:
    shape = draw.shape(draw.integer(1, 4))
    first = draw.integer(0, len(shape) - 1)
    dim = list(range(first, draw.integer(first, len(shape) - 1) + 1))
    count = math.prod(shape[d] for d in dim)
    zero_point, out = draw.zero_point(), draw.zero_point()
    scale = quantize_mean(float(np.exp(draw.rng.uniform(-1, 1))), count)
    args = (dim, draw.often(), zero_point, out, *scale)
    return draw.region("mean", draw.input(shape, zero_point), *args, zero_point=out)


def _cumsum(draw: Draw) -> GraphModule:
    shape, zero_point, out = draw.shape(draw.integer(1, 4)), draw.zero_point(), draw.zero_point()
    if not draw.often():
        shape = (*shape[:-1], draw.integer(10, 200))
    dim = draw.integer(0, len(shape) - 1)
    bits = guard_bits(shape[dim], draw.kind.dtype)
    factor = float(np.exp(draw.rng.uniform(-5, 0))) / 2**bits
    scale = sums_multiplier(factor, draw.kind.dtype)
    args = (dim, bits, zero_point, out, *scale)
    return draw.region("cumsum", draw.input(shape, zero_point), *args, zero_point=out)


def _second_moment(draw: Draw) -> GraphModule:
    shape = draw.shape(draw.integer(1, 4))
    if not draw.often():
        shape = (*shape[:-1], draw.one_of((40, 300)))
    dim = sorted(int(d) for d in draw.rng.permutation(len(shape))[: draw.integer(1, 3)])
    centered, root, zero_point = draw.often(), draw.often(), draw.zero_point()
    bits = fraction_bits(math.prod(shape[d] for d in dim), centered, root, draw.kind.dtype)
    count = math.prod(shape[d] for d in dim)
    times = 2.0**bits * (count * count if centered else 1)
    factor = float(np.exp(draw.rng.uniform(-2, 1))) * (
        math.sqrt(1 / times) if root else 0.01 / times
    )
    scale = sums_multiplier(factor, draw.kind.dtype)
    args = (dim, draw.often(), centered, root, zero_point, out := draw.zero_point(), *scale)
    return draw.region("second_moment", draw.input(shape, zero_point), *args, zero_point=out)


def _logarithm(draw: Draw, op: str) -> GraphModule:
    """Return a region of log_softmax or logsumexp."""
    shape = (*draw.shape(draw.integer(0, 3)), draw.one_of((1, 2, 17, 40, 257, 300)))
    dim = [len(shape) - 1] if draw.often() else [draw.integer(0, len(shape) - 1)]
    if op == "logsumexp" and not draw.often():
        dim = sorted({*dim, draw.integer(0, len(shape) - 1)})
    zero_point, out = draw.zero_point(), draw.zero_point()
    scales = np.exp(draw.rng.uniform((-5, -3), (0, -1))) / (256 if draw.kind is INT16 else 1)
    before, after = (
        Quantization(float(s), z, draw.kind) for s, z in zip(scales, (zero_point, out), strict=True)
    )
    length = math.prod(shape[d] for d in dim)
    table, bits, factors = log_constants(before, after, length)
    x = draw.input(shape, zero_point)
    if op == "log_softmax":
        return draw.region(op, x, table, dim[0], bits, *factors, out, zero_point=out)
    args = (table, dim, draw.often(), zero_point, bits, *factors, out)
    return draw.region(op, x, *args, zero_point=out)


def _requantize(draw: Draw) -> GraphModule:
    source = draw.input(draw.shape(draw.integer(1, 4)), draw.zero_point())
    before = quantization_of(source)
    draw.kind = INT8 if draw.kind is INT16 else INT16
    step = 256.0 if draw.kind is INT8 else 1 / 256
    after = Quantization(
        step * float(np.exp(draw.rng.uniform(-2, 1))), draw.zero_point(), draw.kind
    )
    args = requantize_arguments(before, after)
    return draw.region("requantize", source, *args, zero_point=after.zero_point)


def _pad(draw: Draw) -> GraphModule:
    shape = draw.shape(draw.integer(1, 4))
    padding = [draw.integer(0, 3) for _ in range(2 * len(shape))]
    args = (padding, draw.value())
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
    x = draw.input(shape, 0)
    if draw.kind is INT16:
        table = wide_exponential_table(scale / 256)
        return draw.region("softmax", x, table, dim, WIDE_STEPS, zero_point=0)
    table, _ = exponential_table(scale, shape[dim])
    return draw.region("softmax", x, table, dim, 256, zero_point=-128)


def _normalize(draw: Draw) -> GraphModule:
    """Return a norm over the last dimensions, or over groups of channels, placed second or last."""
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
    scale = draw.product_scale(draw.rng.uniform(-8, -3))
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


def _prelu(draw: Draw) -> GraphModule:
    shape, zero_point, out = draw.shape(draw.integer(1, 4)), draw.zero_point(), draw.zero_point()
    spread = tuple(1 if draw.often() else s for s in shape[draw.integer(0, len(shape) - 1) :])
    scale = draw.product_scale(draw.rng.uniform(-7, -3))
    x, slope = draw.input(shape, zero_point), draw.activations(spread)
    args = (zero_point, draw.integer(1, draw.kind.quant_max), out, *scale)
    return draw.region("prelu", x, slope, *args, zero_point=out)


REGIONS: dict[str, Callable[[Draw], GraphModule]] = {
    **MASKS,
    **WINDOWS,
    "add": _add,
    "amax": lambda draw: _extreme(draw, "amax"),
    "amin": lambda draw: _extreme(draw, "amin"),
    "bmm": _bmm,
    "cat": _cat,
    "cumsum": _cumsum,
    "div": _div,
    "gather": _gather,
    "linear": _linear,
    "linear_w4": _linear_w4,
    "log_softmax": lambda draw: _logarithm(draw, "log_softmax"),
    "logsumexp": lambda draw: _logarithm(draw, "logsumexp"),
    "lut": _lut,
    "maximum": lambda draw: _larger(draw, "maximum"),
    "mean": _mean,
    "minimum": lambda draw: _larger(draw, "minimum"),
    "mul": _mul,
    "normalize": _normalize,
    "pad": _pad,
    "prelu": _prelu,
    "requantize": _requantize,
    "reshape": _reshape,
    "second_moment": _second_moment,
    "slice": _slice,
    "softmax": _softmax,
    "transpose": _transpose,
}


INT16_REGIONS = [op for op in REGIONS if torch.int16 in OPS[op].dtypes.get("input", ACTIVATIONS)]
"""Ops with an int16 form."""


def random_region(op: str, seed: int, kind: QuantizedType = INT8) -> GraphModule:
    """Return the same op, seed and type of activations, the same region."""
    return REGIONS[op](Draw(op, seed, kind))
