# SPDX-License-Identifier: Apache-2.0
"""linear(x)[..., a:b] -> linear(x) of these channels only: each part has a range of its own.

Queries, keys and values of attention are often one layer, whose result is cut; as one value they
would have one scale. Matches a layer of whose result only slices and selections are read that each
take all of a run of channels, one or more of them on the way to a product (aot/rules/matmul.py).
Between the layer and the cut, and behind it, may be what moves values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import drop_dead_code, tensor_constant
from aot.dialect.transposes import movement
from aot.passes.aten.build import call, constant
from aot.passes.aten.fold_scales import SCALINGS
from aot.rules.matmul import PRODUCTS
from aot.rules.movement import readers
from aot.rules.rule import argument

_aten = torch.ops.aten
_LINEAR = _aten.linear.default
_CUTS = (_aten.slice.Tensor, _aten.select.int)


def split_layers(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many layers were split."""
    count = 0
    for node in list(module.graph.nodes):
        if node.target is not _LINEAR or tensor_constant(module, node.args[1]) is None:
            continue
        cuts = list(readers(node))
        if len(cuts) < 2 or any(cut.target not in _CUTS for cut in cuts):
            continue
        if not any(_reaches_product(cut) for cut in cuts):
            continue
        parts = [part for cut in cuts if (part := _part(node, cut)) is not None]
        if len(parts) < len(cuts):
            continue
        for cut, part in zip(cuts, parts, strict=True):
            with module.graph.inserting_before(cut):
                cut.replace_all_uses_with(_layer(module, node, cut, part))
        drop_dead_code(module.graph)
        count += 1
    return count


def _reaches_product(node: Node) -> bool:
    return any(
        reader.target in PRODUCTS or (reader.target in SCALINGS and _reaches_product(reader))
        for reader in readers(node)
    )


@dataclass(frozen=True)
class _Part:
    """The channels from `first` to `last`, and how they become a cut's value: reshaped, then
    permuted.
    """

    first: int
    last: int
    sizes: list[int]
    perm: list[int]


def _part(layer: Node, cut: Node) -> _Part | None:
    """What a cut takes; None if that is not a run of channels, or not all of each."""
    value = layer.meta["val"]
    places = _moved(layer, cut, torch.arange(value.numel()).reshape(value.shape))
    channels = (places % value.shape[-1]).unique()
    first, count = int(channels[0]), len(channels)
    last = first + count
    if channels.tolist() != list(range(first, last)) or places.numel() * value.shape[-1] != (
        value.numel() * count
    ):
        return None
    # Where the elements are in the result of the part alone.
    places = places // value.shape[-1] * count + places % value.shape[-1] - first
    moved = movement(places)
    return None if moved is None else _Part(first, last, *moved)


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
        own = None if known is None else known[part.first : part.last]
        parameters.append(None if own is None else constant(module, layer, "part", own))
    value = call(layer, _LINEAR, layer.args[0], *parameters)
    if list(value.meta["val"].shape) != part.sizes:
        value = call(cut, _aten.reshape.default, value, part.sizes)
    if part.perm != sorted(part.perm):
        value = call(cut, _aten.permute.default, value, part.perm)
    return value
