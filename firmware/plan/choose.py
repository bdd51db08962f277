# SPDX-License-Identifier: Apache-2.0
"""Which of a graph's plans: the fastest that fits, or the smallest.

Each step down has more instructions: nearer calls, then groups of steps that run row by row.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol, TypeVar

from firmware.plan.graph import Graph, Step
from firmware.plan.grouping import Grouping
from firmware.plan.layout import ALIGNMENT
from firmware.plan.planner import live_bytes
from firmware.plan.rows import Rows, with_groups
from firmware.plan.sharing import share_memory
from kernels.common.kernel import KernelCall


class Made(Protocol):
    """A plan."""

    @property
    def arena_bytes(self) -> int: ...


P = TypeVar("P", bound=Made)
Make = Callable[[Graph], P | None]
"""Plans a graph as it is; None if it does not fit."""


def fastest(graphs: Iterable[Graph], have: int, make: Make[P]) -> P | None:
    """The first that fits.

    Args:
      graphs: the same, the first with the fewest instructions, the last one in the least memory.
      have: bytes that are there.
      make: see there.
    """
    tried: list[Graph] = []
    for graph in graphs:
        found = make(graph) or _with_nearest(graph, make, enough=True)
        if found is not None:
            return found
        tried.append(graph)
    for graph in dict.fromkeys((tried[0], tried[-1])):
        rows = Rows(graph)
        for nearer in (True, False):
            grouping = Grouping(graph, rows, nearer)
            for _, grouped in _by_limits(graph, grouping, grouping.limits(have)):
                found = _with_nearest(grouped, make, enough=True)
                if found is not None:
                    return found
    return None


def smallest(graphs: Iterable[Graph], have: int, make: Make[P]) -> P | None:
    """The smallest: tries the least limit first, and no others if that is what a placement takes.

    Args:
      graphs, have, make: as of `fastest`.
    """
    first, *more = graphs
    best = None
    for graph in (*more[-1:], first):
        found = _with_nearest(graph, make)
        if found is not None and (best is None or found.arena_bytes <= best.arena_bytes):
            best = found
        rows = Rows(graph)
        for nearer in (True, False):
            grouping = Grouping(graph, rows, nearer)
            limits = [*grouping.limits(have)]
            for limit, grouped in _by_limits(graph, grouping, reversed(limits)):
                if best is not None and best.arena_bytes <= limit:
                    break
                found = _with_nearest(grouped, make)
                if found is not None and (best is None or found.arena_bytes < best.arena_bytes):
                    best = found
    return best


def steps_down(graphs: Iterable[Graph], bytes_now: int) -> list[tuple[int, int]]:
    """Bytes that smaller plans would need, the largest first, and instructions, roughly, that they
    take beside the fastest calls. What a placement really takes may be more.

    Args:
      graphs: as of `fastest`.
      bytes_now: what there is less than.
    """
    work: dict[int, int] = {}
    for graph in graphs:
        grouping = Grouping(graph)
        for limit in grouping.limits(bytes_now):
            more = grouping.work(limit)
            if limit < bytes_now and more is not None:
                work[limit] = min(more, work.get(limit, more))
    found: list[tuple[int, int]] = []
    for limit in sorted(work):  # what takes less memory and fewer instructions takes its place
        if not found or work[limit] < found[-1][1]:
            found.append((limit, work[limit]))
    return found[::-1]


def _by_limits(
    graph: Graph, grouping: Grouping, limits: Iterable[int]
) -> Iterator[tuple[int, Graph]]:
    """With the groups that keep each limit, where they are others than before."""
    tried: list[object] = [{}]
    for limit in limits:
        groups = grouping.groups(limit) or {}
        kinds = {at: [m.scratch for m in group.members] for at, group in groups.items()}
        if kinds not in tried:
            tried.append(kinds)
            yield limit, with_groups(graph, groups)


def _with_nearest(graph: Graph, make: Make[P], enough: bool = False) -> P | None:
    """With the nearest calls where more is in use than fits into the arena that these allow, or
    with those of them that are as good and faster; that fit, if it is `enough`.
    """
    nearest = {step: depth for step in graph.steps if (depth := _depth(step.kernel))}
    plan = make(_with_nearer(graph, nearest))
    if plan is None:
        return None
    sharing = share_memory(graph)
    live = live_bytes(sharing.blocks, ALIGNMENT)
    in_use, kept = 0, set()
    for index, step in enumerate(sharing.steps, 1):
        in_use = live.get(index, in_use)
        if in_use > plan.arena_bytes:
            kept.add(step)
    chosen = {step: depth for step, depth in nearest.items() if step in kept}
    for deepest in range(1, max(chosen.values(), default=1) + 1):
        depths = {step: min(depth, deepest) for step, depth in chosen.items()}
        fewer = make(_with_nearer(graph, depths))
        if fewer is not None and (enough or fewer.arena_bytes <= plan.arena_bytes):
            return fewer
    return plan


def _depth(kernel: KernelCall) -> int:
    """How many times there is a nearer call."""
    return 0 if kernel.nearer is None else 1 + _depth(kernel.nearer)


def _with_nearer(graph: Graph, depths: Mapping[Step, int]) -> Graph:
    """With the nearer call so many times, of these steps."""
    steps = []
    for step in graph.steps:
        kernel = step.kernel
        for _ in range(depths.get(step, 0)):
            assert kernel.nearer is not None
            kernel = kernel.nearer
        steps.append(step if kernel is step.kernel else replace(step, kernel=kernel))
    return replace(graph, steps=tuple(steps))
