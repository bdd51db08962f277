# SPDX-License-Identifier: Apache-2.0
"""linear(x)[..., a:b] -> linear(x) of these channels only: each part has a range of its own.

Queries, keys and values of attention are often one layer, whose result is cut; as one value they
would have one scale, and what is cut out of each head or lies channels last would be copied.
Matches a linear layer, or a convolution of one pixel, of whose result only slices and selections
are read that each take all of some channels, one or more of them on the way to a product
(aot/rules/matmul.py). Between the layer and the cut, and behind it, may be what moves values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import drop_dead_code, tensor_constant
from aot.dialect.rule import argument
from aot.dialect.transposes import movement
from aot.passes.aten.build import call, constant
from aot.passes.aten.channels.fold_scales import SCALINGS
from aot.rules.matmul import PRODUCTS
from aot.rules.movement import readers

_aten = torch.ops.aten
_LINEAR, _CONVOLUTION = _aten.linear.default, _aten.convolution.default
_CUTS = (_aten.slice.Tensor, _aten.select.int)


def split_layers(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many layers were split."""
    count = 0
    for node in list(module.graph.nodes):
        dim = _channel_dim(module, node)
        if dim is None:
            continue
        cuts = list(readers(node))
        if len(cuts) < 2 or any(cut.target not in _CUTS for cut in cuts):
            continue
        if not any(_reaches_product(cut) for cut in cuts):
            continue
        parts = [part for cut in cuts if (part := _part(node, dim, cut)) is not None]
        if len(parts) < len(cuts):
            continue
        for cut, part in zip(cuts, parts, strict=True):
            with module.graph.inserting_before(cut):
                cut.replace_all_uses_with(_layer(module, node, cut, part))
        drop_dead_code(module.graph)
        count += 1
    return count


def _channel_dim(module: GraphModule, node: Node) -> int | None:
    """The dimension of a layer's result that its channels are in; None if it is no layer, or one
    that takes longer in parts.
    """
    if node.target not in (_LINEAR, _CONVOLUTION):
        return None
    weight = tensor_constant(module, argument(node, "weight"))
    if weight is None:
        return None
    if node.target is _LINEAR:
        return len(node.meta["val"].shape) - 1
    is_whole = argument(node, "groups") == 1 and not argument(node, "transposed")
    return 1 if is_whole and math.prod(weight.shape[2:]) == 1 else None


def _reaches_product(node: Node) -> bool:
    return any(
        reader.target in PRODUCTS or (reader.target in SCALINGS and _reaches_product(reader))
        for reader in readers(node)
    )


@dataclass(frozen=True)
class _Part:
    """Some channels, and how they become a cut's value: reshaped, then permuted."""

    channels: torch.Tensor
    sizes: list[int]
    perm: list[int]


def _part(layer: Node, dim: int, cut: Node) -> _Part | None:
    """What a cut takes; None if that is not all of some channels."""
    value = layer.meta["val"]
    total, behind = value.shape[dim], math.prod(value.shape[dim + 1 :])
    places = _moved(layer, cut, torch.arange(value.numel()).reshape(value.shape))
    of_places = (places // behind % total).contiguous()
    channels = of_places.unique()
    if places.numel() * total != value.numel() * len(channels):
        return None
    # Where the elements are in the result of the part alone.
    rows = places // (behind * total) * len(channels) + torch.searchsorted(channels, of_places)
    moved = movement(rows * behind + places % behind)
    return None if moved is None else _Part(channels, *moved)


def _moved(layer: Node, node: Node, value: torch.Tensor) -> torch.Tensor:
    """What a node makes of a value in place of the layer's."""
    chain: list[Node] = []
    while node is not layer:
        chain.append(node)
        source = node.args[0]
        assert isinstance(source, Node)
        node = source
    target: Any
    for step in reversed(chain):
        target = step.target
        value = target(value, *step.args[1:], **step.kwargs)
    return value


def _layer(module: GraphModule, layer: Node, cut: Node, part: _Part) -> Node:
    """The cut's value, from a layer of its own."""
    parameters = []
    for node in (argument(layer, "weight"), argument(layer, "bias")):
        known = tensor_constant(module, node)
        own = None if known is None else known[part.channels]
        parameters.append(None if own is None else constant(module, layer, "part", own))
    value = call(layer, layer.target, layer.args[0], *parameters, *layer.args[3:])
    if list(value.meta["val"].shape) != part.sizes:
        value = call(cut, _aten.reshape.default, value, part.sizes)
    if part.perm != sorted(part.perm):
        value = call(cut, _aten.permute.default, value, part.perm)
    return value
