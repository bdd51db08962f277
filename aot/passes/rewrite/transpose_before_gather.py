# SPDX-License-Identifier: Apache-2.0
"""transpose(gather(x)) -> gather(transpose(x)), if the gather makes more of fewer elements.

Matches nearest upsampling and tiling before a convolution. Their input has its channels first, such
as the result of a linear layer or the model's input. Fewer elements are transposed, and a layer
making them may absorb the transpose. Leaves gathers with other readers, and those without
enlargement.
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
    """A gather, and a reshape after it adding and dropping dimensions of size 1.

    Attributes:
      node: the gather.
      shape: shape of its input, with the dimensions after the reshape.
      dims: the gathered ones among these dimensions.
    """

    node: Node
    shape: list[int]
    dims: list[int]


def transpose_before_gather(module: GraphModule) -> int:
    """Rewrite the graph in place; return the number of gathers now after a transpose."""
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
    """Return the gather whose only reader is a transpose, if it makes more elements
    than it reads.
    """
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
    """Return the transpose replacing it before the gather."""
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
