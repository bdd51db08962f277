# SPDX-License-Identifier: Apache-2.0
"""Which values get another order of dimensions, so that as little as possible is copied.

Three things are to be chosen. Where an op has inputs of which some are transposed and others are
not, as an image that is joined to what a network makes of it, either may become as the others are.
Linear layers may read rows as they lie, and give those another order. And a state may have its
channels last: nobody but the model sees it. Whether that pays is seen at the whole graph only, so
it is tried: all of a kind at once, then one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
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
from aot.passes.rewrite.own_state import is_piece
from aot.passes.rewrite.sink_transposes import moves_nothing
from kernels.strided_copy.op_transpose import transpose

_AT_MOST = 32
"""How many choices are tried one after the other."""

_PASSED_OVER = 20_000
"""Nodes that those tries pass over together: of a large graph fewer choices are tried."""


@dataclass(frozen=True)
class Layouts:
    """What is chosen.

    Attributes:
      meeting: names of the nodes whose inputs all become transposed, where some are.
      rows: names of the values whose rows linear layers read as they lie.
      states: indices of those that get their channels last.
    """

    meeting: frozenset[str] = frozenset()
    rows: frozenset[str] = frozenset()
    states: frozenset[int] = frozenset()

    def __xor__(self, other: Layouts) -> Layouts:
        """What either of the two has, and not both."""
        meeting, rows = self.meeting ^ other.meeting, self.rows ^ other.rows
        return Layouts(meeting, rows, self.states ^ other.states)

    def __or__(self, other: Layouts) -> Layouts:
        meeting, rows = self.meeting | other.meeting, self.rows | other.rows
        return Layouts(meeting, rows, self.states | other.states)


Asks = Callable[[str], bool]
"""Whether something is chosen, by its name."""

Rewrite = Callable[[GraphModule, Asks, Asks], None]
"""Does all rewrites of a graph; asks for the nodes whose inputs are to meet, and for the values
whose rows are to be read as they lie."""

_Cost = tuple[int, int]
"""Elements that are copied, and transposes."""

_NOTHING = (0, 0)


@dataclass(frozen=True)
class _Tried:
    """What came of a choice.

    Attributes:
      layouts: the choice.
      cost: what is copied then.
      asked: what could be chosen then, but for states; the choice of anything else is the same.
    """

    layouts: Layouts
    cost: _Cost
    asked: Layouts


def choose_layouts(module: GraphModule, rewrite: Rewrite) -> Layouts:
    """The best that was found; the graph stays as it is."""
    search = _Search(module, rewrite)
    nothing = search.tried(Layouts())
    states = frozenset(_movable(module))
    if nothing.cost == _NOTHING or (nothing.asked == Layouts() and not states):
        return nothing.layouts
    ways = list(_all_at_once(search, nothing, states))
    # Rows whose order makes no difference in all layers hardly make one in any.
    moves_rows = any(_is_of_rows(way.layouts) and way.cost != nothing.cost for way in ways)
    best = min(nothing, *ways, key=_cost_of)
    return _one_by_one(search, best, moves_rows, sorted(states)).layouts


def _all_at_once(search: _Search, nothing: _Tried, states: frozenset[int]) -> Iterator[_Tried]:
    """Tries with all of some kinds chosen, where that chooses anything."""
    for moved in dict.fromkeys((Layouts().states, states)):
        tried = search.tried(Layouts(states=moved)) if moved else nothing
        yield tried
        meeting = search.all_of(moved, meeting=True, rows=False)
        yield meeting
        if tried.asked.rows or meeting.asked.rows:
            yield search.all_of(moved, meeting=False, rows=True)
            yield search.all_of(moved, meeting=True, rows=True)


def _one_by_one(search: _Search, best: _Tried, moves_rows: bool, states: Sequence[int]) -> _Tried:
    """The best of that and others, of which each has one choice changed of the best before it."""
    tries = min(_AT_MOST, _PASSED_OVER // search.nodes)
    for asked in (_meeting, _rows) if moves_rows else (_meeting,):
        done: set[Layouts] = set()
        for _ in range(tries):
            one = next((one for one in asked(best.asked) if one not in done), None)
            if one is None or best.cost == _NOTHING:
                break
            done.add(one)
            best = min(best, search.tried(best.layouts ^ one), key=_cost_of)
    for state in states[:tries]:
        other = best.layouts ^ Layouts(states=frozenset([state]))
        best = min(best, search.tried(other), key=_cost_of)
    return best


def _meeting(layouts: Layouts) -> Iterator[Layouts]:
    return (Layouts(meeting=frozenset([name])) for name in sorted(layouts.meeting))


def _rows(layouts: Layouts) -> Iterator[Layouts]:
    return (Layouts(rows=frozenset([name])) for name in sorted(layouts.rows))


def _is_of_rows(layouts: Layouts) -> bool:
    return bool(layouts.rows) and layouts == Layouts(rows=layouts.rows)


def _cost_of(tried: _Tried) -> _Cost:
    return tried.cost


class _Search:
    """Tries what may be chosen."""

    def __init__(self, module: GraphModule, rewrite: Rewrite) -> None:
        self._module = module
        self._rewrite = rewrite
        self.nodes = len(module.graph.nodes)
        self._tried: dict[Layouts, _Tried] = {}

    def tried(self, layouts: Layouts) -> _Tried:
        if layouts not in self._tried:
            meets, lies = layouts.meeting.__contains__, layouts.rows.__contains__
            self._tried[layouts] = _Tried(layouts, *self._run(layouts.states, meets, lies))
        return self._tried[layouts]

    def all_of(self, states: frozenset[int], *, meeting: bool, rows: bool) -> _Tried:
        """All inputs meet that can, all rows are read as they lie, or both."""
        cost, asked = self._run(states, lambda _: meeting, lambda _: rows)
        nothing: frozenset[str] = frozenset()
        layouts = Layouts(
            asked.meeting if meeting else nothing, asked.rows if rows else nothing, states
        )
        return self._tried.setdefault(layouts, _Tried(layouts, cost, asked))

    def _run(self, states: frozenset[int], meets: Asks, lies: Asks) -> tuple[_Cost, Layouts]:
        meeting: set[str] = set()
        rows: set[str] = set()
        module = copied(self._module)
        move_states(module, states)
        self._rewrite(module, _noting(meets, meeting), _noting(lies, rows))
        return _cost(module), Layouts(frozenset(meeting), frozenset(rows))


def _noting(asks: Asks, names: set[str]) -> Asks:
    """Notes what it is asked for."""

    def noted(name: str) -> bool:
        names.add(name)
        return asks(name)

    return noted


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
