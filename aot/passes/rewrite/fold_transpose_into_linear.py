# SPDX-License-Identifier: Apache-2.0
"""linear(reshape(transpose(x))) -> linear(reshape(x)) with the weight's columns reordered.

Matches transposes and reshapes reordering the elements of each row: flatten between NHWC
convolutions and a classifier, or a channel shuffle between two convolutions. The columns are a
constant, so the transpose costs nothing on the device. Recurrent layers and convolutions without
groups absorb the order, too. Ops passing the order on may lie between: elementwise ops, depthwise
convolutions, norms of whole rows or of each element, concatenations, means over other dimensions.
Their own constants are reordered. So are the outputs of another layer, for example one added to
reordered values. Leaves values with other readers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    Builder,
    arguments,
    calls,
    dialect_op,
    drop_dead_code,
    edge_of,
    shape_of,
    tensor_constant,
)
from aot.passes.rewrite.index_map import before_movement, is_transposed
from aot.passes.rewrite.outputs import in_order
from kernels.strided_copy.op_reshape import reshape

_LAYERS = ("linear", "lstm", "gru", "rnn")
_BY_CHANNEL = ("weight", "bias", "multiplier", "shift")
# Ops along dimensions given by an argument.
_ALONG = ("mean", "amax", "amin", "slice", "softmax")

Order = torch.Tensor
"""Original index, without the transpose, of each element of a row."""

Constants = dict[Node, Mapping[str, torch.Tensor]]
"""New ones by node and argument."""


@dataclass(frozen=True)
class _Found:
    """A node's handling of rows in another order.

    Attributes:
      order: of its result's rows; None if it absorbs the order.
      constants: its constants for rows that are not reordered, by argument.
      layers: constants of its input layers; they must give their outputs in this order
        too.
    """

    order: Order | None
    constants: Mapping[str, torch.Tensor]
    layers: Constants = field(default_factory=dict)


def fold_transpose_into_linear(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many transposes were taken in."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not is_transposed(node):
            continue
        source, places = before_movement(node)
        order = _order_of_rows(places)
        found = None if order is None else taken_in(module, node, order)
        if found is None:
            continue
        with module.graph.inserting_before(node):
            rows = builder.call(
                reshape,
                source,
                list(shape_of(node)),
                edge=edge_of(node),
                origin=node.meta["origin"],
            )
        node.replace_all_uses_with(rows)
        take_in(builder, found)
        count += 1
    if drop_dead_code(module.graph) or count:
        module.recompile()
    return count


def _order_of_rows(places: torch.Tensor) -> Order | None:
    """Return the common order of all rows in the last dimension; None if more differs."""
    columns = places.shape[-1]
    rows = places.reshape(-1, columns)
    order = rows[0]
    starts = torch.arange(len(rows)).unsqueeze(1) * columns
    is_same = torch.equal(rows, starts + order) and int(order.max()) < columns
    return order if is_same and not torch.equal(order, order.sort().values) else None


def taken_in(module: GraphModule, start: Node, order: Order) -> Constants | None:
    """Return the new constants of all readers of reordered rows.

    Return None if one of them cannot absorb the order.

    Args:
      module: of the node.
      start: gives rows that will be in another order.
      order: the present order, in terms of the new one.
    """
    orders: dict[Node, Order] = {start: order}
    changed: Constants = {}
    node = start
    while orders:
        node = node.next
        if node.op == "root":
            return changed
        if not any(read in orders for read in node.all_input_nodes):
            continue
        found = _found(module, node, orders, changed)
        if found is None:
            return None
        changed[node] = found.constants
        for layer, constants in found.layers.items():
            changed[layer] = {**changed.get(layer, {}), **constants}
        if found.order is not None:
            orders[node] = found.order
    return changed


def take_in(builder: Builder, found: Constants) -> None:
    """Give all readers their new constants."""
    for reader, constants in found.items():
        names = [*arguments(reader)]
        for name, value in constants.items():
            old = arguments(reader)[name]
            with builder.graph.inserting_before(reader):
                new = builder.constant(str(old.target), value, edge_of(old))
            reader.update_arg(names.index(name), new)


def _found(
    module: GraphModule, node: Node, orders: Mapping[Node, Order], changed: Constants
) -> _Found | None:
    op = dialect_op(node)
    if op is None:
        return None
    values = arguments(node)
    if op.name == "cat":
        return _joined(node, orders)
    order = next(orders[n] for n in node.all_input_nodes if n in orders)
    if op.transposes is not None and op.transposes.elementwise:
        return _reordered(module, node, op.transposes.tensors, orders, changed)
    if op.name == "normalize" and values["parts"][-1] in (1, len(order)):
        return _reordered(module, node, ("input", "weight", "bias"), orders, changed)
    if any(n in orders for name, n in values.items() if name != "input" and isinstance(n, Node)):
        return None
    weight = tensor_constant(module, values.get("weight"))
    if op.name in _LAYERS or (op.name == "conv2d" and values["groups"] == 1):
        assert weight is not None
        return _Found(None, {"weight": weight[..., order.argsort()]})
    if not isinstance(node.meta["val"], torch.Tensor):
        return None  # several results
    last = len(shape_of(node)) - 1
    if op.name == "depthwise_conv2d" and weight is not None and weight.shape[-1] == len(order):
        constants = {name: tensor_constant(module, values[name]) for name in _BY_CHANNEL}
        back = order.argsort()
        return _Found(order, {n: c[..., back] for n, c in constants.items() if c is not None})
    kept = shape_of(node)[-1:] == (len(order),)
    if op.name == "reshape" and kept:
        return _Found(order, {})
    if op.name == "transpose" and values["perm"][-1] == last:
        return _Found(order, {})
    if op.name in _ALONG and kept:
        dims = values["dim"] if isinstance(values["dim"], (list, tuple)) else [values["dim"]]
        rank = len(shape_of(values["input"]))
        return _Found(order, {}) if rank - 1 not in dims else None
    return None


def _reordered(
    module: GraphModule,
    node: Node,
    tensors: tuple[str, ...],
    orders: Mapping[Node, Order],
    changed: Constants,
) -> _Found | None:
    """Reorder an op computing every element of a row by itself, or from all of them."""
    values = arguments(node)
    order = next(orders[n] for n in node.all_input_nodes if n in orders)
    constants: dict[str, torch.Tensor] = {}
    layers: Constants = {}
    for name in tensors:
        value = values[name]
        if value in orders:
            if not torch.equal(orders[value], order):
                return None
        elif shape_of(value)[-1:] == (len(order),):
            known, layer = tensor_constant(module, value), _layer_behind(value)
            if known is not None:
                constants[name] = known[..., order.argsort()]
                continue
            outputs = in_order(module, layer, order.argsort(), changed.get(layer))
            if outputs is None or len(layer.users) != 1:
                return None
            layers[layer] = outputs
        elif shape_of(value)[-1:] not in ((), (1,)):
            return None
    same = shape_of(node)[-1:] == (len(order),)
    return _Found(order, constants, layers) if same else None


def _layer_behind(value: Node) -> Node:
    """Return the source of a value before tables without other readers."""
    while calls(value, "lut") and len(value.users) == 1:
        value = arguments(value)["input"]
    return value


def _joined(node: Node, orders: Mapping[Node, Order]) -> _Found | None:
    inputs, dim = arguments(node)["inputs"], arguments(node)["dim"]
    parts = [orders.get(x, torch.arange(shape_of(x)[-1])) for x in inputs]
    if dim != len(shape_of(node)) - 1:
        same = all(torch.equal(part, parts[0]) for part in parts)
        return _Found(parts[0], {}) if same else None
    starts = torch.tensor([0, *(len(part) for part in parts[:-1])]).cumsum(0)
    return _Found(torch.cat([s + part for s, part in zip(starts, parts, strict=True)]), {})
