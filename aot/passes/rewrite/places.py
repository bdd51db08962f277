# SPDX-License-Identifier: Apache-2.0
"""Where the elements of a value that is moved come from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import arguments, calls, shape_of, tensor_constant

_MOVE = ("reshape", "transpose", "slice", "gather", "cat")


def moves(node: Node) -> bool:
    """Whether a node gives elements of its inputs, and nothing else."""
    return any(calls(node, name) for name in _MOVE)


def moved_inputs(node: Node) -> Sequence[Node]:
    """What a node that moves takes its elements from."""
    values = arguments(node)
    inputs: Sequence[Node] = values["inputs"] if calls(node, "cat") else [values["input"]]
    return inputs


def sources(node: Node, stops: Collection[Node] = ()) -> list[Node]:
    """The values that a node is made of by movement, each once, as they are met.

    Args:
      node: what is made.
      stops: count as values of their own.
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
    """Where each element of a value is in those that it is made of.

    Args:
      module: of the node.
      node: the value.
      starts: the place of the first element of each of `sources`.
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
    """The reshapes and transposes that give a value, from the last to the first."""
    while calls(node, "reshape") or calls(node, "transpose"):
        yield node
        node = arguments(node)["input"]


def is_transposed(node: Node) -> bool:
    """Whether reshapes and transposes, and at least one of these, give a value."""
    return any(calls(step, "transpose") for step in reordered_by(node))


def before_movement(node: Node, until: Node | None = None) -> tuple[Node, torch.Tensor]:
    """A value before it was reshaped and transposed, or the one that is named, and where each
    element of the node's is in it.
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
