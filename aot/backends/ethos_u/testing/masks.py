# SPDX-License-Identifier: Apache-2.0
"""Random regions with one op each, making or reading a mask."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch.fx import GraphModule, Node

import kernels.ops  # noqa: F401, the library
from aot.backends.ethos_u.testing.draw import Draw
from aot.dialect.graph import Edge, quantization_of
from aot.dialect.quantization import INT16, Quantization
from kernels.binary.op_compare import equal_table, factors, less_table
from kernels.softmax.op import WIDE_STEPS, exponential_table, wide_exponential_table


def _mask(draw: Draw, shape: tuple[int, ...]) -> Node:
    """Return a computed or a constant mask; a constant mask sometimes keeps nothing."""
    if draw.often():
        value = torch.empty(shape, dtype=torch.bool, device="meta")
        return draw.builder.placeholder(f"m{len(draw.module.graph.nodes)}", value, Edge())
    kept = torch.from_numpy(draw.rng.integers(0, 2, shape)).to(torch.bool)
    return draw.builder.constant("mask", kept & draw.often())


def _where(draw: Draw) -> GraphModule:
    shape = draw.shape(draw.integer(1, 4))
    shapes = [tuple(1 if draw.integer(0, 4) == 0 else s for s in shape) for _ in range(3)]
    a, b = draw.input(shapes[0], 0), draw.input(shapes[1], 0)
    if not draw.often():
        draw.module.graph.erase_node(b)
        b = draw.builder.constant("b", draw.activations(shapes[1]), Edge(quantization_of(a)))
    return draw.region("where", _mask(draw, shapes[2]), a, b, zero_point=0)


def _compared(draw: Draw, op: str) -> GraphModule:
    shape = draw.shape(draw.integer(1, 4))
    shapes = [tuple(1 if draw.integer(0, 4) == 0 else s for s in shape) for _ in range(2)]
    scale = float(np.exp(draw.rng.uniform(-1, 1))) if draw.often() else 1.0
    of_a = Quantization(1.0, draw.zero_point(), draw.kind)
    of_b = Quantization(scale, draw.zero_point(), draw.kind)
    a, b = draw.input(shapes[0], of_a.zero_point), draw.input(shapes[1], of_b.zero_point)
    b.meta["edge"] = Edge(of_b)
    if not draw.often():
        draw.module.graph.erase_node(b)
        b = draw.builder.constant("b", draw.activations(shapes[1]), Edge(of_b))
    if draw.kind is INT16:
        table = factors(of_a, of_b)
    else:
        table = less_table(of_a, of_b, draw.often()) if op == "less" else equal_table(of_a, of_b)
    rest = (table,) if op == "less" else (table, draw.often())
    return draw.region(op, a, b, *rest, zero_point=None)


def _masked_softmax(draw: Draw) -> GraphModule:
    shape = (*draw.shape(draw.integer(0, 3)), draw.one_of((1, 2, 17, 40, 257)))
    scale = float(np.exp(draw.rng.uniform(-5, 0)))
    kept = tuple(1 if draw.often() else s for s in shape[:-1])[draw.integer(0, 1) :]
    x, mask = draw.input(shape, 0), _mask(draw, (*kept, shape[-1]))
    if draw.kind is INT16:
        table = wide_exponential_table(scale / 256)
        return draw.region("masked_softmax", x, mask, table, WIDE_STEPS, zero_point=0)
    table, _ = exponential_table(scale, shape[-1])
    return draw.region("masked_softmax", x, mask, table, 256, zero_point=-128)


MASKS: dict[str, Callable[[Draw], GraphModule]] = {
    "equal": lambda draw: _compared(draw, "equal"),
    "less": lambda draw: _compared(draw, "less"),
    "masked_softmax": _masked_softmax,
    "where": _where,
}
