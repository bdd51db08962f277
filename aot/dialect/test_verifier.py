# SPDX-License-Identifier: Apache-2.0
"""The verifier refuses each kind of broken graph, and says what is broken."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.fx import Graph, GraphModule, Node

from aot.dialect.graph import NHWC, Builder, Edge, Origin
from aot.dialect.ops.add import add
from aot.dialect.ops.lut import lut
from aot.dialect.ops.max_pool2d import max_pool2d
from aot.dialect.ops.reshape import reshape
from aot.dialect.ops.slice import slice
from aot.dialect.quantization import INT16, Quantization
from aot.dialect.verifier import VerificationError, verify

EDGE = Edge(Quantization(0.5, 3))
ORIGIN = Origin(("aten.relu",), "model.py:7 in forward: return x.relu()")
ADD = (3, 2**30, 0, 3, 2**30, 0, 20, 3, 2**30, -18, -128, 127)


def graph(build: Callable[[Builder, Node], Node], dtype: torch.dtype = torch.int8) -> GraphModule:
    module = GraphModule(torch.nn.Module(), Graph())
    builder = Builder(module, module.graph)
    x = builder.placeholder("x", torch.empty((1, 4, 4, 2), dtype=dtype, device="meta"), EDGE)
    module.graph.output(build(builder, x))
    module.recompile()
    return module


def test_a_right_graph_passes() -> None:
    verify(graph(lambda b, x: b.call(add, x, x, *ADD, edge=EDGE, origin=ORIGIN)), "a pass")


def _marked(node: Node, **meta: object) -> Node:
    node.meta.update(meta)
    return node


def _float_op(builder: Builder, x: Node) -> Node:
    node = x.graph.call_function(torch.ops.aten.abs.default, (x,))
    return _marked(node, val=x.meta["val"], edge=Edge(), origin=ORIGIN)


POOL = ([2, 2], [2, 2], [0, 0, 0, 0], [1, 1], [2, 2])
BROKEN: dict[str, tuple[Callable[[Builder, Node], Node], str]] = {
    "zero_point": (
        lambda b, x: b.call(add, x, x, 9, *ADD[1:], edge=EDGE, origin=ORIGIN),
        "a_zero_point is 9, but `x` has zero_point 3",
    ),
    "output zero_point": (
        lambda b, x: b.call(add, x, x, *ADD, edge=Edge(Quantization(0.5, 4)), origin=ORIGIN),
        "output_zero_point is 3",
    ),
    "shared quantization": (
        lambda b, x: b.call(reshape, x, [32], edge=Edge(Quantization(0.25, 3)), origin=ORIGIN),
        "differ in scale",
    ),
    "no scale": (
        lambda b, x: b.call(
            lut, x, b.constant("t", torch.zeros(256, dtype=torch.int8)), edge=Edge(), origin=ORIGIN
        ),
        "without a scale",
    ),
    "layout": (
        lambda b, x: b.call(max_pool2d, x, *POOL, edge=EDGE, origin=ORIGIN),
        "layout row_major, not NHWC",
    ),
    "rank": (
        lambda b, x: b.call(reshape, x, [1, 1, 1, 1, 1, 4, 8], edge=EDGE, origin=ORIGIN),
        "more than 6 dimensions",
    ),
    "no elements": (
        lambda b, x: b.call(slice, x, 1, 2, 2, 1, edge=EDGE, origin=ORIGIN),
        "no elements",
    ),
    "shape": (
        lambda b, x: _marked(
            b.call(reshape, x, [32], edge=EDGE, origin=ORIGIN),
            val=torch.empty((31,), dtype=torch.int8, device="meta"),
        ),
        "is marked",
    ),
    "float op on int8": (_float_op, "without an int8 form reads int8 values of `x`"),
    "constant dtype": (
        lambda b, x: b.call(lut, x, b.constant("t", torch.zeros(256)), edge=EDGE, origin=ORIGIN),
        "table is torch.float32",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_graphs_are_refused(name: str) -> None:
    build, text = BROKEN[name]
    with pytest.raises(VerificationError) as error:
        verify(graph(build), "some_pass")
    assert text in str(error.value)
    assert "after some_pass" in str(error.value)
    assert "model.py:7" in str(error.value)


QUANTIZATIONS: list[tuple[Quantization, str]] = [
    (Quantization(0.0), "a scale of 0.0"),
    (Quantization(0.5, 128), "zero_point 128, not in [-128, 127]"),
    (Quantization(0.5, 0, INT16), "gives torch.int8, but its scale is of torch.int16"),
]


@pytest.mark.parametrize("quantization, text", QUANTIZATIONS)
def test_a_quantization_is_as_the_dtype_allows(quantization: Quantization, text: str) -> None:
    def build(builder: Builder, x: Node) -> Node:
        table = builder.constant("t", torch.zeros(256, dtype=torch.int8))
        return builder.call(lut, x, table, edge=Edge(quantization), origin=ORIGIN)

    with pytest.raises(VerificationError) as error:
        verify(graph(build), "some_pass")
    assert text in str(error.value)


def test_spatial_ops_pass_with_nhwc() -> None:
    def build(builder: Builder, x: Node) -> Node:
        x.meta["edge"] = Edge(EDGE.quantization, NHWC)
        return builder.call(max_pool2d, x, *POOL, edge=Edge(EDGE.quantization, NHWC), origin=ORIGIN)

    verify(graph(build), "a pass")
