# SPDX-License-Identifier: Apache-2.0
"""Comparison of two graphs of the dialect."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import edge_of, tensor_constant


def described(module: GraphModule) -> list[Any]:
    """Return a graph without names: ops in order, with arguments, constants and quantizations."""
    places: dict[Node, int] = {}
    rows: list[Any] = []

    def of(argument: Any) -> Any:
        if isinstance(argument, (list, tuple)):
            return tuple(of(a) for a in argument)
        if not isinstance(argument, Node):
            return argument
        constant = tensor_constant(module, argument)
        if constant is not None:
            return str(constant.dtype), tuple(constant.shape), tuple(constant.flatten().tolist())
        return places[argument]

    for node in module.graph.nodes:
        if node.op == "get_attr":
            continue
        places[node] = len(places)
        value: Any = node.meta.get("val")
        shape = tuple(value.shape) if isinstance(value, torch.Tensor) else None
        edge = edge_of(node).quantization if "edge" in node.meta else None
        # The name of an op; names of inputs do not matter.
        target = "" if node.op == "placeholder" else str(node.target)
        rows.append((target, tuple(of(a) for a in node.args), shape, edge))
    return rows
