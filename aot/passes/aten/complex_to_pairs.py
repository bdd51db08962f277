# SPDX-License-Identifier: Apache-2.0
"""Writes complex numbers as pairs of real ones: rotary embeddings by view_as_complex and a product,
Fourier transforms of real signals as products with cosines and sines, magnitudes and angles.

Matches what is made of tensors by view_as_complex, rfft and complex constants, moved, added,
multiplied and conjugated, and becomes real by view_as_real, abs, angle or irfft. Leaves other
complex ops, and what depends on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.passes.aten.build import call, constant
from aot.rules.rule import argument

_aten = torch.ops.aten
_BY_ROOT, _BY_COUNT = 1, 2  # of torch's fft_norm_mode

Pair = tuple[Node, Node]

_MOVES = {
    *(_aten.view.default, _aten.reshape.default, _aten.unsqueeze.default, _aten.squeeze.dims),
    *(_aten.squeeze.dim, _aten.permute.default, _aten.transpose.int, _aten.expand.default),
    *(_aten.slice.Tensor, _aten.select.int, _aten.clone.default, _aten.neg.default),
    *(_aten.repeat.default, _aten.flip.default, _aten.roll.default),
}


def complex_to_pairs(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many values became real."""
    pairs: dict[Node, Pair] = {}
    count = 0
    for node in list(module.graph.nodes):
        value = node.meta.get("val")
        if node.op not in ("get_attr", "call_function") or not isinstance(value, torch.Tensor):
            continue
        behind = node.next if node.op == "get_attr" else node
        with module.graph.inserting_before(behind):
            if value.is_complex():
                pair = _pair(module, node, pairs)
                if pair is not None:
                    pairs[node] = pair
            elif (form := _TO_REAL.get(node.target)) and node.args[0] in pairs:
                result = form(module, node, pairs[node.args[0]])
                if result is not None:
                    node.replace_all_uses_with(result)
                    count += 1
    module.graph.eliminate_dead_code()
    return count


def _pair(module: GraphModule, node: Node, pairs: dict[Node, Pair]) -> Pair | None:
    if node.op == "get_attr":
        known = tensor_constant(module, node)
        if known is None:
            return None
        known = known.resolve_conj()
        parts = (constant(module, node, name, getattr(known, name)) for name in ("real", "imag"))
        real, imaginary = parts
        return real, imaginary
    x, *rest = node.args
    if node.target is _aten.view_as_complex.default:
        return call(node, _aten.select.int, x, -1, 0), call(node, _aten.select.int, x, -1, 1)
    if node.target is _aten._fft_r2c.default:
        return _transformed(module, node)
    if node.target in (_aten.mul.Tensor, _aten.add.Tensor, _aten.sub.Tensor):
        return _arithmetic(node, pairs)
    if x not in pairs or node.kwargs.keys() - {"memory_format"}:
        return None
    real, imaginary = pairs[x]  # type: ignore[index]
    if node.target is _aten._conj.default:
        return real, call(node, _aten.neg.default, imaginary)
    if node.target not in _MOVES:
        return None
    return call(node, node.target, real, *rest), call(node, node.target, imaginary, *rest)


def _arithmetic(node: Node, pairs: dict[Node, Pair]) -> Pair | None:
    a, b = node.args[:2]
    sides = [pairs.get(n) if isinstance(n, Node) else None for n in (a, b)]
    first, second = sides
    # What is complex and has no pair is no real number either.
    for side, n in zip(sides, (a, b), strict=True):
        if side is None and isinstance(n, Node) and n.meta["val"].is_complex():
            return None
    if node.target is _aten.mul.Tensor:
        if first is None or second is None:
            (real, imaginary), factor = (first, b) if first is not None else (second, a)  # type: ignore[misc]
            return tuple(call(node, _aten.mul.Tensor, n, factor) for n in (real, imaginary))  # type: ignore[return-value]
        (p, q), (r, s) = first, second
        products = [call(node, _aten.mul.Tensor, *of) for of in ((p, r), (q, s), (p, s), (q, r))]
        real = call(node, _aten.sub.Tensor, products[0], products[1])
        return real, call(node, _aten.add.Tensor, products[2], products[3])
    if first is None or second is None or argument(node, "alpha") != 1:
        return None
    return tuple(call(node, node.target, *of) for of in zip(first, second, strict=True))  # type: ignore[return-value]


def _transformed(module: GraphModule, node: Node) -> Pair | None:
    arguments: Any = node.args
    x, dims, mode, onesided = arguments
    if len(dims) != 1:
        return None
    dim, size = int(dims[0]), x.meta["val"].shape[dims[0]]
    waves = _waves(size, size // 2 + 1 if onesided else size)
    matrices = [part * _scale(int(mode), size) for part in (waves.cos(), -waves.sin())]
    return tuple(_along(module, node, x, dim, matrix) for matrix in matrices)  # type: ignore[return-value]


def _inverse(module: GraphModule, node: Node, pair: Pair) -> Node | None:
    arguments: Any = node.args
    _, dims, mode, size = arguments
    if len(dims) != 1 or pair[0].meta["val"].shape[dims[0]] != size // 2 + 1:
        return None
    waves = _waves(size, size // 2 + 1).T
    # All frequencies but the first, and the last of an even number, stand for two.
    twice = torch.full((size // 2 + 1, 1), 2.0, dtype=torch.float64)
    twice[0] = 1.0
    if size % 2 == 0:
        twice[-1] = 1.0
    twice = twice * _scale(int(mode), size)
    matrices = twice * waves.cos(), -twice * waves.sin()
    parts = [
        _along(module, node, part, int(dims[0]), matrix)
        for part, matrix in zip(pair, matrices, strict=True)
    ]
    return call(node, _aten.add.Tensor, *parts)


def _waves(size: int, count: int) -> torch.Tensor:
    """Angles [size, count] of each place and frequency."""
    places = torch.arange(size, dtype=torch.float64)[:, None]
    turns = places * torch.arange(count, dtype=torch.float64) % size
    return turns * (2.0 * math.pi / size)


def _scale(mode: int, size: int) -> float:
    return {_BY_ROOT: 1.0 / math.sqrt(size), _BY_COUNT: 1.0 / size}.get(mode, 1.0)


def _along(module: GraphModule, node: Node, x: Node, dim: int, matrix: torch.Tensor) -> Node:
    """The product of a dimension with a matrix [before, after]."""
    matrix = torch.where(matrix.abs() < 1e-12, 0.0, matrix)  # the sine of whole turns
    weight = constant(module, node, "waves", matrix.T.float())
    x = call(node, _aten.transpose.int, x, dim, -1)
    return call(node, _aten.transpose.int, call(node, _aten.linear.default, x, weight), dim, -1)


def _as_real(module: GraphModule, node: Node, pair: Pair) -> Node:
    parts = [call(node, _aten.unsqueeze.default, part, -1) for part in pair]
    return call(node, _aten.cat.default, parts, -1)


_TO_REAL: dict[Any, Callable[[GraphModule, Node, Pair], Node | None]] = {
    _aten.view_as_real.default: _as_real,
    _aten.abs.default: lambda _, node, pair: call(node, _aten.hypot.default, *pair),
    _aten.angle.default: lambda _, node, pair: call(node, _aten.atan2.default, pair[1], pair[0]),
    _aten._fft_c2r.default: _inverse,
}
