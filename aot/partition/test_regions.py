# SPDX-License-Identifier: Apache-2.0
"""Regions of random graphs: convex, disjoint, complete; and cutting them out changes no bit."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.fx import Graph, GraphModule, Node

from aot.dialect.delegate import Delegate, DelegatePayload, delegate_of
from aot.dialect.graph import Builder, Edge, Origin, dialect_op, inputs_of
from aot.dialect.quantization import Quantization
from aot.dialect.verifier import verify
from aot.partition.cut import cut, extract
from aot.partition.regions import convex_regions
from aot.testing.fixtures import int8_inputs
from kernels.add.op import add
from kernels.lut.op import lut

EDGE = Edge(Quantization(0.5, 3))
ADD = (3, 2**30, 0, 3, 2**30, 0, 20, 3, 2**30, -18, -128, 127)


@dataclass
class Case:
    """A dialect graph and the nodes that an engine takes."""

    module: GraphModule
    taken: list[Node]


def build(inputs: int, reads: list[tuple[int, int]], taken: list[bool], outputs: list[int]) -> Case:
    """Return a graph of int8 [1, 4] values.

    Args:
      inputs: number of inputs.
      reads: the inputs of each node, counted back from it (0 is the last value). Two
        equal ones make a table of the value, others a sum.
      taken: True for the engine's nodes.
      outputs: values returned, counted back, in addition to the unread ones.
    """
    module = GraphModule(torch.nn.Module(), Graph())
    builder = Builder(module, module.graph)
    fake = torch.empty((1, 4), dtype=torch.int8, device="meta")
    values = [builder.placeholder(f"x{i}", fake, EDGE) for i in range(inputs)]
    table = builder.constant("table", torch.arange(256).mul(7).to(torch.int8))
    nodes: list[Node] = []
    for back_a, back_b in reads:
        a, b = values[-1 - back_a % len(values)], values[-1 - back_b % len(values)]
        origin = Origin((f"aten.op{len(nodes)}",))
        node = (
            builder.call(lut, a, table, edge=EDGE, origin=origin)
            if a is b
            else builder.call(add, a, b, *ADD, edge=EDGE, origin=origin)
        )
        nodes.append(node)
        values.append(node)
    returned = dict.fromkeys([n for n in nodes if not n.users])
    returned |= dict.fromkeys(nodes[-1 - back % len(nodes)] for back in outputs)
    module.graph.output(tuple(returned))
    module.recompile()
    return Case(module, [n for n, take in zip(nodes, taken, strict=True) if take])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    count = draw(st.integers(1, 24))
    back = st.integers(0, 6)
    reads = draw(st.lists(st.tuples(back, back), min_size=count, max_size=count))
    taken = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return build(draw(st.integers(1, 3)), reads, taken, draw(st.lists(back, max_size=3)))


def reachable(start: list[Node], inside: set[Node]) -> set[Node]:
    """Return the nodes outside a region reachable by its paths."""
    found: set[Node] = set()
    waiting = [u for n in start for u in n.users if u not in inside]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.users
    return found


@settings(max_examples=300, deadline=None)
@given(cases())
def test_regions_are_convex_connected_and_hold_all_that_is_taken(case: Case) -> None:
    regions = convex_regions(case.module.graph, case.taken)
    assert sorted(n for region in regions for n in region) == sorted(case.taken)
    for region in regions:
        inside = set(region)
        assert not reachable(region, inside) & inside, "a path leaves the region and comes back"
        connected, waiting = {region[0]}, [region[0]]
        while waiting:
            node = waiting.pop()
            near = {n for n in (*inputs_of(node), *node.users) if n in inside} - connected
            connected |= near
            waiting += near
        assert connected == inside
        assert region == sorted(region), "in the order of the graph"
    assert [r[0] for r in regions] == sorted(r[0] for r in regions)


@settings(max_examples=150, deadline=None)
@given(cases())
def test_a_cut_graph_computes_the_same(case: Case) -> None:
    module = case.module
    inputs = int8_inputs(module)
    before = module(*inputs)
    outside = [
        n.name for n in module.graph.nodes if n not in case.taken and n.op == "call_function"
    ]
    regions = convex_regions(module.graph, case.taken)
    made = [Delegate(extract(module, r), "Id", DelegatePayload(b"x")) for r in regions]
    cut(module, list(zip(regions, made, strict=True)))
    verify(module, "cut")
    after = module(*inputs)
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    calls = [n for n in module.graph.nodes if delegate_of(module, n) is not None]
    assert len(calls) == len(regions)
    left = [n.name for n in module.graph.nodes if dialect_op(n) is not None]
    assert sorted(left) == sorted(outside), "the CPU's ops are those that no engine took"
    assert {n for n, _ in module.named_buffers(recurse=False)} == (
        {"table"} if any(n.op == "get_attr" for n in module.graph.nodes) else set()
    )


# name: (reads, taken, regions as positions of nodes)
SHAPES: dict[str, tuple[list[tuple[int, int]], str, list[list[int]]]] = {
    "a chain": ([(0, 0)] * 4, "1111", [[0, 1, 2, 3]]),
    "nothing": ([(0, 0)] * 3, "000", []),
    "two in a chain": ([(0, 0)] * 5, "11011", [[0, 1], [3, 4]]),
    # 0 -> 1 -> 3, 0 -> 2 -> 3: the engine leaves 2, so 3 cannot be with 0 and 1.
    "a diamond without its middle": ([(0, 0), (0, 0), (1, 1), (0, 1)], "1101", [[0, 1], [3]]),
    "a diamond": ([(0, 0), (0, 0), (1, 1), (0, 1)], "1111", [[0, 1, 2, 3]]),
    # 1 reads a CPU result (0); 2 does not; 3 reads both.
    "one that may run early and late": ([(0, 0), (0, 0), (2, 2), (0, 1)], "0111", [[1, 2, 3]]),
    # 0 -> 1 (CPU) -> 4 -> 5; 2 -> 4 and 2 -> 3 (CPU), whose result has no other reader: 2 joins 4.
    "one that a CPU op reads, which can wait": (
        [(0, 0), (0, 0), (2, 2), (0, 0), (1, 2), (0, 0)],
        "101011",
        [[0], [2, 4, 5]],
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name: str) -> None:
    reads, taken, expected = SHAPES[name]
    case = build(1, reads, [t == "1" for t in taken], [])
    nodes = [n for n in case.module.graph.nodes if n.op == "call_function"]
    regions = convex_regions(case.module.graph, case.taken)
    assert [[nodes.index(n) for n in r] for r in regions] == expected
