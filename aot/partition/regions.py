# SPDX-License-Identifier: Apache-2.0
"""Forms regions from the nodes of an engine.

Every node has a stage: odd if the engine takes it, even otherwise. It is never smaller than the
stage of an input. Stages only rise on a path, so a path never returns to a stage. Connected nodes
of one odd stage are therefore a convex region, and no two regions wait for each other. (torch.fx
has a partitioner; it keeps every node's descendants, with quadratic cost.)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from torch.fx import Graph, Node

from aot.dialect.graph import inputs_of


def convex_regions(graph: Graph, taken: Collection[Node]) -> list[list[Node]]:
    """Return connected convex regions. Each accepted node is in exactly one.

    Time is linear in the graph, times its logarithm. The result depends on nothing else.

    Args:
      graph: constants (get_attr nodes) are not part of any region.
      taken: compute nodes, with their getitem nodes.

    Returns:
      regions by their first nodes, each in the order of the graph.
    """
    members = set(taken)
    nodes = [n for n in graph.nodes if n.op != "get_attr"]
    stages = _earliest(nodes, members)
    _join_later(nodes, members, stages)
    return _connected(nodes, members, stages)


def _earliest(nodes: list[Node], members: set[Node]) -> dict[Node, int]:
    stages: dict[Node, int] = {}
    for node in nodes:
        stage = max((stages[n] for n in inputs_of(node)), default=0)
        stages[node] = stage + (stage % 2 != (node in members))
    return stages


def _join_later(nodes: list[Node], members: set[Node], stages: dict[Node, int]) -> None:
    """Raise the stage of nodes that may run later, so that they join a region that reads them."""
    last = 2 * len(nodes)
    position = {node: i for i, node in enumerate(nodes)}
    units = [
        *_connected(nodes, members, stages),
        *([node] for node in nodes if node not in members),
    ]
    for unit in sorted(units, key=lambda u: (stages[u[0]], position[u[0]]), reverse=True):
        own = set(unit)
        stage = min((stages[u] for n in unit for u in n.users if u not in own), default=last)
        if unit[0] not in members:
            stage -= stage % 2  # before the engine's node reading it
        elif stage % 2 == 0:
            continue  # its first reader is no region
        stages.update(dict.fromkeys(unit, stage))


def _connected(
    nodes: list[Node], members: set[Node], stages: Mapping[Node, int]
) -> list[list[Node]]:
    """Return the connected parts of each stage."""
    part: dict[Node, int] = {}
    count = 0
    for start in nodes:
        if start not in members or start in part:
            continue
        waiting = [start]
        part[start] = count
        while waiting:
            node = waiting.pop()
            for other in (*inputs_of(node), *node.users):
                same = other in members and stages[other] == stages[node]
                if same and other not in part:
                    part[other] = count
                    waiting.append(other)
        count += 1
    regions: list[list[Node]] = [[] for _ in range(count)]
    for node in nodes:
        if node in part:
            regions[part[node]].append(node)
    return regions
