# SPDX-License-Identifier: Apache-2.0
"""Calls with several results, in ATen graphs and in dialect graphs.

The call's `meta["val"]` is a sequence of values. `getitem` nodes take them out; the rest of the
graph reads these nodes. Only this module knows the structure; all other code uses it.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import torch
from torch.fx import Graph, Node


def is_result(node: Node) -> bool:
    """Return True if a node takes one result out of a call with several."""
    return node.op == "call_function" and node.target is operator.getitem


def gives_one(call: Node) -> bool:
    """Return True if a call has one result, and is that result itself."""
    return not isinstance(call.meta["val"], (list, tuple))


def take(graph: Graph, call: Node, index: int, name: str | None = None) -> Node:
    """Return a node taking a result out of a call; the caller sets its meta."""
    return graph.create_node("call_function", operator.getitem, (call, index), name=name)


def taken_from(node: Node) -> tuple[Node, int]:
    """Return the call computing a value, and the value's index among its results."""
    if not is_result(node):
        return node, 0
    call, index = node.args
    assert isinstance(call, Node) and isinstance(index, int)
    return call, index


def values_of(call: Node) -> Sequence[torch.Tensor]:
    """Return all results of a call, on the meta device."""
    value = call.meta["val"]
    return [value] if gives_one(call) else value


def results_of(call: Node) -> list[Node]:
    """Return the nodes of a call's results: the call itself, or those taking its results out."""
    return [call] if gives_one(call) else [u for u in call.users if is_result(u)]


def gives_first_only(call: Node) -> bool:
    """Return True if only the first of a call's several results has readers."""
    return all(taken_from(user) == (call, 0) for user in call.users)
