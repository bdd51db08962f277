# SPDX-License-Identifier: Apache-2.0
"""transpose(gather(x)) -> gather(transpose(x)), where the gather makes more of fewer elements.

Matches what nearest upsampling and tiling leave in front of a convolution when what they read has
its channels first, as a linear layer or the model's input gives it: fewer elements are transposed,
and a layer that makes them may take the transpose in. Leaves gathers that something else reads, and
those that take no more than there is.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    Builder,
    Edge,
    arguments,
    calls,
    edge_of,
    shape_of,
)
from aot.passes.rewrite.sink_transposes import match_unit_dims
from kernels.gather.op import gather
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_transpose import transpose


@dataclass(frozen=True)
class _Gathered:
    """A gather, and a reshape behind it that adds and drops dimensions of size 1.

    Attributes:
      node: the gather.
      shape: what it reads, with the dimensions that are there behind the reshape.
      dims: those of the gather, among these.
    """

    node: Node
    shape: list[int]
    dims: list[int]


def transpose_before_gather(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many gathers come behind a transpose now."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        turned = node if calls(node, "transpose") else None
        while turned is not None and (gathered := _gathered(turned)) is not None:
            turned = _moved(builder, turned, gathered)
            count += 1
    if count:
        module.recompile()
    return count


def _gathered(turned: Node) -> _Gathered | None:
    """The gather that a transpose alone reads, if it makes more elements than it reads."""
    node: Node = arguments(turned)["input"]
    shape = shape_of(node)
    if calls(node, "reshape") and len(node.users) == 1:
        node = arguments(node)["input"]
    if not calls(node, "gather") or len(node.users) != 1:
        return None
    source, dims = arguments(node)["input"], arguments(node)["dims"]
    before = shape_of(source)
    matched = match_unit_dims(shape_of(node), shape)
    if matched is None or any(d not in matched for d in dims):
        return None
    if node.meta["val"].numel() <= source.meta["val"].numel():
        return None
    apart = [1 if d is None else before[d] for d in matched]
    return _Gathered(node, apart, [matched.index(d) for d in dims])


def _moved(builder: Builder, turned: Node, gathered: _Gathered) -> Node:
    """The transpose that stands in front of the gather instead."""
    values, perm = arguments(gathered.node), arguments(turned)["perm"]
    edge, origin = edge_of(turned), turned.meta["origin"]
    source: Node = values["input"]
    dims = [perm.index(d) for d in gathered.dims]
    with builder.graph.inserting_before(turned):
        if list(shape_of(source)) != gathered.shape:
            apart = Edge(edge.quantization)
            source = builder.call(reshape, source, gathered.shape, edge=apart, origin=origin)
        first = builder.call(transpose, source, perm, edge=edge, origin=origin)
        origin = gathered.node.meta["origin"]
        new = builder.call(gather, first, values["indices"], dims, edge=edge, origin=origin)
    turned.replace_all_uses_with(new)
    while turned is not gathered.node:
        behind, turned = turned, arguments(turned)["input"]
        builder.graph.erase_node(behind)
    builder.graph.erase_node(gathered.node)
    return first
