# SPDX-License-Identifier: Apache-2.0
"""Calls that give several values, in ATen graphs and in dialect graphs.

The call's `meta["val"]` is a sequence of values; `getitem` nodes take them out, and are what the
rest of the graph reads. Nothing else knows how: everything that meets a call or a value asks here.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import torch
from torch.fx import Graph, Node


def is_result(node: Node) -> bool:
    """Whether a node takes one result out of a call that has several."""
    return node.op == "call_function" and node.target is operator.getitem


def gives_one(call: Node) -> bool:
    """Whether a call has one result, and hence stands for it itself."""
    return not isinstance(call.meta["val"], (list, tuple))


def take(graph: Graph, call: Node, index: int, name: str | None = None) -> Node:
    """A node that takes a result out of a call; what it is, is the caller's to mark."""
    return graph.create_node("call_function", operator.getitem, (call, index), name=name)


def taken_from(node: Node) -> tuple[Node, int]:
    """The call that computes a value, and which of the call's results the value is."""
    if not is_result(node):
        return node, 0
    call, index = node.args
    assert isinstance(call, Node) and isinstance(index, int)
    return call, index


def values_of(call: Node) -> Sequence[torch.Tensor]:
    """All that a call gives, on the meta device."""
    value = call.meta["val"]
    return [value] if gives_one(call) else value


def results_of(call: Node) -> list[Node]:
    """The nodes that stand for what a call gives: itself, or those that take its results out."""
    return [call] if gives_one(call) else [u for u in call.users if is_result(u)]


def gives_first_only(call: Node) -> bool:
    """Whether of a call's several results nobody reads another than the first."""
    return all(taken_from(user) == (call, 0) for user in call.users)
