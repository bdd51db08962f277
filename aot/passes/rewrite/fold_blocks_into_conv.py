# SPDX-License-Identifier: Apache-2.0
"""conv2d or linear over blocks of pixels that became channels -> conv2d over the pixels themselves.

A convolution of blocks of 2 x 2 pixels equals one over pixels, with a kernel and strides twice as
large. The products and the bits are the same, and no pixel is moved. Matches the lowered forms of
space to depth, patch merging, and windows without overlap. Each row of a block is one pixel of the
new convolution: its bytes are contiguous if channels are last. An image with channels first gets
them last before; this costs no more than making blocks of it.

Leaves blocks that are narrower than high, also a signal of one row with channels first; dilated
kernels; and blocks with other readers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    NHWC,
    ROW_MAJOR,
    Builder,
    arguments,
    calls,
    drop_dead_code,
    edge_of,
    shape_of,
    tensor_constant,
    with_layout,
)
from aot.passes.rewrite.index_map import before_movement, is_transposed, reordered_by
from kernels.conv2d.op import conv2d
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_transpose import transpose

_LAST = [0, 2, 3, 1]
_LAYERS = ("conv2d", "linear")
_READERS = (*_LAYERS, "reshape", "transpose")


@dataclass(frozen=True)
class _Blocks:
    """Layout of a layer's input in an image of [N, H, W, C].

    Attributes:
      image: sizes of a channels-first image for conversion to channels last; None: they
        are last.
      shape: of the image; a block's columns count as one with more channels.
      rows: of a block.
      order: position in a block, row after row, of each of the layer's input channels.
    """

    image: list[int] | None
    shape: list[int]
    rows: int
    order: torch.Tensor


def fold_blocks_into_conv(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many layers changed."""
    count = 0
    builder = Builder(module, module.graph)
    for node in list(module.graph.nodes):
        if not any(calls(node, name) for name in _LAYERS):
            continue
        values = arguments(node)
        weight = tensor_constant(module, values["weight"])
        if weight is None or not _takes_blocks(node) or not _is_for_layers(values["input"]):
            continue
        source, in_source = before_movement(values["input"])
        if calls(node, "linear"):
            weight = weight[:, None, None, :]
        places = _as_image(in_source) if _is_of_rows(node) else in_source
        blocks = None if places is None else _blocks_of(places, shape_of(source))
        if blocks is None:
            continue
        with module.graph.inserting_before(node):
            new = _convolved(builder, node, source, blocks, weight)
        node.replace_all_uses_with(new)
        count += 1
    if drop_dead_code(module.graph) or count:
        module.recompile()
    return count


def _is_of_rows(node: Node) -> bool:
    """Return True if a layer processes each pixel by itself, so that any rows of them are its
    image.
    """
    if calls(node, "linear"):
        return True
    values = arguments(node)
    is_of_one = shape_of(values["weight"])[1:3] == (1, 1) and values["stride"] == [1, 1]
    return is_of_one and not any(values["padding"])


def _takes_blocks(node: Node) -> bool:
    values = arguments(node)
    if calls(node, "linear"):
        return True
    kernel = shape_of(values["weight"])
    return values["groups"] == 1 and (values["dilation"][0] == 1 or kernel[1] == 1)


def _is_for_layers(node: Node) -> bool:
    """Return True if a value was transposed for layers only."""
    readers = {user for step in reordered_by(node) for user in step.users}
    return is_transposed(node) and all(any(calls(r, n) for n in _READERS) for r in readers)


def _as_image(places: torch.Tensor) -> torch.Tensor | None:
    """Return rows of a linear layer as an image with two dimensions; None if impossible."""
    rows = places.reshape(-1, places.shape[-1])
    starts = rows[:, 0]
    step = int(starts[1] - starts[0]) if len(starts) > 1 else 0
    breaks = (starts.diff() != step).nonzero().flatten()
    width = int(breaks[0]) + 1 if len(breaks) else len(starts)
    return rows.reshape(1, -1, width, rows.shape[1]) if len(starts) % width == 0 else None


def _blocks(places: torch.Tensor) -> _Blocks | None:
    """Return a convolution's blocks from the index map of its input in a channels-last image.

    Return None if they are no blocks.
    """
    samples, height, width, depth = places.shape
    if width == 1:
        return None
    run = int(places[0, 0, 1, 0] - places[0, 0, 0, 0])
    line = width * run
    if run < 1 or depth % run or depth == run:
        return None
    rows = depth // run
    if run < rows:
        return None
    block = places[0, 0, 0]
    row, column = block // line, block % line
    order = row * run + column
    if int(column.max()) >= run or int(row.max()) >= rows:
        return None
    pixels = torch.arange(samples * height * rows * line).reshape(samples, height, rows, width, run)
    expected = pixels.permute(0, 1, 3, 2, 4).reshape(places.shape)[..., order]
    if not torch.equal(expected, places):
        return None
    return _Blocks(None, [samples, height * rows, width, run], rows, order)


def _blocks_of(places: torch.Tensor, shape: tuple[int, ...]) -> _Blocks | None:
    """Return `_blocks` for an image of this shape, possibly with channels first."""
    blocks = _blocks(places)
    if blocks is not None or len(shape) != 4:
        return blocks
    last = torch.arange(places.numel()).reshape(shape).permute(_LAST).flatten().argsort()
    blocks = _blocks(last[places])
    return blocks and replace(blocks, image=list(shape))


def _convolved(
    builder: Builder, node: Node, source: Node, blocks: _Blocks, weight: torch.Tensor
) -> Node:
    values, origin = arguments(node), node.meta["origin"]
    edge = with_layout(edge_of(values["input"]), ROW_MAJOR)
    if blocks.image is not None:
        source = builder.call(reshape, source, blocks.image, edge=edge, origin=origin)
        source = builder.call(transpose, source, _LAST, edge=edge, origin=origin)
    pixels = with_layout(edge, NHWC)
    source = builder.call(reshape, source, blocks.shape, edge=pixels, origin=origin)
    outputs, height, width, _ = weight.shape
    rows, run = blocks.rows, blocks.shape[-1]
    weight = weight[..., blocks.order.argsort()].unflatten(-1, (rows, run))
    weight = weight.transpose(2, 3).reshape(outputs, height * rows, width, run)
    name = str(values["weight"].target)
    layer = {
        "input": source,
        "weight": builder.constant(name, weight, edge_of(values["weight"])),
        **{name: values[name] for name in ("bias", "multiplier", "shift")},
    }
    down, across = values.get("stride", [1, 1])
    top, bottom, left, right = values.get("padding", [0, 0, 0, 0])
    _, apart = values.get("dilation", [1, 1])
    layer |= {
        "stride": [down * rows, across],
        "padding": [top * rows, bottom * rows, left, right],
        "dilation": [1, apart],
        "groups": 1,
    }
    layer |= {name: value for name, value in values.items() if name not in layer}
    new = builder.call(
        conv2d, *layer.values(), edge=with_layout(edge_of(node), NHWC), origin=origin
    )
    if shape_of(new) == shape_of(node):
        return new
    return builder.call(reshape, new, list(shape_of(node)), edge=edge_of(node), origin=origin)
