# SPDX-License-Identifier: Apache-2.0
"""Random regions of several ops; each op reads one of the last few values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.fx import GraphModule, Node

from aot.backends.ethos_u.testing.draw import Draw
from aot.dialect.arithmetic import quantize_mean, quantize_multiplier
from aot.dialect.graph import Edge, Origin, edge_of, shape_of
from aot.dialect.library import OPS
from aot.dialect.quantization import Quantization
from kernels.normalize.op import constants as normalization
from kernels.softmax.op import exponential_table

_RECENT = 3
_MOST_ELEMENTS = 4000
_MOST_INPUTS = 600  # of a linear layer
_CHANNELS = (1, 3, 8, 16)


class _Chain:
    """A graph in the making."""

    def __init__(self, seed: int) -> None:
        self.draw = Draw("graph", seed)
        batch = 1 if self.draw.often() else 2
        shape = (batch, *self.draw.shape(2), self.draw.one_of(_CHANNELS))
        self.values = [self.draw.input(shape, self.draw.zero_point())]

    def recent(self, fits: Callable[[Node], bool] = lambda _: True) -> Node:
        return self.draw.one_of([v for v in self.values[-_RECENT:] if fits(v)])  # type: ignore[no-any-return]

    def call(self, op: str, *args: Any, zero_point: int) -> Node:
        graph = self.draw.module.graph
        given = [
            self.draw.builder.constant(f"c{len(graph.nodes)}_{i}", a)
            if isinstance(a, torch.Tensor)
            else a
            for i, a in enumerate(args)
        ]
        edge = Edge(Quantization(1.0, zero_point))
        return self.draw.builder.call(OPS[op], *given, edge=edge, origin=Origin((op,)))


def _lut(chain: _Chain, x: Node, out: int) -> Node:
    table = torch.from_numpy(chain.draw.rng.integers(-128, 127, 256, np.int8, endpoint=True))
    return chain.call("lut", x, table, zero_point=out)


def _zero_points(*values: Node) -> list[int]:
    return [edge_of(v).zero_point for v in values]


def _add(chain: _Chain, x: Node, out: int) -> Node:
    y = chain.recent(lambda v: shape_of(v) == shape_of(x))
    scales = np.exp(chain.draw.rng.uniform(-2, 2, 2))
    common = 2 * max(scales)
    a, b = (quantize_multiplier(float(s / common)) for s in scales)
    result = quantize_multiplier(float(common / (2**20 * 1.5 * max(scales))))
    (zero_a, zero_b) = _zero_points(x, y)
    args = (zero_a, *a, zero_b, *b, 20, out, *result, *chain.draw.limits())
    return chain.call("add", x, y, *args, zero_point=out)


def _mul(chain: _Chain, x: Node, out: int) -> Node:
    y = chain.recent(lambda v: shape_of(v) == shape_of(x))
    scale = quantize_multiplier(float(np.exp(chain.draw.rng.uniform(-6, -3))))
    args = (*_zero_points(x, y), out, *scale, *chain.draw.limits())
    return chain.call("mul", x, y, *args, zero_point=out)


def _slice(chain: _Chain, x: Node, _: int) -> Node:
    dim = chain.draw.integer(0, len(shape_of(x)) - 1)
    start = chain.draw.integer(0, shape_of(x)[dim] - 1)
    end = chain.draw.integer(start + 1, shape_of(x)[dim])
    return chain.call("slice", x, dim, start, end, 1, zero_point=edge_of(x).zero_point)


def _cat(chain: _Chain, x: Node, _: int) -> Node:
    y = chain.recent(lambda v: shape_of(v) == shape_of(x))
    dim = chain.draw.integer(0, len(shape_of(x)) - 1)
    return chain.call("cat", [x, y], dim, zero_point=edge_of(x).zero_point)


def _pad(chain: _Chain, x: Node, _: int) -> Node:
    padding = [0, 0, *(chain.draw.integer(0, 2) for _ in range(2 * len(shape_of(x)) - 2))]
    value = chain.draw.integer(-128, 127)
    return chain.call("pad", x, padding, value, zero_point=edge_of(x).zero_point)


def _transpose(chain: _Chain, x: Node, _: int) -> Node:
    perm = [int(d) for d in chain.draw.rng.permutation(len(shape_of(x)))]
    return chain.call("transpose", x, perm, zero_point=edge_of(x).zero_point)


def _reshape(chain: _Chain, x: Node, _: int) -> Node:
    shape = shape_of(x)
    result = [1, 1, *shape] if len(shape) == 2 else [shape[0], math.prod(shape[1:])]
    return chain.call("reshape", x, result, zero_point=edge_of(x).zero_point)


def _linear(chain: _Chain, x: Node, out: int) -> Node:
    weight = chain.draw.weights((chain.draw.integer(1, 16), shape_of(x)[-1]))
    args = (weight, *chain.draw.scales(weight), *_zero_points(x), out, *chain.draw.limits())
    return chain.call("linear", x, *args, zero_point=out)


def _mean(chain: _Chain, x: Node, out: int) -> Node:
    shape = shape_of(x)
    dim = [1, 2] if len(shape) == 4 else [len(shape) - 1]
    scale = quantize_mean(1.0, math.prod(shape[d] for d in dim))
    return chain.call("mean", x, dim, True, *_zero_points(x), out, *scale, zero_point=out)


def _conv2d(chain: _Chain, x: Node, out: int) -> Node:
    kernel, pad = (3, 1) if chain.draw.often() else (1, 0)
    shape = (chain.draw.one_of(_CHANNELS), kernel, kernel, shape_of(x)[3])
    weight, stride = chain.draw.weights(shape), chain.draw.integer(1, 2)
    window = [stride] * 2, [pad] * 4, [1, 1], 1
    args = (weight, *chain.draw.scales(weight), *window, *_zero_points(x), out)
    return chain.call("conv2d", x, *args, *chain.draw.limits(), zero_point=out)


def _depthwise_conv2d(chain: _Chain, x: Node, out: int) -> Node:
    weight = chain.draw.weights((3, 3, shape_of(x)[3] * chain.draw.one_of((1, 1, 2))))
    window = [chain.draw.integer(1, 2)] * 2, [1] * 4, [1, 1]
    scales = chain.draw.scales(weight.permute(2, 0, 1))
    args = (weight, *scales, *window, *_zero_points(x), out, *chain.draw.limits())
    return chain.call("depthwise_conv2d", x, *args, zero_point=out)


def _halves(x: Node) -> list[int]:
    return [max(1, size // 2) for size in shape_of(x)[1:3]]


def _max_pool2d(chain: _Chain, x: Node, _: int) -> Node:
    kernel = [min(2, size) for size in shape_of(x)[1:3]]
    args = (kernel, [2, 2], [0] * 4, [1, 1], _halves(x))
    return chain.call("max_pool2d", x, *args, zero_point=edge_of(x).zero_point)


def _avg_pool2d(chain: _Chain, x: Node, _: int) -> Node:
    (zero_point,) = _zero_points(x)
    kernel = [min(2, size) for size in shape_of(x)[1:3]]
    args = (kernel, [2, 2], [0] * 4, _halves(x), True, 0, zero_point)
    return chain.call("avg_pool2d", x, *args, zero_point=zero_point)


def _softmax(chain: _Chain, x: Node, _: int) -> Node:
    dim = len(shape_of(x)) - 1
    table, _steps = exponential_table(
        float(np.exp(chain.draw.rng.uniform(-5, 0))), shape_of(x)[dim]
    )
    return chain.call("softmax", x, table, dim, 256, zero_point=-128)


def _normalize(chain: _Chain, x: Node, out: int) -> Node:
    """Return a norm over the last dimension, or over an image's channels, each alone or all
    together.
    """
    shape = shape_of(x)
    parts = [*shape[:-1], 1]
    if len(shape) == 4 and chain.draw.often():
        parts = [shape[0], 1, 1, chain.draw.one_of((1, shape[3]))]
    gain, offset = (torch.from_numpy(chain.draw.rng.normal(0, 1, shape[-1:])) for _ in range(2))
    if chain.draw.often():
        gain, offset = torch.ones(()), torch.zeros(())
    centered, count = chain.draw.often(), math.prod(shape) // math.prod(parts)
    epsilon = float(np.exp(chain.draw.rng.uniform(-9, 2)))
    numbers = normalization(count, centered, epsilon, gain * 30, offset * 20)
    args = (*numbers[:2], parts, centered, *numbers[2:], *_zero_points(x), out)
    return chain.call("normalize", x, *args, *chain.draw.limits(), zero_point=out)


_Step = Callable[[_Chain, Node, int], Node]
_ANY: Sequence[_Step] = (
    _lut,
    _add,
    _mul,
    _slice,
    _cat,
    _pad,
    _transpose,
    _reshape,
    _linear,
    _mean,
    _softmax,
    _normalize,
    _normalize,
)
_IMAGES: Sequence[_Step] = (_conv2d, _depthwise_conv2d, _max_pool2d, _avg_pool2d)


def random_graph(seed: int) -> GraphModule:
    """Return up to seven ops; unread values are outputs. The same seed gives the same graph."""
    chain = _Chain(seed)
    for _ in range(chain.draw.integer(2, 7)):
        x = chain.recent(lambda v: math.prod(shape_of(v)) < _MOST_ELEMENTS)
        steps = [*_ANY, *_IMAGES, *_IMAGES] if len(shape_of(x)) == 4 else [*_ANY]
        if shape_of(x)[-1] > _MOST_INPUTS:
            steps.remove(_linear)
        step: _Step = chain.draw.one_of(steps)
        chain.values.append(step(chain, x, chain.draw.zero_point()))
    module = chain.draw.module
    module.graph.output(tuple(v for v in chain.values[1:] if not v.users))
    module.recompile()
    return module
