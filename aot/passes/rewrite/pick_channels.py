# SPDX-License-Identifier: Apache-2.0
"""Copies channels directly from their source, not through joins, shuffles and slices on the way.

Matches consecutive concatenations, slices and shuffles of channels, as between ShuffleNet's units.
Channels passed on by a unit are copied by their reader, not by each unit in between. The reader
takes its channels in the order with the fewest copied runs, if its constants can absorb that order;
else in its own. A group of movements changes completely or not at all: the form with fewer
instructions is used. Leaves channels that become pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    Builder,
    arguments,
    calls,
    drop_dead_code,
    edge_of,
    shape_of,
)
from aot.passes.rewrite.choose_layouts import copies
from aot.passes.rewrite.fold_transpose_into_linear import Order, take_in, taken_in
from aot.passes.rewrite.index_map import moved_inputs, moves, places_in, sources
from kernels.cat.op import cat
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_slice import slice as slice_op

_A_RUN = 32
"""Instructions for the copy of a run of contiguous elements, in addition to one per element."""
_AN_ELEMENT = 6
"""Instructions for the copy of a single element."""


@dataclass(frozen=True)
class _Run:
    """Channels of a value, from one to the one before another."""

    source: Node
    first: int
    end: int

    @property
    def is_whole(self) -> bool:
        return self.end - self.first == shape_of(self.source)[-1]


@dataclass(frozen=True)
class _Picked:
    """Source of a value's channels.

    Attributes:
      runs: of channels, to be joined.
      order: index among the joined channels, for each of the value's; None: they are the
        same.
    """

    runs: tuple[_Run, ...]
    order: Order | None


def pick_channels(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many values are joined anew."""
    count = 0
    for moved in _together(module):
        group = _Group(module, moved)
        found = group.picked()
        while staying := group.staying(found):
            for node in staying:
                group.keep(node)
            found = group.picked()
        instructions = sum(map(_instructions, group.kept)) + _instructions_of(found.values())
        if instructions < sum(map(_instructions, moved)):
            for node, picked in found.items():
                group.pick(node, picked)
            count += len(found)
        group.close()
    if drop_dead_code(module.graph) or count:
        module.recompile()
    return count


def _together(module: GraphModule) -> list[list[Node]]:
    """Return the data movements in groups of nodes reading each other.

    Each group has at least two copying nodes; one of them joins.
    """
    group_of: dict[Node, list[Node]] = {}
    for node in filter(moves, module.graph.nodes):
        group = [node]
        for read in filter(moves, moved_inputs(node)):
            if group_of[read] is not group:
                group = [*group_of[read], *group]
                group_of |= dict.fromkeys(group, group)
        group_of[node] = group
    groups = {id(group): group for group in group_of.values()}.values()
    return [
        group
        for group in groups
        if any(calls(node, "cat") for node in group) and sum(map(copies, group)) > 1
    ]


class _Group:
    """Nodes moving values, and the replaceable ones among them.

    Attributes:
      handed: placeholder for readers, for each replaceable value.
      kept: remaining nodes.
    """

    def __init__(self, module: GraphModule, moved: list[Node]) -> None:
        self.module = module
        self.builder = Builder(module, module.graph)
        self.handed: dict[Node, Node] = {}
        self.kept: set[Node] = set()
        for node in moved:
            self._hand(node, [user for user in node.users if not moves(user)])

    def _hand(self, node: Node, readers: Iterable[Node]) -> None:
        """Let these read another value in the place of one."""
        for reader in list(readers):
            if node not in self.handed:
                shape, origin = list(shape_of(node)), node.meta["origin"]
                with self.builder.graph.inserting_after(node):
                    self.handed[node] = self.builder.call(
                        reshape, node, shape, edge=edge_of(node), origin=origin
                    )
            reader.replace_input_with(node, self.handed[node])

    def keep(self, node: Node) -> None:
        """Keep a node unchanged; its inputs may be replaced."""
        self.kept.add(node)
        for read in filter(moves, list(moved_inputs(node))):
            self._hand(read, [node])

    def picked(self) -> dict[Node, _Picked]:
        """Return the sources of values before movement; values not made of channels are
        left out.
        """

        return {
            node: picked
            for node, read in self.handed.items()
            if node not in self.kept and (picked := _picked(self.module, node, read)) is not None
        }

    def staying(self, found: Mapping[Node, _Picked]) -> list[Node]:
        """Return the nodes still to be kept: those without replacement, and sources of
        replacements.
        """
        left = [node for node in self.handed if node not in found]
        read = [run.source for picked in found.values() for run in picked.runs]
        return [n for n in dict.fromkeys([*left, *filter(moves, read)]) if n not in self.kept]

    def pick(self, node: Node, picked: _Picked) -> None:
        """Join a value anew."""
        read = self.handed[node]
        if picked.order is not None:
            constants = taken_in(self.module, read, picked.order)
            assert constants is not None
            take_in(self.builder, constants)
        with self.builder.graph.inserting_before(read):
            read.replace_all_uses_with(_joined(self.builder, node, picked.runs))

    def close(self) -> None:
        """Reconnect the readers of values without replacement."""
        for node, read in self.handed.items():
            read.replace_all_uses_with(node)
            self.builder.graph.erase_node(read)


def _picked(module: GraphModule, node: Node, read: Node) -> _Picked | None:
    """Return the channels of a value; None if there are none, or if they are too scattered.

    Args:
      module: of the node.
      node: the value.
      read: the placeholder for its readers.
    """
    found = _channels(module, node)
    if found is None:
        return None
    given, channels = found
    as_they_are = _runs(given, channels)
    distinct = sorted(set(channels))
    runs = _runs(given, distinct)
    if len(distinct) == len(channels) and len(runs) < len(as_they_are):
        order = torch.tensor([distinct.index(channel) for channel in channels])
        if taken_in(module, read, order) is not None:
            return _Picked(runs, order)
    are_near = len(as_they_are) * _A_RUN <= len(channels) * _AN_ELEMENT
    return _Picked(as_they_are, None) if are_near else None


def _channels(module: GraphModule, node: Node) -> tuple[list[Node], list[tuple[int, int]]] | None:
    """Return the sources of a value, and for each channel its source's index and its channel there.

    Return None if there are no channels, or only one pixel, whose channels are all contiguous.
    """
    shape = shape_of(node)
    if len(shape) < 2 or shape[-1] == math.prod(shape):
        return None
    stops: set[Node] = set()
    while node not in (given := sources(node, stops)):
        sizes = [source.meta["val"].numel() for source in given]
        starts = torch.tensor([sum(sizes[:k]) for k in range(len(given))])
        known = dict(zip(given, starts.tolist(), strict=True))
        rows = places_in(module, node, known).reshape(-1, shape[-1])
        pixels = torch.arange(len(rows)).unsqueeze(1)
        source_of = torch.bucketize(rows[0], starts, right=True) - 1
        depths = torch.tensor([size // len(rows) for size in sizes])
        channels = rows[0] - starts[source_of]
        last = [shape_of(source)[-1:] for source in given]
        are_channels = torch.tensor([(d,) == one for d, one in zip(depths, last, strict=True)])
        fits = (rows == rows[0] + pixels * depths[source_of]).all(0)
        fits &= are_channels[source_of] & (channels < depths[source_of])
        if bool(fits.all()):
            return given, list(zip(source_of.tolist(), channels.tolist(), strict=True))
        # values other than channels may become channels by a movement
        others = {given[k] for k in source_of[~fits].tolist()}
        stops = (stops - others) | {user for other in others for user in other.users if moves(user)}
    return None


def _runs(given: Sequence[Node], channels: Sequence[tuple[int, int]]) -> tuple[_Run, ...]:
    runs: list[_Run] = []
    for index, channel in channels:
        source = given[index]
        if runs and (runs[-1].source, runs[-1].end) == (source, channel):
            runs[-1] = replace(runs[-1], end=channel + 1)
        else:
            runs.append(_Run(source, channel, channel + 1))
    return tuple(runs)


def _joined(builder: Builder, like: Node, runs: Sequence[_Run]) -> Node:
    """Return the channels of runs, as a value of another one's shape."""
    edge, origin, shape = edge_of(like), like.meta["origin"], list(shape_of(like))
    last = len(shape) - 1
    parts: list[Node] = []
    for run in runs:
        part, depth = run.source, run.end - run.first
        if not run.is_whole:
            dim = len(shape_of(part)) - 1
            part = builder.call(
                slice_op, part, dim, run.first, run.end, 1, edge=edge_of(part), origin=origin
            )
        if shape_of(part) != (*shape[:-1], depth):
            part = builder.call(reshape, part, [*shape[:-1], depth], edge=edge, origin=origin)
        parts.append(part)
    if len(parts) == 1:
        return parts[0]
    return builder.call(cat, parts, last, edge=edge, origin=origin)


def _instructions(node: Node) -> int:
    """Return the approximate instructions of a data movement."""
    shape, values = shape_of(node), arguments(node)
    elements = math.prod(shape)
    if not copies(node):
        return 0
    if calls(node, "cat"):
        runs = math.prod(shape[: values["dim"]]) * len(values["inputs"])
    elif calls(node, "slice"):
        runs = math.prod(shape[: values["dim"] + (values["step"] > 1)])
    elif calls(node, "gather"):
        runs = math.prod(shape[: max(values["dims"]) + 1])
    else:
        stays = values["perm"][-1] == len(shape) - 1
        runs = math.prod(shape[:-1]) if stays else elements
    return min(runs * _A_RUN + elements, elements * _AN_ELEMENT)


def _instructions_of(found: Iterable[_Picked]) -> int:
    """Return the approximate instructions of joining values anew."""
    total = 0
    joined = {picked.runs for picked in found}
    for run in {run for runs in joined for run in runs if not run.is_whole}:
        depth = run.end - run.first
        total += _rows_of(run.source) * (_A_RUN + depth)
    for runs in joined:
        if len(runs) > 1:
            depth = sum(run.end - run.first for run in runs)
            total += _rows_of(runs[0].source) * (_A_RUN * len(runs) + depth)
    return total


def _rows_of(source: Node) -> int:
    return math.prod(shape_of(source)[:-1])
