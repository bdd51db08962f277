# SPDX-License-Identifier: Apache-2.0
"""Cross-layer equalization: channels between two layers get one magnitude; the function stays.

Matches a convolution or linear layer and the next one. Ops between them have no other readers, work
on each channel alone, and pass a factor on: relu(x / s) = relu(x) / s for s > 0. So do leaky ReLUs,
pools, means, zero padding, resampling, and reshapes that drop or add dimensions of 1. After a mean
or a flatten the next layer may be a linear one. The first layer's weights of a channel are divided
by the factor of the second's. Folded BatchNorms follow.

A value has one scale for all channels, so the magnitude of the first layer's result counts. The
second layer's weights have one scale per row. A layer with one row per channel (depthwise) is not
affected. Leaves layers with shared weights, transposed convolutions with groups, and clamps with an
upper limit.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import arguments, tensor_constant
from aot.dialect.rule import reduction
from aot.passes.aten.norms.fuse_batch_norm import scale_norm, scale_norm_inputs, scale_read

_aten = torch.ops.aten
_CONV, _LINEAR = _aten.convolution.default, _aten.linear.default
_ELEMENTWISE = (_aten.relu.default, _aten.leaky_relu.default, _aten.prelu.default)
_OF_IMAGES = (
    _aten.max_pool2d.default,
    _aten.avg_pool2d.default,
    _aten.adaptive_avg_pool2d.default,
    _aten.upsample_nearest2d.default,
    _aten.upsample_nearest2d.vec,
    _aten.upsample_bilinear2d.default,
    _aten.upsample_bilinear2d.vec,
)
_BETWEEN = (*_ELEMENTWISE, *_OF_IMAGES, _aten.constant_pad_nd.default, _aten.mean.dim)
_MOVES = (
    _aten.squeeze.dims,
    _aten.unsqueeze.default,
    _aten.view.default,
    _aten.reshape.default,
)
_ROUNDS = 20  # along a chain of layers; most of them change nothing
_SMALLEST = 1e-8  # of a channel's magnitude; smaller ones are dead and stay


def _is_transposed(layer: Node) -> bool:
    return layer.target is _CONV and bool(layer.args[6])


def _input_dim(layer: Node) -> int:
    """Return the input dimension of a layer's weights; the other one of the first two is the
    output's.
    """
    return 0 if _is_transposed(layer) else 1


def _weight(module: GraphModule, node: object) -> torch.Tensor | None:
    """Return the weight of a layer that can be scaled by channel."""
    if not isinstance(node, Node) or node.target not in (_CONV, _LINEAR):
        return None
    if _is_transposed(node) and node.args[8] != 1:
        return None
    source = node.args[1]
    owned = isinstance(source, Node) and len(source.users) == 1
    return tensor_constant(module, source) if owned else None


def _is_depthwise(node: Node, channels: int) -> bool:
    return node.target is _CONV and channels > 1 and bool(node.args[8] == channels)


def _channel_dim(layer: Node) -> int:
    return 1 if layer.target is _CONV else layer.meta["val"].dim() - 1


def _keeps_channels(node: Node, value: Node, dim: int) -> int | None:
    """Return the channel dimension after an op reading a value with channels in `dim`.

    The op must work on each channel alone and pass a factor on; otherwise return None. After a
    flatten, the dimension holds all elements of each channel in sequence.
    """
    if node.target not in (*_BETWEEN, *_MOVES) or node.args[0] is not value:
        return None
    before, after = value.meta["val"].shape, node.meta["val"].shape
    if node.target is _aten.mean.dim:
        over, is_kept = reduction(node, len(before))
        return None if dim in over else dim - (0 if is_kept else sum(d < dim for d in over))
    if node.target is _aten.constant_pad_nd.default:
        pads, value_around = [*arguments(node)["pad"]], arguments(node)["value"]
        of_channels = pads[2 * (len(before) - dim - 1) :][:2]
        return None if value_around or any(of_channels) else dim
    if node.target in _OF_IMAGES:  # a linear layer's channels are their columns
        return dim if dim < len(before) - 2 else None
    if node.target not in _MOVES:
        return dim
    # The sizes before the channels stay the same. Those after them stay too, or are flattened into
    # one.
    found = [d for d in range(len(after)) if after[:d].numel() == before[:dim].numel()]
    for d in reversed(found):
        if after[d] == before[dim] or (d == len(after) - 1 and after[d] == before[dim:].numel()):
            return d
    return None


def _pair(module: GraphModule, first: Node) -> Node | None:
    """Return the layer reading a layer's channels one by one."""
    if _weight(module, first) is None or len(first.users) != 1:
        return None
    value, (second,) = first, first.users
    dim = _channel_dim(first)
    channels = first.meta["val"].shape[dim]
    while len(second.users) == 1 and (found := _keeps_channels(second, value, dim)) is not None:
        dim = found
        value, (second,) = second, second.users
    weight = _weight(module, second)
    if weight is None or second.args[0] is not value:
        return None
    is_whole = second.target is _LINEAR or second.args[8] == 1 or _is_depthwise(second, channels)
    is_there = dim == (1 if second.target is _CONV else value.meta["val"].dim() - 1)
    is_one = second.target is _LINEAR or value.meta["val"].shape[dim] == channels
    return second if is_whole and is_there and is_one else None


def _by_channel(values: torch.Tensor, factor: torch.Tensor, dim: int) -> torch.Tensor:
    return values * factor.reshape([-1 if d == dim else 1 for d in range(values.dim())])


def _replace(module: GraphModule, layer: Node, index: int, value: torch.Tensor) -> None:
    source = layer.args[index]
    assert isinstance(source, Node)
    name = f"{layer.name}_{('input', 'weight', 'bias')[index]}_equalized"
    module.register_buffer(name, value)
    source.target = name


def _equalize(module: GraphModule, first: Node, second: Node) -> bool:
    weight, behind = _weight(module, first), _weight(module, second)
    assert weight is not None and behind is not None
    bias = first.args[2] if len(first.args) > 2 else None
    offset = tensor_constant(module, bias)
    if bias is not None and (offset is None or len(bias.users) != 1):  # type: ignore[union-attr]
        return False
    to, of = 1 - _input_dim(first), _input_dim(second)
    size = weight.transpose(0, to).flatten(1).norm(dim=1)
    channels = weight.shape[to]
    if _is_depthwise(second, channels):
        wanted = size
    else:
        wanted = (
            size / behind.transpose(0, of).reshape(channels, -1).abs().amax(1).clamp(min=_SMALLEST)
        ).sqrt()
    alive = (size > _SMALLEST) & (wanted > _SMALLEST)
    if not bool(alive.any()):
        return False
    factor = torch.where(alive, wanted / wanted[alive].log().mean().exp(), 1.0)
    if torch.allclose(factor, torch.ones_like(factor), rtol=1e-3):
        return False
    _replace(module, first, 1, _by_channel(weight, 1.0 / factor, to))
    if offset is not None:
        _replace(module, first, 2, offset / factor)
    dim = 0 if _is_depthwise(second, channels) else of
    factors = factor.repeat_interleave(behind.shape[dim] // channels)
    _replace(module, second, 1, _by_channel(behind, factors, dim))
    scale_norm(first, 1.0 / factor)
    scale_norm_inputs(second, lambda weight: _by_channel(weight, factors, dim))
    node = second
    while node is not first:
        node = node.all_input_nodes[0]
        scale_read(node, 1.0 / factor)
    return True


def equalize_channels(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many pairs of layers changed."""
    pairs = [(n, second) for n in module.graph.nodes if (second := _pair(module, n)) is not None]
    changed: set[Node] = set()
    for _ in range(_ROUNDS):
        done = [first for first, second in pairs if _equalize(module, first, second)]
        changed.update(done)
        if not done:
            break
    return len(changed)
