# SPDX-License-Identifier: Apache-2.0
"""matmul(x, constant) -> linear(x, constant): the product with a constant is a layer with weights
quantized by channel.

Matches products (aot/rules/matmul.py) with a constant matrix on one side, the same for all batches.
If it is the left side, the other one is transposed before the layer, and the result after it. A
constant vector added becomes the bias. Writes addmm and addmv as product and sum. Writes a linear
with a computed weight, or a vector as weight, as a product. Leaves constants differing between
batches.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.rules.matmul import PRODUCTS

_aten = torch.ops.aten
_LINEAR = _aten.linear.default
_SUMS = (_aten.addmm.default, _aten.addmv.default)


def products_to_linear(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many nodes were replaced."""
    steps = (_product_of_sum, _product_of_linear, _linear_of_product)
    return sum(_replace(module, step) for step in steps)


def _replace(module: GraphModule, step: Any) -> int:
    count = 0
    for node in list(module.graph.nodes):
        with module.graph.inserting_before(node):
            replacement = step(module, node)
        if replacement is not None:
            node.replace_all_uses_with(replacement)
            module.graph.erase_node(node)
            count += 1
    return count


def _product_of_sum(module: GraphModule, node: Node) -> Node | None:
    """Decompose beta * input + alpha * (a @ b)."""
    if node.target not in _SUMS:
        return None
    addend, a, b = node.args[:3]
    product = call(node, _aten.matmul.default, a, b)
    alpha, beta = argument(node, "alpha"), argument(node, "beta")
    if alpha != 1:
        product = call(node, _aten.mul.Tensor, product, alpha)
    if beta == 0:
        return product
    if beta != 1:
        known = tensor_constant(module, addend)
        addend = (
            call(node, _aten.mul.Tensor, addend, beta)
            if known is None
            else constant(module, node, "input", known * beta)
        )
    return call(node, _aten.add.Tensor, product, addend)


def _product_of_linear(module: GraphModule, node: Node) -> Node | None:
    if node.target is not _LINEAR:
        return None
    x, weight, bias = (argument(node, name) for name in ("input", "weight", "bias"))
    rank = weight.meta["val"].dim()
    if tensor_constant(module, weight) is not None and rank == 2:
        return None
    if rank == 2:
        weight = call(node, _aten.permute.default, weight, [1, 0])
    product = call(node, _aten.matmul.default, x, weight)
    return product if bias is None else call(node, _aten.add.Tensor, product, bias)


def _linear_of_product(module: GraphModule, node: Node) -> Node | None:
    if node.target not in PRODUCTS:
        return None
    a, b = node.args[:2]
    assert isinstance(a, Node) and isinstance(b, Node)
    left, right = tensor_constant(module, a), tensor_constant(module, b)
    matrix, x = (left, b) if left is not None else (right, a)
    if matrix is None or math.prod(matrix.shape[:-2]) != 1:
        return None
    matrix = matrix.reshape(matrix.shape[-2:])
    transposed = left is not None and x.meta["val"].dim() > 1
    if left is None and matrix.dim() == 2:
        matrix = matrix.mT
    weight = constant(module, node, "weight", torch.atleast_2d(matrix))
    if transposed:
        x = call(node, _aten.transpose.int, x, -1, -2)
    shape = node.meta["val"].shape
    if transposed:
        result = call(node, _aten.transpose.int, call(node, _LINEAR, x, weight), -1, -2)
    else:
        result = call(node, _LINEAR, x, weight, _taken_bias(module, node))
    if result.meta["val"].shape != shape:
        result = call(node, _aten.reshape.default, result, list(shape))
    return result


def _taken_bias(module: GraphModule, node: Node) -> Node | None:
    """Return a constant [channels] added to a node's value, and remove the addition.

    The addition must be the only reader of the value.
    """
    shape = node.meta["val"].shape
    (addition, *others) = node.users or (node,)
    if others or addition.target is not _aten.add.Tensor or argument(addition, "alpha") != 1:
        return None
    for operand in addition.args[:2]:
        known = tensor_constant(module, operand)
        is_vector = known is not None and known.dim() > 0 and known.numel() == known.shape[-1]
        if known is not None and is_vector and known.shape[-1] == shape[-1:].numel():
            addition.replace_all_uses_with(node)
            module.graph.erase_node(addition)
            return constant(module, node, "bias", known.reshape(-1))
    return None
