# SPDX-License-Identifier: Apache-2.0
"""x * 0 -> 0; x + 0 and x - 0 -> x, if the zeros are a constant. An example is the first step of a
loop with a state of zeros: this state has no range for calibration.

Leaves parameters, because training may change them; products with the number 0; sums broadcasting
to another shape; and results of the model.
"""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import new_buffer, tensor_constant

_aten = torch.ops.aten
_PRODUCTS = (_aten.mul.Tensor, _aten.mul.Scalar)
_SUMS = (_aten.add.Tensor, _aten.add.Scalar, _aten.sub.Tensor, _aten.sub.Scalar)
_DIFFERENCES = (_aten.sub.Tensor, _aten.sub.Scalar)


def drop_zeros(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many nodes were removed."""
    parameters = {name for name, _ in module.named_parameters()}
    count = 0
    for node in list(module.graph.nodes):
        if node.target not in (*_PRODUCTS, *_SUMS) or not node.meta["val"].is_floating_point():
            continue
        if any(user.op == "output" for user in node.users):
            continue
        a, b = node.args[:2]
        zero_first, zero_second = (_is_zero(module, x, parameters) for x in (a, b))
        if node.target in _PRODUCTS:
            of_zeros = any(z and _has_dims(x) for x, z in ((a, zero_first), (b, zero_second)))
            result = _zeros(module, node) if of_zeros else None
        else:
            swaps = zero_first and node.target not in _DIFFERENCES and len(node.kwargs) == 0
            result = a if zero_second else b if swaps else None
        if not isinstance(result, Node) or not _is_alike(result, node):
            continue
        node.replace_all_uses_with(result)
        module.graph.erase_node(node)
        count += 1
    return count


def _is_zero(module: GraphModule, value: object, parameters: Collection[str]) -> bool:
    if isinstance(value, int | float):
        return value == 0
    constant = tensor_constant(module, value)
    if constant is None or not constant.numel():
        return False
    if isinstance(value, Node) and str(value.target) in parameters:
        return False
    return not bool(constant.any())


def _has_dims(value: object) -> bool:
    """Return True if a value has dimensions; a number belongs to a function, as in softshrink."""
    return isinstance(value, Node) and value.meta["val"].dim() > 0


def _zeros(module: GraphModule, node: Node) -> Node:
    value = node.meta["val"]
    name = new_buffer(module, f"zeros_{node.name}", torch.zeros(value.shape, dtype=value.dtype))
    with module.graph.inserting_before(node):
        zeros: Node = module.graph.get_attr(name)
    zeros.meta["val"] = value
    return zeros


def _is_alike(a: Node, b: Node) -> bool:
    before, after = a.meta["val"], b.meta["val"]
    return bool(before.shape == after.shape and before.dtype == after.dtype)
