# SPDX-License-Identifier: Apache-2.0
"""Placement of a region's ops on an engine or on the core, with the fewest cycles.

A minimum cut gives the best placement if calls are free, and also if each value entering a region
costs a call, as in a chain of ops. These cuts, the whole region and none of it are improved as long
as cycles are saved: a region goes to the core, ops between regions to the engine, or one op changes
sides. The best of the results is taken. Calls are counted exactly.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import networkx
from torch.fx import Graph, Node

from aot.dialect.graph import inputs_of
from aot.dialect.results import taken_from
from aot.partition.cut import results_of, sources_of
from aot.partition.regions import convex_regions

_PASSES = 8
_ENGINE, _CORE = "engine", "core"


@dataclass(frozen=True)
class PlacementCosts:
    """Cycles of ops, calls and values.

    Attributes:
      engine, core: by op. An op without cycles of its own on the engine is part of its only reader.
      call: of each region.
      border: of a value read or given by a region.
      moves: ops not worth a region without others.
    """

    engine: Mapping[Node, int]
    core: Mapping[Node, int]
    call: int
    border: Callable[[Node], float]
    moves: Collection[Node] = ()

    def region(self, region: Sequence[Node]) -> float:
        """Return the cycles of one region, infinite if it cannot be one."""
        ops = [n for n in region if n in self.core]
        if all(n in self.moves for n in ops):
            return float("inf")
        borders = sum(map(self.border, (*sources_of(region), *results_of(region))))
        return self.call + borders + sum(self.engine[n] for n in ops)

    def total(self, regions: Iterable[Sequence[Node]]) -> float:
        """Return the cycles of all ops: of regions on the engine, of the others on the core."""
        rest, total = dict(self.core), 0.0
        for region in regions:
            total += self.region(region)
            for node in region:
                rest.pop(node, None)
        return total + sum(rest.values())


def cheapest_regions(graph: Graph, costs: PlacementCosts) -> list[list[Node]]:
    """Return the regions of the cheapest placement found; all ops are on the core if it is empty.

    Args:
      graph: a region, whose ops could all run on the engine.
    """
    units = _units(graph, costs)
    total = functools.cache(lambda taken: costs.total(_regions(graph, units, taken)))
    every = frozenset(range(len(units)))
    tried = [every, frozenset[int]()]
    tried += [_cut(units, costs, entry) for entry in (0, costs.call // 2, costs.call)]
    found = [_improved(graph, units, total, taken) for taken in dict.fromkeys(tried)]
    best = min(found, key=total)
    return _regions(graph, units, best)


def _units(graph: Graph, costs: PlacementCosts) -> list[list[Node]]:
    """Return the nodes to be placed together: calls with their results and fused inputs."""
    leader: dict[Node, Node] = {}
    for node in reversed(graph.nodes):
        if (call := taken_from(node)[0]) in costs.core:
            users = list(node.users)
            fuses = (
                node in costs.core
                and not costs.engine[node]
                and len(users) == 1
                and users[0] in leader
            )
            leader[node] = leader[users[0]] if fuses else call
    units: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        if node in leader:
            units.setdefault(leader[node], []).append(node)
    return list(units.values())


def _cut(units: Sequence[Sequence[Node]], costs: PlacementCosts, entry: int) -> frozenset[int]:
    """Return the engine's units of a minimum cut.

    Args:
      entry: cycles of a call for each value from the core to the engine.
    """
    unit = {node: i for i, nodes in enumerate(units) for node in nodes}
    net = networkx.DiGraph()
    engine = [float(sum(costs.engine.get(n, 0) for n in nodes)) for nodes in units]
    for value in dict.fromkeys(n for nodes in units for m in nodes for n in (*inputs_of(m), m)):
        place = unit.get(value, _CORE)
        readers = dict.fromkeys(unit.get(user, _CORE) for user in value.users)
        readers.pop(place, None)
        if not readers or not hasattr(value.meta["val"], "numel"):
            continue
        border = costs.border(value)
        net.add_edge((value.name, "in"), place, capacity=border + entry)
        for reader in readers:
            if reader != _CORE:
                net.add_edge(reader, (value.name, "in"))
        if place == _CORE:
            continue
        if _CORE in readers:
            engine[unit[value]] += border
            continue
        net.add_edge(place, (value.name, "out"), capacity=border)
        for reader in readers:
            net.add_edge((value.name, "out"), reader)
    for i, nodes in enumerate(units):
        net.add_edge(_ENGINE, i, capacity=sum(costs.core.get(n, 0) for n in nodes))
        net.add_edge(i, _CORE, capacity=engine[i])
    _, (taken, _) = networkx.minimum_cut(net, _ENGINE, _CORE)
    return frozenset(i for i in range(len(units)) if i in taken)


def _improved(
    graph: Graph,
    units: Sequence[Sequence[Node]],
    total: Callable[[frozenset[int]], float],
    taken: frozenset[int],
) -> frozenset[int]:
    for _ in range(_PASSES):
        before = taken
        for group in _groups(graph, units, taken):
            changed = taken - group if min(group) in taken else taken | group
            if total(changed) < total(taken):
                taken = changed
        if taken == before:
            break
    return taken


def _groups(
    graph: Graph, units: Sequence[Sequence[Node]], taken: frozenset[int]
) -> Iterator[frozenset[int]]:
    """Yield units to change sides: regions, connected parts of the rest, single ones."""
    unit = {node: i for i, nodes in enumerate(units) for node in nodes}
    near = [{unit[m] for n in u for m in (*inputs_of(n), *n.users) if m in unit} for u in units]
    for region in _regions(graph, units, taken):
        yield frozenset(unit[n] for n in region)
    rest = set(range(len(units))) - taken
    while rest:
        waiting, part = {min(rest)}, set[int]()
        while waiting:
            part |= waiting
            waiting = {j for i in waiting for j in near[i] & rest} - part
        rest -= part
        yield frozenset(part)
    for i in range(len(units)):
        if len({j in taken for j in near[i]} | {i in taken}) == 2:
            yield frozenset([i])


def _regions(
    graph: Graph, units: Sequence[Sequence[Node]], taken: frozenset[int]
) -> list[list[Node]]:
    return convex_regions(graph, [n for i in sorted(taken) for n in units[i]])
