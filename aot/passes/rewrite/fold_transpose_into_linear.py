# SPDX-License-Identifier: Apache-2.0
"""linear(reshape(transpose(x))) -> linear(reshape(x)) with the weight's columns reordered.

Matches a transpose that leaves dimension 0 in place and a reshape of it to [N, K]: what flatten
does between NHWC convolutions and a classifier. The columns are a constant, so the transpose costs
nothing on the device.
"""

from __future__ import annotations

import math

from torch.fx import GraphModule

from aot.dialect.graph import (
    Builder,
    arguments,
    calls,
    drop_dead_code,
    edge_of,
    shape_of,
    tensor_constant,
)
from aot.dialect.ops.linear import linear
from aot.dialect.ops.reshape import reshape
from aot.dialect.transposes import inverse


def fold_transpose_into_linear(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many linears were rewritten."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not calls(node, "linear"):
            continue
        values = arguments(node)
        flat = values["input"]
        if not calls(flat, "reshape") or not calls(flat.args[0], "transpose"):
            continue
        moved = flat.args[0]
        perm, source = list(arguments(moved)["perm"]), moved.args[0]
        shape, dims = shape_of(flat), shape_of(moved)
        if (
            perm[0] != 0
            or len(shape) != 2
            or shape[0] != dims[0]
            or shape[1] != math.prod(dims[1:])
        ):
            continue
        weight = tensor_constant(module, values["weight"])
        assert weight is not None
        columns = weight.reshape(weight.shape[0], *dims[1:]).permute(inverse(perm))
        with module.graph.inserting_before(node):
            x = builder.call(
                reshape, source, list(shape), edge=edge_of(flat), origin=flat.meta["origin"]
            )
            values["input"] = x
            values["weight"] = builder.constant(
                str(values["weight"].target), columns.reshape(weight.shape)
            )
            new = builder.call(
                linear, *values.values(), edge=edge_of(node), origin=node.meta["origin"]
            )
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
        count += 1
    if drop_dead_code(module.graph) or count:
        module.recompile()
    return count
