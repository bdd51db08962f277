# SPDX-License-Identifier: Apache-2.0
"""The verifier refuses each kind of broken graph, with a description of the defect."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.fx import Graph, GraphModule, Node

from aot.dialect.delegate import Delegate, DelegatePayload, delegate_of
from aot.dialect.graph import NHWC, Builder, Edge, Origin
from aot.dialect.quantization import INT16, Quantization
from aot.dialect.verifier import VerificationError, verify
from aot.partition.cut import cut, extract
from kernels.add.op import add
from kernels.avg_pool2d.op import avg_pool2d
from kernels.lut.op import lut
from kernels.max_pool2d.op import max_pool2d
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_slice import slice

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


def _whole(scale: float, zero_point: int) -> Edge:
    return Edge(Quantization(scale, zero_point, whole=True))


BYTES = _whole(1.0, -128)
AVERAGE = ([2, 2], [2, 2], [0, 0, 0, 0], [2, 2], False, 0, -128)
POOL = ([2, 2], [2, 2], [0, 0, 0, 0], [1, 1], [2, 2])
BROKEN: dict[str, tuple[Callable[[Builder, Node], Node], str]] = {
    "zero_point": (
        lambda b, x: b.call(add, x, x, 9, *ADD[1:], edge=EDGE, origin=ORIGIN),
        "a_zero_point is 9, but `x` has zero_point 3",
    ),
    "whole numbers of another scale": (
        lambda b, x: b.call(reshape, x, [32], edge=_whole(0.5, 3), origin=ORIGIN),
        "whole numbers, but a scale of 0.5 and zero_point 3",
    ),
    "whole numbers of a float": (
        lambda b, x: b.call(
            lut, x, b.constant("t", torch.zeros(256, dtype=torch.int8)), edge=BYTES, origin=ORIGIN
        ),
        "gives whole numbers of `x`, which may be rounded",
    ),
    "whole numbers of an average": (
        lambda b, x: b.call(
            avg_pool2d,
            b.placeholder("y", x.meta["val"], BYTES),
            *AVERAGE,
            edge=BYTES,
            origin=ORIGIN,
        ),
        "gives averages",
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
    "length": (
        lambda b, x: b.call(max_pool2d, x, [2, 2, 1], *POOL[1:], edge=EDGE, origin=ORIGIN),
        "kernel has 3 numbers, not 2",
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


def delegated() -> GraphModule:
    """Two sums in a delegate; the second's result is taken out."""

    def build(builder: Builder, x: Node) -> Node:
        y = builder.call(add, x, x, *ADD, edge=EDGE, origin=ORIGIN)
        return builder.call(add, x, y, *ADD, edge=EDGE, origin=ORIGIN)

    module = graph(build)
    region = [n for n in module.graph.nodes if n.op == "call_function"]
    cut(module, [(region, Delegate(extract(module, region), "Id", DelegatePayload(b"x")))])
    return module


def inside(module: GraphModule) -> list[Node]:
    delegate = delegate_of(module, call_of(module))
    assert delegate is not None
    return [n for n in delegate.region.graph.nodes if n.op == "call_function"]


def call_of(module: GraphModule) -> Node:
    calls: list[Node] = [n for n in module.graph.nodes if n.op == "call_module"]
    return calls[0]


def result_of(module: GraphModule) -> Node:
    return next(iter(call_of(module).users))


def _other_module(module: GraphModule) -> None:
    module.add_module("delegate_0", torch.nn.Identity())


OTHER_SHAPE = torch.empty((1, 4, 4, 3), dtype=torch.int8, device="meta")
OTHER_EDGE = Edge(Quantization(0.25, 3))
# effect of a pass on a graph with a delegate: the message
BROKEN_DELEGATES: dict[str, tuple[Callable[[GraphModule], object], str]] = {
    "inside": (
        lambda m: inside(m)[0].update_arg(2, 9),
        "some_pass, in `delegate_0`: pl.add.default `add_default` (from model.py:7",
    ),
    "its result's edge": (
        lambda m: result_of(m).meta.update(edge=OTHER_EDGE),
        "is int8[1, 4, 4, 2] with Edge(quantization=Quantization(scale=0.25",
    ),
    "its result's shape": (
        lambda m: result_of(m).meta.update(val=OTHER_SHAPE),
        "is marked torch.int8[1, 4, 4, 3], but `delegate_0` gives torch.int8[1, 4, 4, 2]",
    ),
    "which result": (lambda m: result_of(m).update_arg(1, 1), "takes result 1 of 1"),
    "its input": (
        lambda m: next(iter(m.graph.nodes)).meta.update(edge=OTHER_EDGE),
        "`x` is int8[1, 4, 4, 2] with Edge(quantization=Quantization(scale=0.25",
    ),
    "how many inputs": (
        lambda m: setattr(call_of(m), "args", ()),
        "has 0 inputs and 1 results, its region 1 and 1",
    ),
    "how many results": (
        lambda m: call_of(m).meta.update(val=[]),
        "has 1 inputs and 0 results, its region 1 and 1",
    ),
    "another module": (_other_module, "calls a module that is no delegate"),
}


def test_a_right_delegate_passes() -> None:
    verify(delegated(), "a pass")


@pytest.mark.parametrize("name", BROKEN_DELEGATES)
def test_broken_delegates_are_refused(name: str) -> None:
    change, text = BROKEN_DELEGATES[name]
    module = delegated()
    change(module)
    with pytest.raises(VerificationError) as error:
        verify(module, "some_pass")
    assert text in str(error.value)
    assert "after some_pass" in str(error.value)
