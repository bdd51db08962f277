# SPDX-License-Identifier: Apache-2.0
"""Makes an InstanceNorm a norm of as many groups as there are channels.

For several samples, ATen writes it as a batch norm of one sample without running statistics. Its
channels are those of all samples: reshape, norm, reshape. Channels in the last dimension would have
to be moved for it, there and back. Leaves norms whose weights differ between samples.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.results import taken_from
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.rules.movement import RESHAPE_TARGETS

_aten = torch.ops.aten
_BATCH_NORM = _aten._native_batch_norm_legit.no_stats


def _weights(module: GraphModule, norm: Node, channels: int) -> list[torch.Tensor | None] | None:
    """Return weight and bias of a sample's channels; None if samples differ."""
    found: list[torch.Tensor | None] = []
    for name in ("weight", "bias"):
        given = argument(norm, name)
        value = tensor_constant(module, given)
        if value is None and given is not None:
            return None
        rows = None if value is None else value.reshape(-1, channels)
        if rows is not None and not torch.equal(rows, rows[:1].expand_as(rows)):
            return None
        found.append(None if rows is None else rows[0])
    return found


def _norm_between(after: Node) -> tuple[Node, Node, Node] | None:
    """Return the batch norm before a reshape, the reshape before it, and its input.

    Return None if there is no such norm.
    """
    if after.target not in RESHAPE_TARGETS:
        return None
    result = after.args[0]
    assert isinstance(result, Node)
    norm, index = taken_from(result)
    if norm.target is not _BATCH_NORM or index != 0 or len(result.users) != 1:
        return None
    before = norm.args[0]
    assert isinstance(before, Node)
    if before.target not in RESHAPE_TARGETS or len(norm.users) != 1:
        return None
    source = before.args[0]
    assert isinstance(source, Node)
    return norm, before, source


def instance_to_group_norm(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many norms changed."""
    count = 0
    for node in list(module.graph.nodes):
        found = _norm_between(node)
        if found is None:
            continue
        norm, before, source = found
        shape = tuple(source.meta["val"].shape)
        samples, channels, *pixels = shape if len(shape) > 1 else (0, 0)
        joined = (1, samples * channels, *pixels)
        if shape != tuple(node.meta["val"].shape) or tuple(before.meta["val"].shape) != joined:
            continue
        weights = _weights(module, norm, channels)
        if weights is None:
            continue
        with module.graph.inserting_before(node):
            affine = (w if w is None else constant(module, norm, "affine", w) for w in weights)
            eps = argument(norm, "eps")
            new = call(node, _aten.group_norm.default, source, channels, *affine, eps)
        node.replace_all_uses_with(new)
        count += 1
    return count
