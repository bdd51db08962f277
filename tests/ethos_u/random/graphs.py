# SPDX-License-Identifier: Apache-2.0
"""Random TOSA graphs of several operators in any form, including forms avoided by emitters.

Each step reads one of the last few values, or two. Unread values are outputs. Values are int8 or
int16, in four dimensions or fewer. Sums between an operator and its RESCALE are wider.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from aot.backends.ethos_u.block import INT8, INT16, INT32, NUMPY, TosaValue
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu

_RECENT = 4
_MOST_STEPS = 9
_MOST_ELEMENTS = 6000  # of a step's input
_MOST_ROWS = 200  # of a matrix product
_RANK = 4
_CHANNELS = (1, 3, 8, 16, 20)
_OF_TORCH = {INT8: torch.int8, INT16: torch.int16}
_ONE = 1 << 30, 30  # as multiplier and shift


class _Raw(TosaGraph):
    """Operators as they are called: none is left out, copied, or put elsewhere."""

    def transpose(self, x: TosaValue, perm: Sequence[int]) -> TosaValue:
        return self._transposed(x, perm)

    def reshape(self, x: TosaValue, shape: Sequence[int]) -> TosaValue:
        return self._view(x, shape)

    def _original(self, x: TosaValue) -> TosaValue:
        return x


class _Chain:
    """A graph under construction, and its source of random numbers."""

    def __init__(self, seed: int, npu: Npu) -> None:
        self.rng = np.random.default_rng(seed)
        self.graph = _Raw(npu)
        self.read: set[str] = set()
        self.steps: list[str] = []
        batch = self.one_of((1, 1, 2))
        shape = (batch, self.integer(1, 12), self.integer(1, 12), self.one_of(_CHANNELS))
        dtype = torch.int8 if self.integer(0, 4) else torch.int16
        self.first = self.graph.input(torch.empty(shape, dtype=dtype))
        self.values = [self.first]

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high, endpoint=True))

    def one_of(self, items: Sequence[Any]) -> Any:
        return items[self.integer(0, len(items) - 1)]

    def recent(self, fits: Callable[[TosaValue], bool]) -> TosaValue | None:
        found = [v for v in self.values[-_RECENT:] if fits(v)]
        return self.one_of(found) if found else None

    def numbers(self, shape: Sequence[int], dtype: int) -> Any:
        limits = np.iinfo(NUMPY[dtype])
        return self.rng.integers(limits.min, limits.max, shape, endpoint=True)

    def zero_point(self, dtype: int) -> int:
        return self.integer(-128, 127) if dtype == INT8 else 0

    def narrowed(self, sums: TosaValue, dtype: int, terms: int) -> TosaValue:
        """Return sums of products of `terms` terms after rescaling, by channel or as a whole."""
        count = sums.shape[-1] if self.integer(0, 1) else 1
        bits = 16 if dtype == INT16 else 32  # of the multiplier
        multiplier = self.rng.integers(1 << (bits - 2), (1 << (bits - 1)) - 1, count)
        shift = bits - 1 + 7 + (math.ceil(math.log2(terms)) + 1) // 2 + self.integer(-1, 1)
        y = self.graph.rescale(
            sums,
            multiplier,
            np.full(count, shift),
            dtype,
            output_zero_point=self.zero_point(dtype),
            double_round=dtype == INT8 and bool(self.integer(0, 1)),
        )
        if self.integer(0, 2):
            return y
        low = self.integer(-100, 0)
        return self.graph.clamp(y, low, self.integer(low, 120))


_Step = Callable[[_Chain, TosaValue], TosaValue | None]


def _weights(chain: _Chain, shape: Sequence[int]) -> Any:
    weights = chain.numbers(shape, INT8)
    return np.where(chain.rng.random(shape) < 0.3, 0, weights) if chain.integer(0, 1) else weights


def _window(chain: _Chain, x: TosaValue, kernels: Sequence[tuple[int, int]]) -> Any:
    """Return a kernel, stride and padding for windows ending at the edge; None if none
    was found.
    """
    kernel, stride = chain.one_of(kernels), [chain.one_of((1, 1, 2)) for _ in range(2)]
    padding = []
    for d in (0, 1):
        before = chain.integer(0, kernel[d] // 2)
        rest = (x.shape[1 + d] + before - kernel[d]) % stride[d]
        after = stride[d] - rest if rest else 0
        if before > kernel[d] - 1 or after > kernel[d] - 1 or x.shape[1 + d] < kernel[d]:
            return None
        padding += [before, after]
    return list(kernel), stride, padding


def _conv2d(chain: _Chain, x: TosaValue) -> TosaValue | None:
    found = _window(chain, x, [(1, 1), (1, 1), (3, 3), (1, 3), (5, 1), (2, 2)])
    if len(x.shape) != _RANK or found is None:
        return None
    kernel, stride, padding = found
    out = chain.one_of(_CHANNELS)
    weight = _weights(chain, (out, *kernel, x.shape[3]))
    bias = chain.rng.integers(-3000, 3000, out)
    zero_point = chain.zero_point(x.dtype)
    sums = chain.graph.conv2d(x, weight, bias, zero_point, stride, padding)
    return chain.narrowed(sums, x.dtype, weight[0].size)


def _depthwise_conv2d(chain: _Chain, x: TosaValue) -> TosaValue | None:
    found = _window(chain, x, [(3, 3), (2, 2), (1, 3), (3, 1)])
    if len(x.shape) != _RANK or found is None:
        return None
    kernel, stride, padding = found
    weight = _weights(chain, (*kernel, x.shape[3], 1))
    bias = chain.rng.integers(-3000, 3000, x.shape[3])
    zero_point = chain.zero_point(x.dtype)
    sums = chain.graph.depthwise_conv2d(x, weight, bias, zero_point, stride, padding)
    return chain.narrowed(sums, x.dtype, math.prod(kernel))


def _transpose_conv2d(chain: _Chain, x: TosaValue) -> TosaValue | None:
    if len(x.shape) != _RANK or x.dtype != INT8:
        return None
    out, stride = chain.one_of(_CHANNELS), chain.one_of((1, 2))
    weight = _weights(chain, (out, 3, 3, x.shape[3]))
    size = [(s - 1) * stride + 3 for s in x.shape[1:3]]
    bias, zero_point = chain.rng.integers(-3000, 3000, out), chain.zero_point(x.dtype)
    sums = chain.graph.transpose_conv2d(x, weight, bias, zero_point, [0] * 4, [stride] * 2, size)
    return chain.narrowed(sums, x.dtype, weight[0].size)


def _pool(chain: _Chain, x: TosaValue) -> TosaValue | None:
    found = _window(chain, x, [(2, 2), (3, 3), (1, 2), (3, 1)])
    if len(x.shape) != _RANK or found is None:
        return None
    graph = chain.graph
    return graph.max_pool2d(x, *found) if chain.integer(0, 1) else graph.avg_pool2d(x, *found)


def _matmul(chain: _Chain, x: TosaValue) -> TosaValue | None:
    """Return rows times rows of another value, as in attention scores."""
    graph, k = chain.graph, x.shape[-1]
    y = chain.recent(lambda v: len(v.shape) == len(x.shape) > 2 and v.shape[-1] == k)
    if y is None or y.shape[0] != x.shape[0] or x.dtype == INT16 or y.dtype == INT16:
        return None
    rows = [math.prod(v.shape[1:-1]) for v in (x, y)]
    if max(rows) > _MOST_ROWS:
        return None
    a, b = (graph.reshape(v, (v.shape[0], n, k)) for v, n in zip((x, y), rows, strict=True))
    zero_points = [chain.zero_point(v.dtype) for v in (a, b)]
    sums = graph.matmul(a, graph.transpose(b, (0, 2, 1)), *zero_points)
    chain.read.add(y.name)
    return chain.narrowed(sums, x.dtype, k)


def _table(chain: _Chain, x: TosaValue) -> TosaValue:
    graph = chain.graph
    if x.dtype == INT8:
        return graph.table(x, chain.numbers((256,), INT8))
    looked_up = graph.table(x, chain.rng.integers(-16000, 16000, 513))
    return graph.rescale(looked_up, 1 << 30, 37, INT16)


def _clamp(chain: _Chain, x: TosaValue) -> TosaValue:
    low = chain.integer(-100, 50)
    return chain.graph.clamp(x, low, chain.integer(low, 127))


def _rescale(chain: _Chain, x: TosaValue) -> TosaValue:
    """Add a RESCALE to the same or the other type."""
    dtype = chain.one_of((INT8, INT8, INT16))
    multiplier, shift = chain.integer(1 << 30, (1 << 31) - 1), 30 + chain.integer(0, 3)
    return chain.graph.rescale(
        x,
        multiplier,
        shift,
        dtype,
        input_zero_point=chain.zero_point(x.dtype),
        output_zero_point=chain.zero_point(dtype),
    )


def _pair(chain: _Chain, x: TosaValue) -> TosaValue:
    """Return a value as large as x, or one row, channel or pixel of one, a constant, or
    an input.
    """
    shape = x.shape
    y = chain.recent(lambda v: v.shape == shape and v.dtype == x.dtype) or x
    kind = chain.integer(0, 5)
    if kind == 2:
        return chain.graph.input(torch.empty(shape, dtype=_OF_TORCH[x.dtype]))
    if kind == 0:
        sizes = [s if chain.integer(0, 1) else 1 for s in shape]
        return chain.graph.constant(chain.numbers(sizes, x.dtype), x.dtype)
    if kind == 1:
        size = [s if chain.integer(0, 1) else 1 for s in shape]
        y = chain.graph.slice(y, [0] * len(shape), size)
    chain.read.add(y.name)
    return y


def _sum(chain: _Chain, x: TosaValue) -> TosaValue:
    y, graph = _pair(chain, x), chain.graph
    wide = [
        graph.rescale(
            v, chain.integer(1 << 30, (1 << 31) - 1), 18, INT32, input_zero_point=zero_point
        )
        for v, zero_point in ((v, chain.zero_point(v.dtype)) for v in (x, y))
    ]
    total = graph.add(*wide) if chain.integer(0, 1) else graph.sub(*wide)
    dtype = x.dtype
    return graph.rescale(
        total,
        chain.integer(1 << 30, (1 << 31) - 1),
        43 + chain.integer(0, 1),
        dtype,
        output_zero_point=chain.zero_point(dtype),
    )


def _product(chain: _Chain, x: TosaValue) -> TosaValue:
    y, graph = _pair(chain, x), chain.graph
    wide = [
        graph.rescale(v, *_ONE, INT32, input_zero_point=chain.zero_point(v.dtype)) for v in (x, y)
    ]
    shift = 36 if x.dtype == INT8 else 44
    return graph.rescale(
        graph.mul(*wide),
        chain.integer(1 << 30, (1 << 31) - 1),
        shift,
        x.dtype,
        output_zero_point=chain.zero_point(x.dtype),
    )


def _extreme(chain: _Chain, x: TosaValue) -> TosaValue:
    y, graph = _pair(chain, x), chain.graph
    wide = [graph.rescale(v, *_ONE, INT32) for v in (x, y)]
    found = graph.maximum(*wide) if chain.integer(0, 1) else graph.minimum(*wide)
    return graph.rescale(found, *_ONE, x.dtype)


def _reduce_max(chain: _Chain, x: TosaValue) -> TosaValue:
    return chain.graph.reduce_max(x, chain.integer(1, len(x.shape) - 1))


def _reduce_sum(chain: _Chain, x: TosaValue) -> TosaValue:
    axis, graph = chain.integer(1, len(x.shape) - 1), chain.graph
    wide = graph.rescale(x, *_ONE, INT32, input_zero_point=chain.zero_point(x.dtype))
    total = graph.reduce_sum(wide, axis)
    shift = 31 + math.ceil(math.log2(x.shape[axis]) / 2)
    return graph.rescale(total, chain.integer(1 << 30, (1 << 31) - 1), shift, x.dtype)


def _slice(chain: _Chain, x: TosaValue) -> TosaValue:
    start = [chain.integer(0, s - 1) if chain.integer(0, 1) else 0 for s in x.shape]
    size = [
        chain.integer(1, s - b) if chain.integer(0, 1) else s - b
        for s, b in zip(x.shape, start, strict=True)
    ]
    return chain.graph.slice(x, start, size)


def _pad(chain: _Chain, x: TosaValue) -> TosaValue:
    padding = [0, 0, *(chain.one_of((0, 0, 1, 2)) for _ in range(2 * len(x.shape) - 2))]
    return chain.graph.pad(x, padding, chain.zero_point(x.dtype))


def _concat(chain: _Chain, x: TosaValue) -> TosaValue | None:
    axis = chain.integer(0, len(x.shape) - 1)

    def others(v: TosaValue) -> list[int]:
        return [size for d, size in enumerate(v.shape) if d != axis]

    def fits(v: TosaValue) -> bool:
        same = len(v.shape) == len(x.shape) and v.dtype == x.dtype
        return same and others(v) == others(x)

    y = chain.recent(fits) or x
    chain.read.add(y.name)
    return chain.graph.concat([x, y] if chain.integer(0, 1) else [y, x], axis)


def _transpose(chain: _Chain, x: TosaValue) -> TosaValue | None:
    perm = [int(d) for d in chain.rng.permutation(len(x.shape))]
    return None if perm == sorted(perm) else chain.graph.transpose(x, perm)


def _reshape(chain: _Chain, x: TosaValue) -> TosaValue | None:
    """Add a reshape: two dimensions as one, one as two, or one more or less in front."""
    shape, kind = list(x.shape), chain.integer(0, 2)
    d = chain.integer(0, len(shape) - 1)
    if kind == 0 and d:
        shape[d - 1 : d + 1] = [shape[d - 1] * shape[d]]
    elif kind == 1 and len(shape) < _RANK:
        factor = chain.one_of([f for f in range(1, shape[d] + 1) if shape[d] % f == 0])
        shape[d : d + 1] = [factor, shape[d] // factor]
    elif len(shape) < _RANK:
        shape.insert(0, 1)
    else:
        shape = [1, 1, math.prod(shape[:-1]), shape[-1]]
    return chain.graph.reshape(x, shape) if tuple(shape) != x.shape and len(shape) > 1 else None


_STEPS: Sequence[_Step] = (
    _conv2d,
    _conv2d,
    _depthwise_conv2d,
    _transpose_conv2d,
    _pool,
    _matmul,
    _table,
    _clamp,
    _rescale,
    _sum,
    _sum,
    _product,
    _extreme,
    _reduce_max,
    _reduce_sum,
    _slice,
    _pad,
    _concat,
    _transpose,
    _reshape,
)


def random_graph(seed: int, npu: Npu) -> tuple[bytes, str]:
    """Return a graph for an NPU, and its steps for people. The same seed, the same graph."""
    chain = _Chain(seed, npu)
    wanted = chain.integer(2, _MOST_STEPS)
    while len(chain.steps) < wanted:
        x = chain.recent(lambda v: math.prod(v.shape) <= _MOST_ELEMENTS) or chain.first
        step = chain.one_of(_STEPS)
        y = step(chain, x)
        if y is None:
            continue
        chain.read.add(x.name)
        chain.steps.append(f"{step.__name__[1:]} {list(y.shape)}")
        chain.values.append(y)
    for value in chain.values:
        if value.name not in chain.read and value is not chain.first:
            chain.graph.output(value)
    return chain.graph.serialize(), ", ".join(chain.steps)
