# SPDX-License-Identifier: Apache-2.0
"""Takes a pl::pad of real zeros over H and W into the padding of the convolution behind it; other
pads stay.

Matches conv(pad(x)), and conv(transpose(pad(x))) as it stands behind a model's input.
"""

from __future__ import annotations

from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    NHWC,
    Builder,
    arguments,
    calls,
    dialect_op,
    drop_dead_code,
    edge_of,
    with_layout,
)
from aot.dialect.ops.transpose import transpose


def fuse_pad(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many convolutions took a pad in."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not (calls(node, "conv2d") or calls(node, "depthwise_conv2d")):
            continue
        values = arguments(node)
        moved = values["input"]
        pad = moved.args[0] if calls(moved, "transpose") else moved
        if not calls(pad, "pad"):
            continue
        source, padding, value = pad.args
        assert isinstance(source, Node) and isinstance(padding, list)
        perm = arguments(moved)["perm"] if pad is not moved else [0, 1, 2, 3]
        (n0, n1), (top, bottom), (left, right), (c0, c1) = (
            padding[2 * d : 2 * d + 2] for d in perm
        )
        if any((n0, n1, c0, c1)) or value != edge_of(pad).zero_point:
            continue
        if pad is moved:
            source.meta["edge"] = with_layout(edge_of(source), NHWC)
            values["input"] = source
        else:
            with module.graph.inserting_before(node):
                values["input"] = builder.call(
                    transpose, source, perm, edge=edge_of(moved), origin=moved.meta["origin"]
                )
        values["padding"] = [
            a + b for a, b in zip(values["padding"], (top, bottom, left, right), strict=True)
        ]
        op = dialect_op(node)
        assert op is not None
        with module.graph.inserting_before(node):
            new = builder.call(op, *values.values(), edge=edge_of(node), origin=node.meta["origin"])
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
        count += 1
    if drop_dead_code(module.graph) or count:
        module.recompile()
    return count
