# SPDX-License-Identifier: Apache-2.0
"""Index maps: source of the elements of a moved value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import arguments, calls, shape_of, tensor_constant

_MOVE = ("reshape", "transpose", "slice", "gather", "cat")


def moves(node: Node) -> bool:
    """Return True if a node only selects or reorders elements of its inputs."""
    return any(calls(node, name) for name in _MOVE)


def moved_inputs(node: Node) -> Sequence[Node]:
    """Return the inputs that a data movement takes its elements from."""
    values = arguments(node)
    inputs: Sequence[Node] = values["inputs"] if calls(node, "cat") else [values["input"]]
    return inputs


def sources(node: Node, stops: Collection[Node] = ()) -> list[Node]:
    """Return the sources of a node before data movement, each once, in the order found.

    Args:
      node: the moved value.
      stops: nodes that count as sources.
    """
    found: dict[Node, None] = {}
    seen: set[Node] = set()
    pending = [node]
    while pending:
        value = pending.pop()
        if value in stops or not moves(value):
            found[value] = None
        elif value not in seen:
            seen.add(value)
            pending += reversed(moved_inputs(value))
    return list(found)


def places_in(module: GraphModule, node: Node, starts: Mapping[Node, int]) -> torch.Tensor:
    """Return the index map of a value: the index of each element in its sources.

    Args:
      module: of the node.
      node: the value.
      starts: the index of the first element of each of `sources`.
    """
    known = {
        source: start + torch.arange(source.meta["val"].numel()).reshape(shape_of(source))
        for source, start in starts.items()
    }

    def places(value: Node) -> torch.Tensor:
        if value not in known:
            constant = tensor_constant(module, value)
            if constant is not None:
                return constant
            args = map_arg(value.args, places)
            known[value] = value.target(*args)  # type: ignore[operator]
        return known[value]

    return places(node)


def reordered_by(node: Node) -> Iterator[Node]:
    """Yield the reshapes and transposes giving a value, from the last to the first."""
    while calls(node, "reshape") or calls(node, "transpose"):
        yield node
        node = arguments(node)["input"]


def is_transposed(node: Node) -> bool:
    """Return True if reshapes and transposes, at least one transpose, give a value."""
    return any(calls(step, "transpose") for step in reordered_by(node))


def before_movement(node: Node, until: Node | None = None) -> tuple[Node, torch.Tensor]:
    """Return a value before its reshapes and transposes, and the index map of the node's elements.

    The search stops at `until`, if it is given.
    """
    steps: list[Node] = []
    for step in reordered_by(node):
        if step is until:
            break
        steps.append(step)
    source: Node = arguments(steps[-1])["input"] if steps else node
    places = torch.arange(source.meta["val"].numel()).reshape(shape_of(source))
    for step in reversed(steps):
        places = step.target(places, *step.args[1:])  # type: ignore[operator]
    return source, places
