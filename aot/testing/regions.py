# SPDX-License-Identifier: Apache-2.0
"""Cuts a region out of a dialect graph, for tests of what comes after."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import torch
from torch.fx import Graph, GraphModule, Node

from aot.dialect.delegate import Delegate, Payload
from aot.dialect.graph import Edge, Origin
from aot.dialect.results import take


def cut(
    module: GraphModule,
    nodes: Collection[Node],
    compile_region: Callable[[GraphModule], tuple[str, Payload]],
) -> Node:
    """Replaces nodes by one call of a delegate, in place; returns the call.

    Args:
      module: a dialect graph.
      nodes: call_function nodes; constants that they read go along. Nothing outside lies between
        two of them.
      compile_region: dialect graph -> id of the backend, and its payload.
    """
    graph = module.graph
    inside = set(nodes)
    members = [n for n in graph.nodes if n in inside]
    after: set[Node] = set()
    for node in graph.nodes:
        reads_region = any(a in inside or a in after for a in node.all_input_nodes)
        if node not in inside and reads_region:
            after.add(node)
    sources = list(
        dict.fromkeys(
            a for n in members for a in n.all_input_nodes if a.op != "get_attr" and a not in inside
        )
    )
    results = [n for n in members if any(u not in inside for u in n.users)]
    region = _extract(module, members, sources, results)
    name = f"delegate_{sum(isinstance(m, Delegate) for m in module.children())}"
    module.add_module(name, Delegate(region, *compile_region(region)))

    late = [n for n in graph.nodes if n in after]
    last = members[-1]
    with graph.inserting_after(last):
        call = graph.call_module(name, tuple(sources))
    origin = Origin(tuple(op for n in members for op in n.meta["origin"].ops))
    call.meta.update(val=[r.meta["val"] for r in results], edge=Edge(), origin=origin)
    end = call
    for index, result in enumerate(results):
        with graph.inserting_after(end):
            item = take(graph, call, index)
        item.meta = dict(result.meta)
        result.replace_all_uses_with(item, delete_user_cb=lambda user: user not in inside)
        end = item
    for node in late:  # what reads the region and came before its last node
        if node < end:
            end.append(node)
            end = node
    for node in reversed(members):
        graph.erase_node(node)
    for node in list(graph.nodes):
        if node.op == "get_attr" and not node.users:
            graph.erase_node(node)
    graph.lint()
    module.recompile()
    return call


def _extract(
    module: GraphModule, members: Sequence[Node], sources: Sequence[Node], results: Sequence[Node]
) -> GraphModule:
    graph, root = Graph(), torch.nn.Module()
    copies: dict[Node, Node] = {}
    for source in sources:
        copies[source] = graph.placeholder(source.name)
        copies[source].meta = dict(source.meta)
    for node in members:
        for constant in node.all_input_nodes:
            if constant.op == "get_attr" and constant not in copies:
                name = str(constant.target)
                root.register_buffer(name, module.get_buffer(name))
                copies[constant] = graph.node_copy(constant)
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output(tuple(copies[r] for r in results)).meta.update(origin=Origin())
    return GraphModule(root, graph)
