# SPDX-License-Identifier: Apache-2.0
"""Outputs of a float graph: their classes, choices and parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import arguments, returned
from aot.dialect.results import taken_from
from aot.quality.outputs import Output
from aot.quality.parts import parts_of
from aot.quality.tally import Tally
from aot.rules.movement import PERMUTE_TARGETS, RESHAPE_TARGETS
from aot.upstream.torch import tree_leaves

_MAXIMUM = (torch.ops.aten.argmax.default, torch.ops.aten.max.dim)
_MINIMUM = (torch.ops.aten.argmin.default, torch.ops.aten.min.dim)
_TOPK = torch.ops.aten.topk.default
_AS_THEY_ARE = (
    torch.ops.aten._to_copy.default,
    torch.ops.aten.add.Scalar,
    torch.ops.aten.add.Tensor,
    torch.ops.aten.clone.default,
    torch.ops.aten.reshape.default,
    torch.ops.aten.squeeze.default,
    torch.ops.aten.squeeze.dim,
    torch.ops.aten.squeeze.dims,
    torch.ops.aten.unsqueeze.default,
    torch.ops.aten.view.default,
)
_SOFTMAX = (torch.ops.aten.softmax.int, torch.ops.aten.log_softmax.int)
_LINEAR = torch.ops.aten.linear.default
_LAYERS = (
    torch.ops.aten.convolution.default,
    torch.ops.aten.adaptive_avg_pool2d.default,
    torch.ops.aten.avg_pool2d.default,
)
_MEANS = (torch.ops.aten.mean.dim, *_LAYERS[1:])
_MOVED = (
    *RESHAPE_TARGETS,
    *PERMUTE_TARGETS,
    torch.ops.aten.select.int,
    torch.ops.aten.slice.Tensor,
)
_SCALED = tuple(
    getattr(getattr(torch.ops.aten, name), kind)
    for name in ("add", "sub", "mul", "div")
    for kind in ("Tensor", "Scalar")
)


def outputs_of(
    floats: GraphModule, paths: Sequence[str], exact: Sequence[bool], of_classes: bool = False
) -> list[Output]:
    """Return the outputs of a float graph in order, without samples, and their positions in the
    user's result.

    Three kinds of output are classes: a softmax in its dimension, indices of maxima, and rows of
    two values or more if a layer computes them all. A signal is not, nor a reconstruction of an
    input.

    Args:
      floats: the graph.
      paths: of its outputs.
      exact: for each, no float is on the way to it (aot.dialect.kind.exact_outputs).
      of_classes: the user declares classes: then all rows are classes.
    """
    nodes = [n for n in tree_leaves(returned(floats)[0]) if isinstance(n, Node)]
    found = (_output(node, of_classes or _scores(node)) for node in nodes)
    return [
        replace(output, path=path, is_exact=is_exact, tally=Tally(parts_of(node)))
        for node, output, path, is_exact in zip(nodes, found, paths, exact, strict=True)
    ]


def _scores(node: Node) -> bool:
    """Return True if a value is a row of class scores: a linear layer's results, or means of
    channels.

    A factor, an added number and a change of shape make no difference.
    """
    sizes = [n.meta["val"].shape for n in node.graph.find_nodes(op="placeholder")]
    count: int = node.meta["val"].numel()
    while node.target in (*_MOVED, *_SCALED) and len(_computed(node)) == 1:
        (node,) = _computed(node)
    if node.target is _LINEAR:
        return count not in map(math.prod, sizes)
    if node.target in _LAYERS and node.meta["val"].dim() > 2:
        return int(math.prod(node.meta["val"].shape[2:])) == 1
    return node.target in _MEANS


def _computed(node: Node) -> list[Node]:
    """Return the inputs of a node that are no constants."""
    return [source for source in node.all_input_nodes if source.op != "get_attr"]


def _output(node: Node, is_row_of_classes: bool) -> Output:
    value = node.meta["val"]
    if not value.is_floating_point():
        return replace(_integers(node, value), is_float=False)
    dim = None
    if node.target in _SOFTMAX:
        dim = int(arguments(node)["dim"])
    elif value.dim() == 2 and is_row_of_classes:
        dim = 1
    if dim is None or _classes(node, dim) < 2:
        return Output(node.name, None, False)
    is_class = value.numel() == _classes(node, dim)
    return Output(node.name, dim, is_class, is_choice=node.target in _SOFTMAX)


def _integers(node: Node, value: torch.Tensor) -> Output:
    """An output of integers or masks."""
    chosen = _chosen(node)
    call, place = taken_from(chosen)
    is_value = call is not chosen and place == 0  # a chosen value, and not its index
    if is_value or call.target not in (*_MAXIMUM, *_MINIMUM, _TOPK):
        return Output(node.name, None, value.numel() == 1)
    choice = call.args[0]
    assert isinstance(choice, Node)
    given = arguments(call)
    is_topk = call.target is _TOPK
    dim, count = given.get("dim", -1 if is_topk else None), given["k"] if is_topk else 1
    if _classes(choice, dim) < 2:
        return Output(node.name, dim, value.numel() == 1)
    largest = bool(given.get("largest", call.target not in _MINIMUM))
    return Output(node.name, dim, value.numel() == 1, choice, count, largest, is_choice=True)


def _chosen(node: Node) -> Node:
    """Return the integers underlying a node's, before changes of shape or type or an addition to
    all.
    """
    while node.target in _AS_THEY_ARE and len(node.all_input_nodes) == 1:
        (before,) = node.all_input_nodes
        if before.meta["val"].is_floating_point():
            break
        node = before
    return node


def _classes(node: Node, dim: int | None) -> int:
    value: torch.Tensor = node.meta["val"]
    return value.numel() if dim is None or not value.dim() else value.shape[dim]
