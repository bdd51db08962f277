# SPDX-License-Identifier: Apache-2.0
"""Which values get another order of dimensions, so that as little as possible is copied.

Two things are to be chosen. Where an op has inputs of which some are transposed and others are not,
as an image that is joined to what a network makes of it, either may become as the others are. And a
state may have its channels last: nobody but the model sees it. Whether that pays is seen at the
whole graph only, so it is tried: all at once, then one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    NHWC,
    ROW_MAJOR,
    Builder,
    Edge,
    Origin,
    arguments,
    calls,
    copied,
    edge_of,
    returned,
    shape_of,
    state_nodes,
    state_of,
    with_layout,
)
from aot.dialect.moved import CHANNELS_FIRST, CHANNELS_LAST
from aot.dialect.ops.transpose import transpose
from aot.passes.rewrite.own_state import is_piece
from aot.passes.rewrite.sink_transposes import moves_nothing

_AT_MOST = 32
"""How many choices are tried one after the other."""


@dataclass(frozen=True)
class Layouts:
    """What is chosen.

    Attributes:
      meeting: names of the nodes whose inputs all become transposed, where some are.
      states: indices of those that get their channels last.
    """

    meeting: frozenset[str] = frozenset()
    states: frozenset[int] = frozenset()


Rewrite = Callable[[GraphModule, Callable[[str], bool]], None]
"""Does all rewrites of a graph; asks for the nodes whose inputs are to meet."""

_Cost = tuple[int, int]
"""Elements that are copied, and transposes."""


def choose_layouts(module: GraphModule, rewrite: Rewrite) -> Layouts:
    """The best that was found; the graph stays as it is."""
    search = _Search(module, rewrite)
    nothing = Layouts()
    best, cost = nothing, search.cost(nothing)
    possible = search.asked
    states = frozenset(_movable(module))
    if cost == (0, 0) or not (possible or states):
        return nothing
    for some_states in dict.fromkeys((nothing.states, states)):
        for layouts in (Layouts(states=some_states), search.all_meeting(some_states)):
            if layouts == nothing:
                continue
            found = search.cost(layouts)
            if found < cost:
                best, cost = layouts, found
            possible |= search.asked
    for other in _one_by_one(sorted(possible)[:_AT_MOST], sorted(states)[:_AT_MOST]):
        layouts = Layouts(best.meeting ^ other.meeting, best.states ^ other.states)
        found = search.cost(layouts)
        if found < cost:
            best, cost = layouts, found
    return best


def _one_by_one(names: list[str], states: list[int]) -> Iterator[Layouts]:
    yield from (Layouts(meeting=frozenset([name])) for name in names)
    yield from (Layouts(states=frozenset([state])) for state in states)


class _Search:
    def __init__(self, module: GraphModule, rewrite: Rewrite) -> None:
        self._module = module
        self._rewrite = rewrite
        self.asked: frozenset[str] = frozenset()

    def cost(self, layouts: Layouts) -> _Cost:
        """What is copied then; `asked` has the nodes whose inputs could meet."""
        return self._tried(layouts.states, layouts.meeting.__contains__)

    def all_meeting(self, states: frozenset[int]) -> Layouts:
        """All inputs meet that can."""
        self._tried(states, lambda _: True)
        return Layouts(self.asked, states)

    def _tried(self, states: frozenset[int], meets: Callable[[str], bool]) -> _Cost:
        asked: set[str] = set()

        def noted(name: str) -> bool:
            asked.add(name)
            return meets(name)

        module = copied(self._module)
        move_states(module, states)
        self._rewrite(module, noted)
        self.asked = frozenset(asked)
        return _cost(module)


def move_states(module: GraphModule, indices: frozenset[int]) -> None:
    """Gives states their channels last, in place; transposes stand where they are read and made."""
    if not indices:
        return
    builder = Builder(module, module.graph)
    origin = Origin(("state",))
    placeholders = [node for node, _ in state_nodes(module)]
    for node in (placeholders[index] for index in sorted(indices)):
        state, edge, rank = state_of(node), edge_of(node), node.meta["val"].dim()
        users = list(node.users)
        initial = state.initial.permute(CHANNELS_LAST[rank]).contiguous()
        node.meta["state"] = replace(state, initial=initial)
        node.meta["val"] = torch.empty(initial.shape, dtype=initial.dtype, device="meta")
        node.meta["edge"] = _last(edge, rank)
        edge = with_layout(edge, ROW_MAJOR)
        with module.graph.inserting_before(node.next):
            first = builder.call(transpose, node, CHANNELS_FIRST[rank], edge=edge, origin=origin)
        for user in users:
            user.replace_input_with(node, first)
    # One state may be another one's new value: all are read as they were before any is made.
    output = module.graph.output_node()
    results, news = returned(module)
    with module.graph.inserting_before(output):
        for index in sorted(indices):
            new = news[index]
            rank = len(shape_of(new))
            edge = _last(edge_of(new), rank)
            news[index] = builder.call(
                transpose, new, CHANNELS_LAST[rank], edge=edge, origin=origin
            )
    output.args = ((*results, *news),)
    module.graph.lint()
    module.recompile()


def _last(edge: Edge, rank: int) -> Edge:
    """An edge whose channels come last."""
    return with_layout(edge, NHWC if rank == 4 else ROW_MAJOR)


def _movable(module: GraphModule) -> Iterator[int]:
    for index, (node, _) in enumerate(state_nodes(module)):
        perm = CHANNELS_LAST.get(node.meta["val"].dim())
        if perm is not None and not moves_nothing(shape_of(node), perm):
            yield index


def _cost(module: GraphModule) -> _Cost:
    elements = transposes = 0
    for node in module.graph.nodes:
        size = node.meta["val"].numel() if copies(node) else 0
        elements += size
        transposes += calls(node, "transpose") and size > 0
    return elements, transposes


def copies(node: Node) -> bool:
    """Whether a node copies what it gives, as far as that can be told before memory is planned."""
    if calls(node, "transpose"):
        return not moves_nothing(shape_of(node.args[0]), arguments(node)["perm"])  # type: ignore[arg-type]
    if calls(node, "slice"):
        return not is_piece(node)
    if calls(node, "cat"):
        joined = math.prod(shape_of(node)[: arguments(node)["dim"]]) == 1
        return not joined or any(_is_there(part) for part in arguments(node)["inputs"])
    return calls(node, "gather") or calls(node, "pad")


def _is_there(value: Node) -> bool:
    """Whether a value has a place of its own: it is given, a state, a constant, or part of one."""
    while calls(value, "reshape") or (calls(value, "slice") and is_piece(value)):
        value = arguments(value)["input"]
    return value.op != "call_function"
