# SPDX-License-Identifier: Apache-2.0
"""Choice of values for another order of dimensions, with the fewest copies.

There are three kinds of choices:

- An op may have transposed and other inputs, such as an image joined to a network's
  result from it. Either kind may become like the other.
- Linear layers may read rows in memory order, and give them another order afterwards.
- A state may have its channels last: only the model sees it.

The gain is visible in the whole graph only. Therefore choices are tried: all of a kind at once,
then one after the other.
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
from aot.dialect.io_layout import CHANNELS_FIRST, CHANNELS_LAST
from aot.passes.rewrite.sink_transposes import moves_nothing
from aot.passes.rewrite.state_copies import is_piece
from kernels.strided_copy.op_transpose import transpose

_AT_MOST = 32
"""Maximum number of choices tried one after the other."""

_PASSED_OVER = 20_000
"""Maximum number of nodes in all tries together: a large graph has fewer tries."""


@dataclass(frozen=True)
class Layouts:
    """A set of choices.

    Attributes:
      meeting: names of nodes with some transposed inputs whose inputs all become
        transposed.
      rows: names of the values whose rows linear layers read in memory order.
      states: indices of the states with channels last.
    """

    meeting: frozenset[str] = frozenset()
    rows: frozenset[str] = frozenset()
    states: frozenset[int] = frozenset()

    def __xor__(self, other: Layouts) -> Layouts:
        """Return the choices of exactly one of the two."""
        meeting, rows = self.meeting ^ other.meeting, self.rows ^ other.rows
        return Layouts(meeting, rows, self.states ^ other.states)

    def __or__(self, other: Layouts) -> Layouts:
        meeting, rows = self.meeting | other.meeting, self.rows | other.rows
        return Layouts(meeting, rows, self.states | other.states)


Asks = Callable[[str], bool]
"""Returns True if a choice is made, by its name."""

Rewrite = Callable[[GraphModule, Asks, Asks], None]
"""All rewrites of a graph. It asks for two choices by name: nodes whose inputs all become
transposed, and values whose rows are read in memory order.
"""

_Cost = tuple[int, int]
"""Copied elements, and number of transposes."""

_NOTHING = (0, 0)


@dataclass(frozen=True)
class _Tried:
    """Result of a choice.

    Attributes:
      layouts: the choice.
      cost: copies with this choice.
      asked: possible choices in this case, except states. Other choices have no effect.
    """

    layouts: Layouts
    cost: _Cost
    asked: Layouts


def choose_layouts(module: GraphModule, rewrite: Rewrite) -> Layouts:
    """Return the best choice found; the graph stays unchanged."""
    search = _LayoutSearch(module, rewrite)
    nothing = search.tried(Layouts())
    states = frozenset(_movable(module))
    if nothing.cost == _NOTHING or (nothing.asked == Layouts() and not states):
        return nothing.layouts
    ways = list(_all_at_once(search, nothing, states))
    # If the rows of all layers together make no difference, single ones hardly make one.
    moves_rows = any(_is_of_rows(way.layouts) and way.cost != nothing.cost for way in ways)
    best = min(nothing, *ways, key=_cost_of)
    return _one_by_one(search, best, moves_rows, sorted(states)).layouts


def _all_at_once(
    search: _LayoutSearch, nothing: _Tried, states: frozenset[int]
) -> Iterator[_Tried]:
    """Try all choices of some kinds together, if there are any."""
    for moved in dict.fromkeys((Layouts().states, states)):
        tried = search.tried(Layouts(states=moved)) if moved else nothing
        yield tried
        meeting = search.all_of(moved, meeting=True, rows=False)
        yield meeting
        if tried.asked.rows or meeting.asked.rows:
            yield search.all_of(moved, meeting=False, rows=True)
            yield search.all_of(moved, meeting=True, rows=True)


def _one_by_one(
    search: _LayoutSearch, best: _Tried, moves_rows: bool, states: Sequence[int]
) -> _Tried:
    """Return the best of a choice and variants; each variant changes one choice of the best before
    it.
    """
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


class _LayoutSearch:
    """Trials of possible choices."""

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
        """Try all inputs transposed, all rows in memory order, or both."""
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
    """Return a function recording the requested names."""

    def noted(name: str) -> bool:
        names.add(name)
        return asks(name)

    return noted


def move_states(module: GraphModule, indices: frozenset[int]) -> None:
    """Give states their channels last, in place; transposes stand where they are read and made."""
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
    """Return an edge with channels last."""
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
    """Return True if a node copies its result, as far as known before memory planning."""
    if calls(node, "transpose"):
        return not moves_nothing(shape_of(node.args[0]), arguments(node)["perm"])  # type: ignore[arg-type]
    if calls(node, "slice"):
        return not is_piece(node)
    if calls(node, "cat"):
        joined = math.prod(shape_of(node)[: arguments(node)["dim"]]) == 1
        return not joined or any(_is_there(part) for part in arguments(node)["inputs"])
    return calls(node, "gather") or calls(node, "pad")


def _is_there(value: Node) -> bool:
    """Return True if a value has its own memory: an input, a state, a constant, or part of one."""
    while calls(value, "reshape") or (calls(value, "slice") and is_piece(value)):
        value = arguments(value)["input"]
    return value.op != "call_function"
