# SPDX-License-Identifier: Apache-2.0
"""Cuts regions out of a dialect graph and replaces them by delegate calls."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter

import torch
from torch.fx import Graph, GraphModule, Node

from aot.dialect.delegate import Delegate
from aot.dialect.graph import Edge, Origin, inputs_of
from aot.dialect.results import take
from aot.passes.rewrite.drop_dead_constants import drop_dead_constants

Region = Sequence[Node]


def sources_of(region: Region) -> list[Node]:
    """Return the values that a region reads, in the order of first use."""
    inside = set(region)
    return list(dict.fromkeys(n for m in region for n in inputs_of(m) if n not in inside))


def results_of(region: Region) -> list[Node]:
    """Return a region's nodes with readers outside of it, in order."""
    inside = set(region)
    return [n for n in region if any(u not in inside for u in n.users)]


def extract(module: GraphModule, region: Region) -> GraphModule:
    """Return the dialect graph of a region: its sources as inputs, a tuple of its results as
    output.

    Constants are shared with the module; it is not changed.
    """
    graph, root = Graph(), torch.nn.Module()
    copies: dict[Node, Node] = {}
    for source in sources_of(region):
        copies[source] = graph.placeholder(source.name)
        copies[source].meta = dict(source.meta)
        copies[source].meta.pop("state", None)  # an input as any other, to the region
    for node in region:
        for constant in node.all_input_nodes:
            if constant.op == "get_attr" and constant not in copies:
                name = str(constant.target)
                root.register_buffer(name, module.get_buffer(name))
                copies[constant] = graph.node_copy(constant)
        copies[node] = graph.node_copy(node, copies.__getitem__)
    output = graph.output(tuple(copies[r] for r in results_of(region)))
    output.meta.update(origin=Origin())
    return GraphModule(root, graph)


def cut(module: GraphModule, delegates: Sequence[tuple[Region, Delegate]]) -> None:
    """Replace regions by calls, in place. Other nodes keep their order if possible.

    Args:
      module: a dialect graph.
      delegates: convex regions that do not overlap, each with its delegate.
    """
    made = {region[0]: (region, delegate) for region, delegate in delegates}
    leader = {node: region[0] for region, _ in delegates for node in region}
    graph = Graph()
    copies: dict[Node, Node] = {}
    for node in _ordered(module.graph, leader):
        if node in made:
            region, delegate = made[node]
            _call(graph, _add(module, delegate), region, copies)
        elif node.op != "get_attr" or any(u not in leader for u in node.users):
            copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.lint()
    module.graph = graph
    drop_dead_constants(module)


def _ordered(graph: Graph, leader: Mapping[Node, Node]) -> Iterator[Node]:
    """Yield nodes outside of regions, and one node for each region, in topological order.

    If several may come next, the first in the graph comes next.
    """
    nodes = list(graph.nodes)
    position = {node: i for i, node in enumerate(nodes)}
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for node in nodes:
        unit = position[leader.get(node, node)]
        read = {position[leader.get(n, n)] for n in node.all_input_nodes}
        sorter.add(unit, *read - {unit})
    sorter.prepare()
    ready: list[int] = []
    while sorter.is_active():
        for unit in sorter.get_ready():
            heapq.heappush(ready, unit)
        unit = heapq.heappop(ready)
        sorter.done(unit)
        yield nodes[unit]


def _add(module: GraphModule, delegate: Delegate) -> str:
    count = 0
    while hasattr(module, f"delegate_{count}"):
        count += 1
    module.add_module(f"delegate_{count}", delegate)
    return f"delegate_{count}"


def _origin(region: Region) -> Origin:
    """Return the origin of a region's ops: their common module, or the first and the last op."""
    origins = [n.meta["origin"] for n in region]
    modules = list(dict.fromkeys(o.module for o in origins if o.module))
    module = " to ".join(dict.fromkeys([*modules[:1], *modules[-1:]]))
    return Origin(tuple(op for o in origins for op in o.ops), module=module)


def _call(graph: Graph, name: str, region: Region, copies: dict[Node, Node]) -> None:
    results = results_of(region)
    call = graph.call_module(name, tuple(copies[s] for s in sources_of(region)))
    call.meta.update(
        val=[r.meta["val"] for r in results],
        edge=Edge(),
        origin=_origin(region),
    )
    for index, result in enumerate(results):
        item = take(graph, call, index, result.name)
        item.meta = dict(result.meta)
        copies[result] = item
