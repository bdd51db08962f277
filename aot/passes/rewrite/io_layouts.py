# SPDX-License-Identifier: Apache-2.0
"""Fits the dialect graph's inputs and outputs to the user's I/O layout.

Lowering works on contiguous tensors throughout: no shape or stride of the user reaches a rule.

- `keep` restores the user's layout: a channels_last input or output lies in memory as
  NHWC. A channels_last op and a transpose express it, and the layout passes cancel
  the transpose.
- `nhwc`: every rank-4 input and output of the artefact has the shape [N, H, W, C],
  and no copy.
- `auto`: likewise those of rank 4, and [N, L, C] those of rank 3, that the device
  would have to transpose otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import (
    NHWC,
    ROW_MAJOR,
    Builder,
    Origin,
    border_nodes,
    calls,
    dialect_op,
    edge_of,
    inputs_of,
    is_channels_last,
    returned,
    with_layout,
)
from aot.dialect.io_layout import CHANNELS_FIRST, CHANNELS_LAST, IoLayout
from kernels.strided_copy.op_channels_last import channels_last_to_nhwc, nhwc_to_channels_last
from kernels.strided_copy.op_transpose import transpose

AUTO, KEEP, TO_NHWC_BORDER = "auto", "keep", "nhwc"
LAYOUTS = (AUTO, KEEP, TO_NHWC_BORDER)
# Ops allowed between a transpose and an input or output.
_PASSED = ("quantize", "dequantize", "requantize", "lut", "reshape")


def images_moved(module: GraphModule) -> IoLayout:
    """Return the I/O layout with channels last for all tensors of rank 4 (TO_NHWC_BORDER)."""
    sides = ([n.meta["val"].dim() == 4 for n in nodes] for nodes in border_nodes(module))
    return IoLayout(
        *(frozenset(i for i, is_image in enumerate(side) if is_image) for side in sides)
    )


def transposed_at_border(module: GraphModule) -> list[IoLayout]:
    """Return candidates for a changed I/O layout.

    The first has outputs computed with channels last, and inputs with only such uses. The second
    adds inputs with other uses as well, such as an image joined to a network's result from it.

    Args:
      module: a dialect graph after all rewrites, with the model's I/O layout.
    """
    inputs, outputs = border_nodes(module)
    returned_nodes = set(outputs)

    def becomes_last(node: Node, enough: Callable[[Iterable[bool]], bool]) -> bool:
        if not node.users or (enough is all and node in returned_nodes):
            return False
        return enough(
            _moves_channels(user, last=True) or (_is_passed(user) and becomes_last(user, enough))
            for user in node.users
        )

    def was_last(node: Node) -> bool:
        if len(node.users) != 1:
            return False
        return _moves_channels(node, last=False) or (
            _is_passed(node) and was_last(inputs_of(node)[0])
        )

    made = frozenset(i for i, n in enumerate(outputs) if _may_move(n) and was_last(n))
    found = [
        IoLayout(
            frozenset(i for i, n in enumerate(inputs) if _may_move(n) and becomes_last(n, enough)),
            made,
        )
        for enough in (all, any)
    ]
    return [moved for moved in dict.fromkeys(found) if moved.any]


def transposed_elements(module: GraphModule) -> int:
    """Return the number of elements moved by all transposes of a dialect graph."""
    return sum(
        node.meta["val"].numel()
        for node in module.graph.nodes
        if calls(node, "transpose") and (order := _order(node)) != sorted(order)
    )


def _may_move(node: Node) -> bool:
    value = node.meta["val"]
    return value.dim() in CHANNELS_LAST and not is_channels_last(value)


def _is_passed(node: Node) -> bool:
    op = dialect_op(node)
    return op is not None and op.name in _PASSED and len(inputs_of(node)) == 1


def _order(node: Node) -> list[int]:
    """Return a transpose's order of dimensions with more than one element."""
    source, permutation = node.args[:2]
    assert isinstance(source, Node) and isinstance(permutation, (list, tuple))
    shape = source.meta["val"].shape
    return [int(dim) for dim in permutation if shape[dim] > 1]  # type: ignore[arg-type]


def _moves_channels(node: Node, last: bool) -> bool:
    """Return True for a transpose of channels to the last dimension, or back if not last.

    The batch stays in place.
    """
    if not calls(node, "transpose"):
        return False
    order = _order(node)
    if order and order[0] == min(order):
        order = order[1:]
    dims = sorted(order)
    turned = [*dims[1:], *dims[:1]] if last else [*dims[-1:], *dims[:-1]]
    return order == turned != dims


def set_border(
    module: GraphModule,
    inputs: Sequence[torch.Tensor],
    outputs: Sequence[torch.Tensor],
    moved: IoLayout,
) -> None:
    """Set the I/O layout in place.

    Args:
      module: a dialect graph whose inputs and outputs are all contiguous.
      inputs: the user's example inputs, in order: their memory format is kept.
      outputs: the model's results for them, in order.
      moved: inputs and outputs with channels last in the new shape. A node returned
        several times is moved as a whole.
    """
    graph = module.graph
    builder = Builder(module, graph)
    placeholders, _ = border_nodes(module)
    for index, (node, user_value) in enumerate(zip(placeholders, inputs, strict=True)):
        _set_input(graph, builder, node, user_value, index in moved.inputs)
    _, results = border_nodes(module)  # a returned input is another node by now
    output = graph.output_node()
    values = dict(reversed(list(zip(results, outputs, strict=True))))
    with graph.inserting_before(output):
        fitted = {
            node: _set_output(builder, node, values[node], results.index(node) in moved.outputs)
            for node in dict.fromkeys(results)
        }
    structure, states = returned(module)
    structure = map_arg(structure, lambda n: fitted[n])
    output.args = ((*structure, *states) if states else structure,)
    graph.lint()
    module.recompile()


def _set_input(
    graph: Graph, builder: Builder, node: Node, user_value: torch.Tensor, moved: bool
) -> None:
    value = node.meta["val"]
    edge = edge_of(node)
    users = list(node.users)
    origin = Origin(("input",))
    with graph.inserting_before(node.next):
        if moved:
            shape = value.permute(CHANNELS_LAST[value.dim()]).shape
            node.meta["val"] = torch.empty(shape, dtype=value.dtype, device="meta")
            node.meta["edge"] = with_layout(edge, _layout_of(value))
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
            transpose,
            nhwc,
            CHANNELS_FIRST[value.dim()],
            edge=with_layout(edge, ROW_MAJOR),
            origin=origin,
        )
    for user in users:
        user.replace_input_with(node, nchw)


def _set_output(builder: Builder, node: Node, value: torch.Tensor, moved: bool) -> Node:
    edge = edge_of(node)
    if not moved and not is_channels_last(value):
        return node
    origin = Origin(("output",))
    last = with_layout(edge, _layout_of(value))
    nhwc = builder.call(transpose, node, CHANNELS_LAST[value.dim()], edge=last, origin=origin)
    if moved:
        return nhwc
    return builder.call(nhwc_to_channels_last, nhwc, edge=edge, origin=origin)


def _layout_of(value: torch.Tensor) -> str:
    return NHWC if value.dim() == 4 else ROW_MAJOR
