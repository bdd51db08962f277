# SPDX-License-Identifier: Apache-2.0
"""Parts of an output that may differ in scale: columns of a linear layer, channels of a
convolution, and values that a `cat` joins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from aot.dialect.graph import arguments, tensor_constant
from aot.quality.nodes import call
from aot.rules.movement import MOVEMENT

_aten = torch.ops.aten
_JOINS = (_aten.cat.default, _aten.stack.default)
_MOVES = (
    *MOVEMENT,
    _aten.clone.default,
    _aten.expand.default,
    _aten.flip.default,
    _aten.index_select.default,
    _aten.select.int,
    _aten.slice.Tensor,
)
_COLUMNS = (
    _aten.addmm.default,
    _aten.bmm.default,
    _aten.linear.default,
    _aten.matmul.default,
    _aten.mm.default,
)
_POOLS = (
    _aten.adaptive_avg_pool2d.default,
    _aten.avg_pool1d.default,
    _aten.avg_pool2d.default,
    _aten.max_pool2d.default,
    _aten.upsample_bilinear2d.vec,
    _aten.upsample_nearest2d.vec,
)
_REDUCTIONS = (_aten.mean.dim, _aten.sum.dim_IntList, _aten.amax.default, _aten.amin.default)
_MIXING = (_aten.softmax.int, _aten.log_softmax.int, _aten.cumsum.default)
"""Each result depends on a whole row, so the row is one part."""


@dataclass(frozen=True)
class OutputParts:
    """An output in parts.

    Attributes:
      of: index of the part of each element, int64.
      names: of the parts, for people.
      joined: the values that a `cat` or `stack` joins; empty if there is none.
    """

    of: torch.Tensor
    names: list[str]
    joined: tuple[Node, ...] = ()

    def sums(self, elements: torch.Tensor) -> torch.Tensor:
        """Return the sum over each part, float64."""
        total = torch.zeros(len(self.names), dtype=torch.float64)
        return total.index_add_(0, self.of.flatten(), elements.double().flatten())


def parts_of(node: Node) -> OutputParts | None:
    """Return the parts of a value of the float graph; None if it has one only, or integers."""
    if not node.meta["val"].is_floating_point():
        return None
    found = _parts(node, {})
    kept, of = found.of.unique(return_inverse=True)
    if len(kept) < 2:
        return None
    return OutputParts(of, [found.names[i] for i in kept.tolist()], found.joined)


def _parts(node: Node, known: dict[Node, OutputParts]) -> OutputParts:
    """Return the parts of a value, and add them to the known ones."""
    if node not in known:
        known[node] = _found(node, known)
    return known[node]


def _found(node: Node, known: dict[Node, OutputParts]) -> OutputParts:
    shape = node.meta["val"].shape
    sources = [n for n in node.all_input_nodes if n.op != "get_attr"]
    if any(not isinstance(n.meta["val"], torch.Tensor) for n in sources):  # one of several results
        return _whole(node)
    if node.target in _JOINS:
        return _joined(node, known)
    if node.target in _COLUMNS and shape:
        return _along(node, len(shape) - 1, "column")
    if node.target is _aten.convolution.default or node.target in _POOLS:
        return _along(node, 1 if len(shape) > 2 else 0, "channel")
    if node.op != "call_function" or not sources or node.target in _MIXING:
        return _whole(node)
    inner = _parts(sources[0], known)
    if node.target in _MOVES and len(sources) == 1:
        return OutputParts(_called(node, sources[0], inner.of), inner.names, inner.joined)
    if node.target in _REDUCTIONS and sources[0].meta["val"].dim():
        return _reduced(node, inner)
    # An op of several values of one shape, such as a residual, has the parts of the finest.
    alike = [_parts(n, known) for n in sources if n.meta["val"].shape == shape]
    return max(alike, key=lambda one: len(one.names), default=_whole(node))


def _whole(node: Node) -> OutputParts:
    return OutputParts(torch.zeros(node.meta["val"].shape, dtype=torch.int64), [f"`{node.name}`"])


def _along(node: Node, dim: int, kind: str) -> OutputParts:
    shape = node.meta["val"].shape
    row = [1] * len(shape)
    row[dim] = shape[dim]
    names = [f"{kind} {i} of `{node.name}`" for i in range(shape[dim])]
    return OutputParts(torch.arange(shape[dim]).reshape(row).expand(shape).contiguous(), names)


def _joined(node: Node, known: dict[Node, OutputParts]) -> OutputParts:
    sources = arguments(node)["tensors"]
    names: list[str] = []
    indices = []
    for source in sources:
        inner = _parts(source, known)
        indices.append(inner.of + len(names))
        names += inner.names
    dim = int(arguments(node).get("dim", 0) or 0)
    join = torch.cat if node.target is _aten.cat.default else torch.stack
    return OutputParts(join(indices, dim), names, tuple(dict.fromkeys(sources)))


def _called(node: Node, source: Node, indices: torch.Tensor) -> torch.Tensor:
    """Return the indices of parts after an op that only moves elements."""

    module = node.graph.owning_module
    assert module is not None

    def lookup(n: Node) -> Any:
        return indices if n is source else tensor_constant(module, n)

    return torch.as_tensor(call(node, lookup)).contiguous()


def _reduced(node: Node, inner: OutputParts) -> OutputParts:
    """Return the parts of sums over dimensions, if each is over elements of one part."""
    dims = arguments(node).get("dim")
    dims = list(dims) if isinstance(dims, list | tuple) else list(range(inner.of.dim()))
    keepdim = bool(arguments(node).get("keepdim", False))
    low, high = (f(inner.of, dim=dims, keepdim=keepdim) for f in (torch.amin, torch.amax))
    if bool((low != high).any()) or low.shape != node.meta["val"].shape:
        return _whole(node)
    return OutputParts(low, inner.names, inner.joined)
