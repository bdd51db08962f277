# SPDX-License-Identifier: Apache-2.0
"""layer((x / 255 - mean) / deviation) -> layer(x), with the factors and the offsets in its weights
and its bias, for what the model is given and normalises by number or channel.

Matches additions, subtractions, multiplications and divisions by constants, one behind the other,
between an input and a linear layer or a convolution, where nobody else reads them. A convolution
pads with zeros of what is normalised: there the offsets stay as one addition, if that is fewer ops.
Leaves factors of very different size, as int8 weights would lose the small ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.passes.aten.build import call, constant
from aot.passes.aten.fuse_batch_norm import ALIKE, scale_inputs
from aot.rules.integers import is_given
from aot.rules.movement import beneath_movement
from aot.rules.rule import argument

_aten = torch.ops.aten
_LINEAR, _CONV = _aten.linear.default, _aten.convolution.default
_SUMS = {_aten.add.Tensor: 1.0, _aten.sub.Tensor: -1.0}
_PRODUCTS = (_aten.mul.Tensor, _aten.div.Tensor)


@dataclass(frozen=True)
class _Normalised:
    """gain * x + offset, by channel, in float64.

    Attributes:
      ops: how many give it.
      tables: how many of them have one number for all channels.
    """

    x: Node
    gain: torch.Tensor
    offset: torch.Tensor
    ops: int
    tables: int


def fold_normalisation(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many layers took a normalisation in."""
    count = 0
    for layer in list(module.graph.nodes):
        channels = _channels(module, layer)
        found = None if channels is None else _normalised(module, layer, channels)
        if found is None:
            continue
        gain, offset = found.gain, found.offset
        if layer.target is _CONV and any(argument(layer, "padding")) and bool(offset.any()):
            if found.ops - max(found.tables - 1, 0) < 2:
                continue  # one op, or one table
            moved = (offset / gain).to(torch.float32)
            shape = [-1] + [1] * (layer.args[0].meta["val"].dim() - 2)
            with module.graph.inserting_before(layer):
                number = constant(module, layer, "offset", moved.reshape(shape))
                x = call(layer.args[0], _aten.add.Tensor, found.x, number)
            layer.update_arg(0, x)
            scale_inputs(module, layer, f"{layer.name}_given", gain, torch.zeros_like(offset))
        else:
            layer.update_arg(0, found.x)
            scale_inputs(module, layer, f"{layer.name}_given", gain, offset)
        count += 1
    return count


def _channels(module: GraphModule, layer: Node) -> int | None:
    """How many channels a layer with constant weights reads; None of other nodes."""
    if layer.target is not _LINEAR and (layer.target is not _CONV or argument(layer, "transposed")):
        return None
    weight = tensor_constant(module, layer.args[1])
    if weight is None:
        return None
    return int(weight.shape[1]) * (1 if layer.target is _LINEAR else int(argument(layer, "groups")))


def _normalised(module: GraphModule, layer: Node, channels: int) -> _Normalised | None:
    value = layer.args[0]
    assert isinstance(value, Node)
    dim = value.meta["val"].dim() - 1 if layer.target is _LINEAR else 1
    gain = torch.ones(channels, dtype=torch.float64)
    offset = torch.zeros_like(gain)
    ops = tables = 0
    while (step := _step(module, value, dim)) is not None and len(value.users) == 1:
        source, factor, added = step
        offset = offset + gain * added
        gain = gain * factor
        ops, tables = ops + 1, tables + (factor.numel() == added.numel() == 1)
        value = source
    sizes = gain.abs()
    is_alike = bool(gain.isfinite().all()) and float(sizes.max()) <= ALIKE * float(sizes.min())
    if not ops or not is_alike or float(sizes.min()) == 0.0 or not _is_input(value):
        return None
    return _Normalised(value, gain, offset, ops, tables)


def _step(
    module: GraphModule, node: Node, dim: int
) -> tuple[Node, torch.Tensor, torch.Tensor] | None:
    """(x, factor, added) of x * factor + added, of one element or one for each channel."""
    if node.target not in (*_SUMS, *_PRODUCTS) or node.kwargs:
        return None
    x, other = node.args[:2]
    sign = 1.0
    if not _is_computed(module, x):
        if node.target is _aten.div.Tensor:
            return None
        x, other, sign = other, x, _SUMS.get(node.target, 1.0)
    if not isinstance(x, Node) or x.meta["val"].shape != node.meta["val"].shape:
        return None
    number = tensor_constant(module, other)
    if number is None and not isinstance(other, int | float):
        return None
    value = torch.as_tensor(other if number is None else number, dtype=torch.float64)
    shape = [1] * (node.meta["val"].dim() - value.dim()) + list(value.shape)
    if value.numel() > 1 and [n for i, n in enumerate(shape) if i != dim] != [1] * (len(shape) - 1):
        return None
    value, one = value.flatten(), torch.ones(1, dtype=torch.float64)
    if node.target in _SUMS:
        return x, one * sign, value * (_SUMS[node.target] if sign > 0 else 1.0)
    return x, value if node.target is _aten.mul.Tensor else 1.0 / value, one * 0.0


def _is_computed(module: GraphModule, value: object) -> bool:
    return isinstance(value, Node) and tensor_constant(module, value) is None


def _is_input(value: Node) -> bool:
    """Whether a value is what the model is given, or that in another order."""
    source = beneath_movement(value)
    source = source.all_input_nodes[0] if is_given(source) else source
    return source.op == "placeholder" and "state" not in source.meta
