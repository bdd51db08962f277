# SPDX-License-Identifier: Apache-2.0
"""Evaluates ATen ops with constant inputs only, or with only their input's shape (full_like). The
result becomes a constant of the module.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import tensor_constant
from aot.dialect.results import is_result

_BY_SHAPE = (torch.ops.aten.full_like.default,)

_CHECK = torch.ops.aten._linalg_check_errors.default
"""Raises where a matrix has no inverse: of constants once and for all."""


def fold_constants(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many nodes were evaluated. Random ops are left
    alone.
    """
    count = 0
    for node in list(module.graph.nodes):
        if node.op != "call_function" or is_result(node):
            continue
        if node.target not in _BY_SHAPE and any(n.op != "get_attr" for n in node.all_input_nodes):
            continue
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            continue
        is_one = isinstance(node.meta.get("val"), torch.Tensor)
        is_check = node.target is _CHECK
        if (
            not is_one
            and not is_check
            and not (node.users and all(is_result(user) for user in node.users))
        ):
            continue

        def value(n: Node) -> Any:
            constant = tensor_constant(module, n)
            shape, dtype = n.meta["val"].shape, n.meta["val"].dtype
            return torch.empty(shape, dtype=dtype) if constant is None else constant

        args, kwargs = map_arg(node.args, value), map_arg(node.kwargs, value)
        with torch.no_grad():
            result = node.target(*args, **kwargs)
        if is_check:
            module.graph.erase_node(node)
        elif is_one:
            _replace(module, node, result)
        else:
            for user in list(node.users):
                _replace(module, user, result[user.args[1]])
            module.graph.erase_node(node)
        count += 1
    return count


def _replace(module: GraphModule, node: Node, value: torch.Tensor) -> None:
    name = f"constant_{node.name}"
    module.register_buffer(name, value.detach().clone())
    with module.graph.inserting_before(node):
        constant = module.graph.get_attr(name)
    constant.meta["val"] = node.meta["val"]
    node.replace_all_uses_with(constant)
    module.graph.erase_node(node)
