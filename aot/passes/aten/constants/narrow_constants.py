# SPDX-License-Identifier: Apache-2.0
"""Converts constants of float16, bfloat16 and float64 to float32, and complex128 to complex64.

A numpy array such as a window is float64; torch then computes x + c in float64. Readers of such
constants compute in float32 afterwards. Leaves other types made by the model itself: x.double(),
sum(dtype=torch.float64).
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import new_buffer, tensor_constant
from aot.errors import LoweringError, describe, problem_at
from aot.upstream.torch import tree_leaves, tree_map_only

NARROW = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.float64: torch.float32,
    torch.complex128: torch.complex64,
}
"""Types of constants, and their replacements."""


def narrow_constants(module: GraphModule) -> int:
    """Convert the constants in place; return the number of constants converted to float32.

    Raises:
      LoweringError: a constant holds numbers beyond float32.
    """
    changed: set[Node] = set()
    count = 0
    for node in list(module.graph.nodes):
        value = tensor_constant(module, node)
        if value is not None and node.users and value.dtype in NARROW:
            narrow = value.to(NARROW[value.dtype])
            _check(node, value, narrow)
            node.target = new_buffer(module, f"{str(node.target).replace('.', '_')}_narrow", narrow)
            node.meta["val"] = node.meta["val"].to(narrow.dtype)
            changed.add(node)
            count += 1
        elif node.op == "call_function" and not changed.isdisjoint(node.all_input_nodes):
            _retype(node, changed)
    return count


def _check(node: Node, value: torch.Tensor, narrow: torch.Tensor) -> None:
    lost = value[narrow.isinf() & ~value.isinf()]
    users = [user for user in node.users if user.op == "call_function"]
    if lost.numel() and users:
        raise LoweringError(
            "an op of the model takes a constant that the device cannot hold:",
            [
                problem_at(
                    users[0],
                    f"its constant {node.target} ({describe(value)}) holds {lost[0].item():g}, and "
                    f"float32 ends at {torch.finfo(torch.float32).max:g}",
                    "a constant whose values float32 holds; of a mask torch.finfo(x.dtype).min",
                )
            ],
        )


def _retype(node: Node, changed: set[Node]) -> None:
    """Give a node the new type of its result."""
    before = node.meta.get("val")
    if not any(isinstance(v, torch.Tensor) and v.dtype in NARROW for v in tree_leaves(before)):
        return
    args, kwargs = map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    target: Any = node.target
    after = target(*args, **kwargs)
    pairs = zip(tree_leaves(before), tree_leaves(after), strict=True)
    if any(isinstance(a, torch.Tensor) and a.dtype != b.dtype for a, b in pairs):
        node.meta["val"] = tree_map_only(torch.Tensor, torch.Tensor.contiguous, after)
        changed.add(node)
