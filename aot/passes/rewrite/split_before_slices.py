# SPDX-License-Identifier: Apache-2.0
"""slice(layer(x)) -> layer(x) of these channels only, if all readers of a layer read parts of its
channels.

chunk and split of a layer's result are copies if channels are last: gated linear units, the halves
of cross-stage networks. A 1x1 convolution or a linear layer takes as long in parts, and each
channel is computed as before. Tables, depthwise convolutions and reshapes may lie between the layer
and the slices. Leaves larger kernels, because they would repeat im2col for each part; overlapping
parts; and parts with slow channel counts for kernels.
"""

from __future__ import annotations

from collections.abc import Iterator

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
)
from aot.passes.rewrite.state_copies import is_piece
from kernels.strided_copy.op_reshape import reshape

_FOLD = 4
"""Channels of each part must be a multiple of it: kernels compute so many at once."""
_BY_CHANNEL = ("bias", "multiplier", "shift")
_Run = tuple[int, int]
"""The first channel, and the one after the last."""
_Made = dict[tuple[Node, _Run], Node]
"""Existing nodes for a run of a node's channels."""


def split_before_slices(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many layers were split."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not _is_splittable(node):
            continue
        channels = torch.arange(shape_of(node)[-1]).expand(shape_of(node))
        parts = list(_parts(node, channels))
        runs = sorted({run for _, run in parts if run is not None})
        if not parts or any(run is None for _, run in parts):
            continue
        if any(a[1] > b[0] for a, b in zip(runs, runs[1:], strict=False)):
            continue
        made: _Made = {}
        for cut, run in parts:
            assert run is not None
            new = _split(builder, node, arguments(cut)["input"], run, made)
            shape, edge = list(shape_of(cut)), edge_of(cut)
            if shape_of(new) != shape_of(cut) or edge_of(new).layout != edge.layout:
                with module.graph.inserting_before(cut):
                    new = builder.call(reshape, new, shape, edge=edge, origin=cut.meta["origin"])
            cut.replace_all_uses_with(new)
        count += 1
    if drop_dead_code(module.graph) or count:
        module.recompile()
    return count


def _is_splittable(node: Node) -> bool:
    if calls(node, "linear"):
        return True
    if not calls(node, "conv2d") or arguments(node)["groups"] != 1:
        return False
    return shape_of(arguments(node)["weight"])[1:3] == (1, 1)


def _parts(node: Node, channels: torch.Tensor) -> Iterator[tuple[Node, _Run | None]]:
    """Yield the final readers of a layer's result, and their channels.

    The channels are None unless the reader is a slice of a run of channels, for every row.

    Args:
      node: the layer, or a node passing its result on.
      channels: the layer's channel of each element of the node's value.
    """
    for user in node.users:
        if calls(user, "slice") and not is_piece(user):
            yield user, _run(user, channels)
        elif calls(user, "reshape"):
            yield from _parts(user, channels.reshape(shape_of(user)))
        elif calls(user, "lut"):
            yield from _parts(user, channels)
        elif calls(user, "depthwise_conv2d") and _is_one_by_one(user, channels):
            yield from _parts(user, channels[0, 0, 0].expand(shape_of(user)))
        else:
            yield user, None


def _is_one_by_one(node: Node, channels: torch.Tensor) -> bool:
    """Return True if a depthwise convolution makes one channel from each of the layer's."""
    count = shape_of(node)[-1]
    return shape_of(arguments(node)["input"])[-1] == count == int(channels.max()) + 1


def _run(cut: Node, channels: torch.Tensor) -> _Run | None:
    total = int(channels.max()) + 1
    taken = cut.target(channels, *cut.args[1:]).flatten()  # type: ignore[operator]
    first, last = int(taken.min()), int(taken.max()) + 1
    rows = channels.numel() // total
    if taken.numel() != rows * (last - first) or (last - first) % _FOLD:
        return None
    expected = torch.arange(first, last).repeat(rows)
    return (first, last) if torch.equal(taken, expected) else None


def _split(builder: Builder, layer: Node, node: Node, run: _Run, made: _Made) -> Node:
    """Return a layer, or a node between it and a slice, for a run of channels only."""
    if (node, run) in made:
        return made[node, run]
    values, (first, last) = arguments(node), run
    if node is not layer:
        values["input"] = _split(builder, layer, values["input"], run, made)
    if calls(node, "reshape") and shape_of(node)[-1] != shape_of(layer)[-1]:
        source: Node = values["input"]
        return source  # the slice gives the shape
    with builder.graph.inserting_before(node):
        if calls(node, "reshape"):
            values["shape"] = [*shape_of(node)[:-1], last - first]
        elif not calls(node, "lut"):
            outputs = -1 if calls(node, "depthwise_conv2d") else 0
            for name, dim in {"weight": outputs, **dict.fromkeys(_BY_CHANNEL, 0)}.items():
                own = builder.constant_value(values[name])
                assert own is not None
                own = own.narrow(dim, first, last - first)
                values[name] = builder.constant(f"{node.name}_{name}", own, edge_of(values[name]))
        op = dialect_op(node)
        assert op is not None
        new = builder.call(op, *values.values(), edge=edge_of(node), origin=node.meta["origin"])
    made[node, run] = new
    return new
