# SPDX-License-Identifier: Apache-2.0
"""Choice of a region's ops for the core, which takes fewer cycles for them.

The costs of ops on the NPU are those in Vela's programs. The first program is of the whole region.
Programs of the cheapest parts correct the costs, since Vela fuses ops. A placement counts the
programs, the calls, the values that cross a border, and the core's ops with a read of constants.
Parts replace the whole if they save enough: estimates are rough, and each op of the core needs its
kernel in flash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from torch.fx import GraphModule, Node

from aot.backends.ethos_u.cost import (
    CALL,
    border_cycles,
    constant_cycles,
    core_cycles,
    not_worth,
)
from aot.backends.ethos_u.emit import only_moves
from aot.dialect.graph import dialect_op
from aot.partition.cut import extract
from aot.partition.placement import PlacementCosts, cheapest_regions
from aot.partition.regions import convex_regions

MOST_PARTS = 32
"""Largest number of parts of a region that are compiled to find its placement."""

LEAST_SAVING = 0.05
"""Smallest part of the cycles that a placement must save to replace the whole region."""

CyclesOf = Callable[[GraphModule], Mapping[str, int] | None]
"""Returns the cycles of a region's program by op, by name, or None if there is no program."""


def ops_left(region: GraphModule, cycles_of: CyclesOf) -> dict[str, str]:
    """Return the names of the ops for the core with the reasons, if other ops are for the NPU.

    Args:
      region: an adopted region, whose ops could all run on the NPU.
    """
    whole = cycles_of(region)
    if whole is None:
        return {}
    ops = [node for node in region.graph.nodes if dialect_op(node)]
    costs = PlacementCosts(
        engine={op: whole.get(op.name, 0) for op in ops},
        core={op: core_cycles(op) + constant_cycles(op) for op in ops},
        call=CALL,
        border=border_cycles,
        moves=frozenset(filter(only_moves, ops)),
    )
    every = [node for node in region.graph.nodes if node.op == "call_function"]
    programs: dict[tuple[Node, ...], Mapping[str, int]] = {tuple(every): whole}
    best, fewest = [every], (1 - LEAST_SAVING) * _total([every], programs, costs)
    while True:
        regions = cheapest_regions(region.graph, costs)
        new = [part for part in regions if tuple(part) not in programs]
        if not new or len(programs) - 1 + len(new) > MOST_PARTS:
            break
        for part in new:
            cycles = cycles_of(extract(region, part))
            if cycles is None:
                return _reasons(region, best, costs)
            programs[tuple(part)] = cycles
            known = {op: cycles.get(op.name, 0) for op in part if op in costs.core}
            costs = replace(costs, engine={**costs.engine, **known})
        total = _total(regions, programs, costs)
        if total < fewest:
            best, fewest = regions, total
    return _reasons(region, best, costs)


def _total(
    regions: Sequence[Sequence[Node]],
    programs: Mapping[tuple[Node, ...], Mapping[str, int]],
    costs: PlacementCosts,
) -> float:
    """Return the cycles of a placement with the programs of its regions."""
    calls = replace(costs, engine=dict.fromkeys(costs.engine, 0))
    return calls.total(regions) + sum(sum(programs[tuple(part)].values()) for part in regions)


def _reasons(
    region: GraphModule, parts: Sequence[Sequence[Node]], costs: PlacementCosts
) -> dict[str, str]:
    taken = {node for part in parts for node in part}
    rest = [op for op in costs.core if op not in taken]
    reasons = {}
    for group in convex_regions(region.graph, rest):
        reason = not_worth(group, sum(costs.engine[op] for op in group))
        told = (
            reason or f"the ops around {'it' if len(group) == 1 else 'them'} take fewer cycles then"
        )
        reasons.update({op.name: told for op in group})
    return reasons
