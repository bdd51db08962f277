# SPDX-License-Identifier: Apache-2.0
"""Fuses a pl::pad of real zeros over H and W into the padding of the convolutions after it; other
pads stay.

Matches conv(pad(x)), also with transposes between, and reshapes that add or drop dimensions of size
1. Such a pad stands after a model's input, or before a signal that becomes an image of one row.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    NHWC,
    Builder,
    arguments,
    calls,
    dialect_op,
    drop_dead_code,
    edge_of,
    shape_of,
    with_layout,
)
from aot.passes.rewrite.index_map import reordered_by
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_transpose import transpose

_Amounts = list[tuple[int, int]]
"""Padding before and after each dimension."""


def fuse_pad(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many convolutions took a pad in."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not (calls(node, "conv2d") or calls(node, "depthwise_conv2d")):
            continue
        values = arguments(node)
        moved: Node = values["input"]
        steps = [*reordered_by(moved)]
        pad = arguments(steps[-1])["input"] if steps else moved
        if not calls(pad, "pad") or arguments(pad)["value"] != edge_of(pad).zero_point:
            continue
        amounts = _behind(steps, _amounts(pad))
        if amounts is None or any(amounts[0]) or any(amounts[3]):
            continue
        source: Node = arguments(pad)["input"]
        with module.graph.inserting_before(node):
            values["input"] = _moved(builder, source, steps, _amounts(pad))
        values["padding"] = [
            a + b for a, b in zip(values["padding"], (*amounts[1], *amounts[2]), strict=True)
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


def _amounts(pad: Node) -> _Amounts:
    padding = arguments(pad)["padding"]
    return list(zip(padding[::2], padding[1::2], strict=True))


def _behind(steps: Sequence[Node], amounts: _Amounts) -> _Amounts | None:
    """Return the padding of a moved value, from the last step to the first.

    Return None if a step joins or splits dimensions.
    """
    for step in reversed(steps):
        after = _behind_one(step, amounts)
        if after is None:
            return None
        amounts = after
    return amounts


def _behind_one(step: Node, amounts: _Amounts) -> _Amounts | None:
    if calls(step, "transpose"):
        return [amounts[d] for d in arguments(step)["perm"]]
    before, after = shape_of(arguments(step)["input"]), shape_of(step)
    if [size for size in before if size > 1] != [size for size in after if size > 1]:
        return None
    # A padded dimension has more than one element then.
    kept = iter([one for size, one in zip(before, amounts, strict=True) if size > 1])
    return [next(kept) if size > 1 else (0, 0) for size in after]


def _moved(builder: Builder, value: Node, steps: Sequence[Node], amounts: _Amounts) -> Node:
    """Return a value after the movement of the padded value; its channels are last then."""
    if not steps:
        value.meta["edge"] = with_layout(edge_of(value), NHWC)
    for step in reversed(steps):
        edge, origin = edge_of(step), step.meta["origin"]
        after = _behind_one(step, amounts)
        assert after is not None
        amounts = after
        if calls(step, "transpose"):
            perm = arguments(step)["perm"]
            value = builder.call(transpose, value, perm, edge=edge, origin=origin)
        else:
            shape = [n - sum(one) for n, one in zip(shape_of(step), amounts, strict=True)]
            value = builder.call(reshape, value, shape, edge=edge, origin=origin)
    return value
