# SPDX-License-Identifier: Apache-2.0
"""transpose(reshape(linear(x))) -> reshape(linear(x)) with the weight's rows reordered.

Matches transposes and reshapes that reorder the elements of each row of a linear layer's result, or
of a convolution's without groups. An example is a decoder's first image: a layer makes it with
channels first, and convolutions read it with channels last. Tables may be between. The rows are a
constant, so the transpose costs nothing on the device. Leaves values with other readers, and
elements moving to another row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    Builder,
    arguments,
    calls,
    edge_of,
    shape_of,
)
from aot.passes.rewrite.fold_transpose_into_linear import take_in
from aot.passes.rewrite.outputs import in_order
from kernels.strided_copy.op_reshape import reshape

_BETWEEN = ("reshape", "transpose", "lut")


def fold_transpose_into_outputs(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many transposes were taken in."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not calls(node, "transpose"):
            continue
        layer, steps = _made_by(node)
        order = _order_of_outputs(layer, steps)
        constants = None if order is None else in_order(module, layer, order)
        if constants is None:
            continue
        take_in(builder, {layer: constants})
        for step in steps:
            if calls(step, "transpose"):
                _only_reshape(builder, step)
        count += 1
    if count:
        module.recompile()
    return count


def _made_by(node: Node) -> tuple[Node, list[Node]]:
    """Return the source of a value before transposes, reshapes and tables, and these from first to
    last.

    Each of them has one reader.
    """
    steps = [node]
    value: Node = arguments(node)["input"]
    while len(value.users) == 1 and any(calls(value, name) for name in _BETWEEN):
        steps.insert(0, value)
        value = arguments(value)["input"]
    return value, steps


def _order_of_outputs(layer: Node, steps: Sequence[Node]) -> torch.Tensor | None:
    """Return the index of each output of a layer after some steps, in every row.

    Return None if elements leave their row, or have other readers.
    """
    if len(layer.users) != 1 or layer.op != "call_function":
        return None
    shape = shape_of(layer)
    places = torch.arange(math.prod(shape)).reshape(shape)
    for step in steps:
        if not calls(step, "lut"):
            places = step.target(places, *step.args[1:])  # type: ignore[operator]
    rows = places.reshape(-1, shape[-1])
    order = rows[0]
    starts = torch.arange(len(rows)).unsqueeze(1) * shape[-1]
    is_same = torch.equal(rows, starts + order) and int(order.max()) < shape[-1]
    return order if is_same else None


def _only_reshape(builder: Builder, node: Node) -> None:
    """Let a transpose leave every element where it is."""
    value, origin = arguments(node)["input"], node.meta["origin"]
    with builder.graph.inserting_before(node):
        new = builder.call(reshape, value, list(shape_of(node)), edge=edge_of(node), origin=origin)
    node.replace_all_uses_with(new)
    builder.graph.erase_node(node)
