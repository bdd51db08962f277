# SPDX-License-Identifier: Apache-2.0
"""linear(x)[..., a:b] -> linear(x) of these channels only: each part has a range of its own.

Queries, keys and values of attention are often one layer with a sliced result. As one value they
would have one scale. Slices of heads or of a channels-last result would need copies. Matches a
linear layer, or a 1x1 convolution, if all readers are slices and selections of complete channels.
At least one of them leads to a product (aot/rules/matmul.py). Data movement may lie between the
layer and the slice, and after it.
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
    """Rewrite the graph in place; return how many layers were split."""
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
    """Return the channel dimension of a layer's result.

    Return None if it is no layer, or slower in parts.
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
    """Return a slice's channels; None if it does not take all elements of them."""
    value = layer.meta["val"]
    total, behind = value.shape[dim], math.prod(value.shape[dim + 1 :])
    places = _moved(layer, cut, torch.arange(value.numel()).reshape(value.shape))
    of_places = (places // behind % total).contiguous()
    channels = of_places.unique()
    if places.numel() * total != value.numel() * len(channels):
        return None
    # Positions of the elements in the result of the part alone.
    rows = places // (behind * total) * len(channels) + torch.searchsorted(channels, of_places)
    moved = movement(rows * behind + places % behind)
    return None if moved is None else _Part(channels, *moved)


def _moved(layer: Node, node: Node, value: torch.Tensor) -> torch.Tensor:
    """Return a node's result with another value in place of the layer's."""
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
    """Return the slice's value, from a layer of its own."""
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
