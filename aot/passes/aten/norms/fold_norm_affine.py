# SPDX-License-Identifier: Apache-2.0
"""linear(weight * norm(x) + bias) -> linear(norm(x)), with weight and bias in the layer's; likewise
of convolutions.

For engines to which gain and offset of a norm are operations of their own. Matches LayerNorm,
GroupNorm and norms that were written out, all of whose readers are layers with constant weights,
behind what moves values. Leaves norms whose gains are not alike, for int8 weights would lose what
is scaled down, those of which something else reads the result, and offsets in front of padding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.norms.fuse_batch_norm import ALIKE, scale_inputs
from aot.rules.movement import MOVEMENT
from aot.rules.whole_norm import NORMALIZE
from aot.upstream.torch import OpOverload

_aten = torch.ops.aten
_LINEAR, _CONV = _aten.linear.default, _aten.convolution.default
_GROUP_NORM = _aten.group_norm.default
_NORMS = (_aten.layer_norm.default, _GROUP_NORM, NORMALIZE)


@dataclass(frozen=True)
class _Reader:
    """A layer, and what each of its input channels was multiplied by and added to it."""

    layer: Node
    gain: torch.Tensor
    offset: torch.Tensor


def fold_norm_affine(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many norms lost gain and offset."""
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
    """Whether all that reads a value are layers, which become `readers`, behind movement or not.

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
