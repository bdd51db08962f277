# SPDX-License-Identifier: Apache-2.0
"""Fits the dialect graph's inputs and outputs to the layout that the user sees.

Lowering works on contiguous tensors throughout, so that no shape or stride of the user's reaches a
rule. `keep` gives the border back what the user had: a channels_last input or output lies in memory
as NHWC; a channels_last op and a transpose say so, and the layout passes cancel the transpose.
`nhwc`: every rank-4 input and output of the artefact has the shape [N, H, W, C], and no copy.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import (
    NHWC,
    ROW_MAJOR,
    Builder,
    Origin,
    border_nodes,
    edge_of,
    is_channels_last,
    returned,
    with_layout,
)
from aot.dialect.ops.channels_last import channels_last_to_nhwc, nhwc_to_channels_last
from aot.dialect.ops.transpose import transpose
from aot.rules.spatial import TO_NCHW, TO_NHWC

KEEP, TO_NHWC_BORDER = "keep", "nhwc"
LAYOUTS = (KEEP, TO_NHWC_BORDER)


def set_border(
    module: GraphModule,
    inputs: Sequence[torch.Tensor],
    outputs: Sequence[torch.Tensor],
    layout: str,
) -> None:
    """Rewrites the graph in place.

    Args:
      module: a dialect graph whose border is contiguous everywhere.
      inputs: the user's example inputs, in order: their memory format is kept.
      outputs: what the model gives for them, in order.
      layout: KEEP or TO_NHWC_BORDER.
    """
    graph = module.graph
    builder = Builder(module, graph)
    placeholders, results = border_nodes(module)
    for node, user_value in zip(placeholders, inputs, strict=True):
        _set_input(graph, builder, node, user_value, layout)
    output = graph.output_node()
    values = dict(reversed(list(zip(results, outputs, strict=True))))
    with graph.inserting_before(output):
        fitted = {
            node: _set_output(builder, node, values[node], layout)
            for node in dict.fromkeys(results)
        }
    structure, states = returned(module)
    structure = map_arg(structure, lambda n: fitted[n])
    output.args = ((*structure, *states) if states else structure,)
    graph.lint()
    module.recompile()


def _set_input(
    graph: Graph, builder: Builder, node: Node, user_value: torch.Tensor, layout: str
) -> None:
    value = node.meta["val"]
    if value.dim() != 4:
        return
    edge = edge_of(node)
    users = list(node.users)
    origin = Origin(("input",))
    with graph.inserting_before(node.next):
        if layout == TO_NHWC_BORDER:
            n, c, h, w = value.shape
            node.meta["val"] = torch.empty((n, h, w, c), dtype=value.dtype, device="meta")
            node.meta["edge"] = with_layout(edge, NHWC)
            nhwc = node
        elif is_channels_last(user_value):
            value = torch.empty_like(value, memory_format=torch.channels_last)
            node.meta["val"] = value
            nhwc = builder.call(
                channels_last_to_nhwc, node, edge=with_layout(edge, NHWC), origin=origin
            )
        else:
            return
        nchw = builder.call(
            transpose, nhwc, TO_NCHW, edge=with_layout(edge, ROW_MAJOR), origin=origin
        )
    for user in users:
        user.replace_input_with(node, nchw)


def _set_output(builder: Builder, node: Node, value: torch.Tensor, layout: str) -> Node:
    edge = edge_of(node)
    if value.dim() != 4 or (layout == KEEP and not is_channels_last(value)):
        return node
    origin = Origin(("output",))
    nhwc = builder.call(transpose, node, TO_NHWC, edge=with_layout(edge, NHWC), origin=origin)
    if layout == TO_NHWC_BORDER:
        return nhwc
    return builder.call(nhwc_to_channels_last, nhwc, edge=edge, origin=origin)
