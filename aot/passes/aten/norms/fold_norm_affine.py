# SPDX-License-Identifier: Apache-2.0
"""linear(weight * norm(x) + bias) -> linear(norm(x)), with weight and bias in the layer's; likewise
of convolutions.

For engines needing extra operations for gain and offset of a norm. Matches LayerNorm, GroupNorm and
written-out norms. All readers are layers with constant weights, possibly after data movement.
Leaves norms with very different gains: int8 weights would lose the small ones. Also leaves results
with other readers, and offsets before padding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.norms.fuse_batch_norm import ALIKE, scale_inputs
from aot.rules.fused_norm import NORMALIZE
from aot.rules.movement import MOVEMENT
from aot.upstream.torch import OpOverload

_aten = torch.ops.aten
_LINEAR, _CONV = _aten.linear.default, _aten.convolution.default
_GROUP_NORM = _aten.group_norm.default
_NORMS = (_aten.layer_norm.default, _GROUP_NORM, NORMALIZE)


@dataclass(frozen=True)
class _Reader:
    """A layer, and the gain and offset of each of its input channels."""

    layer: Node
    gain: torch.Tensor
    offset: torch.Tensor


def fold_norm_affine(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many norms lost gain and offset."""
    return sum(_fold(module, node) for node in module.graph.nodes if node.target in _NORMS)


def _fold(module: GraphModule, norm: Node) -> bool:
    shape = norm.meta["val"].shape
    given = []
    for name, neutral in (("weight", 1.0), ("bias", 0.0)):
        known = argument(norm, name)
        value = torch.tensor(neutral) if known is None else tensor_constant(module, known)
        if value is None:
            return False
        if norm.target is _GROUP_NORM and value.dim() == 1:
            value = value.reshape(-1, *[1] * (len(shape) - 2))
        given.append(value.to(torch.float64))
    gain, offset = given
    sizes = gain.abs()
    is_plain = bool((gain == 1).all()) and not offset.any()
    if is_plain or float(sizes.max()) > ALIKE * float(sizes.min()):
        return False
    readers: list[_Reader] = []
    if not _find(module, norm, gain.expand(shape), offset.expand(shape), readers):
        return False
    for reader in readers:
        name = f"{norm.name}_before_{reader.layer.name}"
        scale_inputs(module, reader.layer, name, reader.gain, reader.offset)
    for name in ("weight", "bias"):
        norm.update_arg(_position(norm, name), None)
    return True


def _position(node: Node, name: str) -> int:
    target = cast(OpOverload, node.target)
    return [argument.name for argument in target._schema.arguments].index(name)


def _find(
    module: GraphModule,
    node: Node,
    gain: torch.Tensor,
    offset: torch.Tensor,
    readers: list[_Reader],
) -> bool:
    """Return True if all readers of a value are layers, possibly after data movement.

    They are added to `readers`.

    Args:
      gain, offset: of each element of the value.
    """
    for user in node.users:
        if user.all_input_nodes.count(node) != 1 or user.args[0] is not node:
            return False
        if user.target in MOVEMENT:
            move, rest = cast(OpOverload, user.target), user.args[1:]
            moved = [move(v.contiguous(), *rest, **user.kwargs) for v in (gain, offset)]
            if not _find(module, user, moved[0], moved[1], readers):
                return False
            continue
        if not _is_layer(module, user):
            return False
        dim = -1 if user.target is _LINEAR else 1
        by_channel = [v.movedim(dim, -1).reshape(-1, v.shape[dim]) for v in (gain, offset)]
        if not all((v == v[0]).all() for v in by_channel):
            return False
        found = _Reader(user, by_channel[0][0], by_channel[1][0])
        pads = user.target is _CONV and any(argument(user, "padding"))
        if pads and found.offset.any():
            return False
        readers.append(found)
    return bool(node.users)


def _is_layer(module: GraphModule, node: Node) -> bool:
    if node.target is not _LINEAR and (node.target is not _CONV or argument(node, "transposed")):
        return False
    bias = argument(node, "bias")
    constants = [argument(node, "weight"), *([] if bias is None else [bias])]
    return all(tensor_constant(module, value) is not None for value in constants)
