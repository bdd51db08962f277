# SPDX-License-Identifier: Apache-2.0
"""Creation of nodes in ATen passes: at the graph's insertion point, with shape and origin."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_aggregate, map_arg

from aot.dialect.graph import new_buffer


def call(node: Node, target: Any, *args: Any) -> Node:
    """Return a call with the origin of `node`. Its values are contiguous, as all in the graph."""
    made = node.graph.call_function(target, args)
    values = target(*map_arg(args, lambda n: n.meta["val"]))
    made.meta = {**node.meta, "val": map_aggregate(values, _contiguous)}
    return made


def _contiguous(value: Any) -> Any:
    return value.contiguous() if isinstance(value, torch.Tensor) else value


def constant(module: GraphModule, node: Node, name: str, value: torch.Tensor) -> Node:
    """Return a constant of the module for the replacement of `node`; its name starts with both
    names.
    """
    dense = value.clone(memory_format=torch.contiguous_format)
    made = module.graph.get_attr(new_buffer(module, f"{node.name}_{name}", dense))
    result = node.meta["val"]
    like = result if isinstance(result, torch.Tensor) else result[0]
    made.meta["val"] = like.new_empty(value.shape, dtype=value.dtype)
    return made
