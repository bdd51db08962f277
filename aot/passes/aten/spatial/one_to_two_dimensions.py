# SPDX-License-Identifier: Apache-2.0
"""Makes a 1d convolution a 2d one of height 1: a convolution over [N, C, L] becomes unsqueeze,
convolution over [N, C, 1, L], squeeze. torch does the same to 1d pools.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import new_buffer, tensor_constant
from aot.passes.aten.norms.fuse_batch_norm import keep_trained

_aten = torch.ops.aten
_CONV = _aten.convolution.default
_PAD = _aten.constant_pad_nd.default


def _lift_convolution(module: GraphModule, node: Node) -> bool:
    value = node.meta["val"]
    weight = tensor_constant(module, node.args[1])
    if value.dim() != 3 or weight is None:
        return False
    graph = module.graph
    x, _, bias, stride, padding, dilation, transposed, output_padding, groups = node.args
    assert isinstance(x, Node)
    pad = x if x.target is _PAD and len(x.users) == 1 else None
    source = x if pad is None else pad.args[0]
    assert isinstance(source, Node)
    name = new_buffer(module, f"{node.name}_weight_2d", weight.unsqueeze(-2))
    with graph.inserting_before(node):
        w = graph.get_attr(name)
        w.meta["val"] = torch.empty_like(weight.unsqueeze(-2), device="meta")
        wide = graph.call_function(_aten.unsqueeze.default, (source, -2))
        wide.meta = {**node.meta, "val": source.meta["val"].unsqueeze(-2)}
        if pad is not None:  # stays directly before the convolution for fusion
            _, sizes, *value_of_pad = pad.args
            assert isinstance(sizes, list | tuple)
            wide_sizes = [*sizes[:2], 0, 0, *sizes[2:]]  # nothing around the new dimension
            wide = graph.call_function(_PAD, (wide, wide_sizes, *value_of_pad), pad.kwargs)
            wide.meta = {**pad.meta, "val": x.meta["val"].unsqueeze(-2)}
        lifted = [[1, *stride], [0, *padding], [1, *dilation]]  # type: ignore[misc]
        conv = graph.call_function(
            _CONV,
            (wide, w, bias, *lifted, transposed, [0, *output_padding], groups),  # type: ignore[misc]
        )
        conv.meta = {**node.meta, "val": value.unsqueeze(-2)}
        out = graph.call_function(_aten.squeeze.dims, (conv, [-2]))
        out.meta = dict(node.meta)
        keep_trained(node, out)
    node.replace_all_uses_with(out)
    graph.erase_node(node)
    return True


def one_to_two_dimensions(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many convolutions changed."""
    nodes = list(module.graph.nodes)
    return sum(_lift_convolution(module, node) for node in nodes if node.target is _CONV)
