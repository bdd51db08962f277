# SPDX-License-Identifier: Apache-2.0
"""Selects one of a graph's plans: the fastest that fits, or the smallest.

Each smaller plan has more instructions: fallback calls first, then row streaming of groups of
steps.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol, TypeVar

from aot.plan.graph import Graph, Step
from aot.plan.grouping import Grouping, work_of
from aot.plan.layout import ALIGNMENT
from aot.plan.planner import live_bytes
from aot.plan.rows import Rows, with_groups
from aot.plan.sharing import share_memory
from kernels.common.kernel import KernelCall


class Made(Protocol):
    """A plan and its cost."""

    @property
    def arena_bytes(self) -> int: ...


P = TypeVar("P", bound=Made)
Make = Callable[[Graph], P | None]
"""Plans a graph as it is; None if it does not fit."""


def fastest(graphs: Iterable[Graph], have: int, make: Make[P], by_rows: bool = True) -> P | None:
    """Return the plan of the first graph if it fits, else the fitting one with the least work.

    Options are fallback calls, row streaming, and both with virtual concats.

    Args:
      graphs: variants of one graph, from the fewest instructions to the least memory.
      have: available bytes.
      make: plans a graph.
      by_rows: steps may run row by row.
    """
    found: list[tuple[int, P]] = []
    tried: list[Graph] = []
    for graph in graphs:
        plan = None if tried else make(graph)
        if plan is not None:
            return plan
        tried.append(graph)
        near = _with_nearest(graph, make, enough=True)
        if near is not None:
            found.append(near)
            break
    options = [
        option
        for graph in (dict.fromkeys((tried[0], tried[-1])) if by_rows else ())
        for rows in (Rows(graph),)
        for grouping in (Grouping(graph, rows, fallback) for fallback in (True, False))
        for option in _by_limits(graph, grouping, grouping.limits(have))
    ]
    for work, _, grouped in sorted(options, key=lambda option: option[:2]):
        if found and work >= min(found, key=lambda option: option[0])[0]:
            break
        made = _with_nearest(grouped, make, enough=True)
        if made is not None:
            found.append(made)
    return min(found, key=lambda option: option[0])[1] if found else None


def smallest(graphs: Iterable[Graph], have: int, make: Make[P], by_rows: bool = True) -> P | None:
    """Return the smallest plan. Among equals, return the one with the least work.

    The search starts with the least limit. It stops if a placement reaches the limit.

    Args:
      graphs, have, make, by_rows: see `fastest`.
    """
    first, *more = graphs
    found = [_made(first, make)]
    for graph in (first, *more[-1:]):
        found.append(_with_nearest(graph, make))
        if not by_rows:
            continue
        rows = Rows(graph)
        for fallback in (True, False):
            grouping = Grouping(graph, rows, fallback)
            for _, limit, grouped in _by_limits(graph, grouping, [*grouping.limits(have)][::-1]):
                if any(option is not None and option[1].arena_bytes < limit for option in found):
                    break
                found.append(_with_nearest(grouped, make))
    fits = [option for option in found if option is not None]
    return min(fits, key=lambda o: (o[1].arena_bytes, o[0]))[1] if fits else None


def steps_down(graphs: Iterable[Graph], most: int) -> list[tuple[int, int]]:
    """Return smaller plans as pairs (bytes, extra instructions), the largest first.

    Instructions are rough, relative to the fastest calls. A real placement may take more bytes.

    Args:
      graphs: see `fastest`.
      most: upper bound of the bytes, exclusive.
    """
    work: dict[int, int] = {}
    for graph in graphs:
        grouping = Grouping(graph)
        for limit in grouping.limits(most):
            groups = grouping.groups(limit)
            if limit < most and groups is not None:
                more = grouping.work(groups, limit)
                work[limit] = min(more, work.get(limit, more))
    found: list[tuple[int, int]] = []
    for limit in sorted(work):  # keeps only limits with fewer instructions than all smaller ones
        if not found or work[limit] < found[-1][1]:
            found.append((limit, work[limit]))
    return found[::-1]


def _by_limits(
    graph: Graph, grouping: Grouping, limits: Iterable[int]
) -> Iterator[tuple[int, int, Graph]]:
    """Yield work, limit, and the graph with its row groups, if they differ from earlier ones."""
    tried: list[object] = [{}]
    for limit in limits:
        groups = grouping.groups(limit) or {}
        kinds = {at: [m.scratch for m in group.members] for at, group in groups.items()}
        if kinds not in tried:
            tried.append(kinds)
            yield grouping.work(groups, limit), limit, with_groups(graph, groups)


def _with_nearest(graph: Graph, make: Make[P], enough: bool = False) -> tuple[int, P] | None:
    """Return the plan with fallback calls where memory is short, and its work (see work_of).

    Fallback calls replace steps with more bytes in use than the arena of a plan with all of them.
    Faster fallback calls are preferred if the arena stays as small; with `enough`, if they fit.
    """

    def made(depths: Mapping[Step, int]) -> tuple[int, P] | None:
        return _made(_with_fallback(graph, depths), make)

    nearest = {step: depth for step in graph.steps if (depth := _depth(step.kernel))}
    found = made(nearest)
    if found is None:
        return None
    _, plan = found
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
        fewer = made(depths)
        if fewer is not None and (enough or fewer[1].arena_bytes <= plan.arena_bytes):
            return fewer
    return found


def _made(graph: Graph, make: Make[P]) -> tuple[int, P] | None:
    """Return the plan of a graph, with its work."""
    plan = make(graph)
    return None if plan is None else (work_of(graph.steps), plan)


def _depth(kernel: KernelCall) -> int:
    """Return the length of a call's chain of fallback calls."""
    return 0 if kernel.fallback is None else 1 + _depth(kernel.fallback)


def _with_fallback(graph: Graph, depths: Mapping[Step, int]) -> Graph:
    """Return the graph with these steps replaced by their fallback calls of a given depth."""
    steps = []
    for step in graph.steps:
        kernel = step.kernel
        for _ in range(depths.get(step, 0)):
            assert kernel.fallback is not None
            kernel = kernel.fallback
        is_fallback = kernel is not step.kernel
        steps.append(replace(step, kernel=kernel, is_fallback=True) if is_fallback else step)
    return replace(graph, steps=tuple(steps))
