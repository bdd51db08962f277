# SPDX-License-Identifier: Apache-2.0
"""Discrete Fourier transforms over one or several dimensions, as products with cosines and sines. A
real value takes two products per dimension. A complex value takes two products of its concatenated
parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions.builders import times_matrix

_aten = torch.ops.aten
_BY_ROOT, _BY_COUNT = 1, 2  # values of torch's fft_norm_mode

Part = Node | None
"""A real or imaginary part; None if it is zero."""
Pair = tuple[Part, Part]


def of_real(module: GraphModule, node: Node) -> Pair:
    """Return _fft_r2c: half of the frequencies of the last dimension if it is
    one-sided, else all.
    """
    arguments: Any = node.args
    x, dims, mode, onesided = arguments
    *others, last = dims
    shape = x.meta["val"].shape
    waves = _waves(shape[last], shape[last] // 2 + 1 if onesided else shape[last])
    scale = _scale(mode, [shape[dim] for dim in dims])
    cosines, sines = waves.cos() * scale, -waves.sin() * scale
    pair = tuple(times_matrix(module, node, x, last, part) for part in (cosines, sines))
    return _over(module, node, pair, others, 1.0, forward=True)  # type: ignore[arg-type]


def of_pair(module: GraphModule, node: Node, pair: Pair) -> Pair:
    """Return _fft_c2c, forward or backward."""
    arguments: Any = node.args
    x, dims, mode, forward = arguments
    scale = _scale(mode, [x.meta["val"].shape[dim] for dim in dims])
    return _over(module, node, pair, dims, scale, forward)


def to_real(module: GraphModule, node: Node, pair: Pair) -> Node | None:
    """Return _fft_c2r: a real value from half of the last dimension's frequencies."""
    arguments: Any = node.args
    x, dims, mode, size = arguments
    *others, last = dims
    shape = x.meta["val"].shape
    if shape[last] != size // 2 + 1:
        return None
    scale = _scale(mode, [*(shape[dim] for dim in others), size])
    pair = _over(module, node, pair, others, 1.0, forward=False)
    waves = _waves(size, size // 2 + 1).T
    # All frequencies but the first, and the last of an even number, stand for two.
    twice = torch.full((size // 2 + 1, 1), 2.0, dtype=torch.float64)
    twice[0] = 1.0
    if size % 2 == 0:
        twice[-1] = 1.0
    twice = twice * scale
    result = _mixed(module, node, pair, last, twice * waves.cos(), -twice * waves.sin())
    return whole(module, node, result)


def whole(module: GraphModule, node: Any, part: Part) -> Node:
    """Return a part as a tensor of a node's shape, of zeros where it is nothing."""
    if part is not None:
        return part
    return constant(module, node, "zero", torch.zeros(node.meta["val"].shape))


def _over(
    module: GraphModule, node: Node, pair: Pair, dims: Sequence[int], scale: float, forward: bool
) -> Pair:
    """Transform further dimensions. The first of them scales."""
    for dim in dims:
        some = pair[0] or pair[1]
        if some is None:
            break
        size = some.meta["val"].shape[dim]
        waves = _waves(size, size)
        cosines, sines = waves.cos() * scale, waves.sin() * (scale if forward else -scale)
        pair = (
            _mixed(module, node, pair, dim, cosines, sines),
            _mixed(module, node, pair, dim, -sines, cosines),
        )
        scale = 1.0
    return pair


def _mixed(
    module: GraphModule, node: Node, pair: Pair, dim: int, first: torch.Tensor, second: torch.Tensor
) -> Part:
    """Return the sum of the parts' products with two matrices: one product of both side by side."""
    parts = [(part, m) for part, m in zip(pair, (first, second), strict=True) if part is not None]
    if not parts:
        return None
    if len(parts) == 1:
        return times_matrix(module, node, parts[0][0], dim, parts[0][1])
    both = call(node, _aten.cat.default, list(pair), dim)
    return times_matrix(module, node, both, dim, torch.cat([first, second]))


def _waves(size: int, count: int) -> torch.Tensor:
    """Return angles [size, count] of each position and frequency."""
    places = torch.arange(size, dtype=torch.float64)[:, None]
    turns = places * torch.arange(count, dtype=torch.float64) % size
    return turns * (2.0 * math.pi / size)


def _scale(mode: int, sizes: Sequence[int]) -> float:
    count = math.prod(sizes)
    return {_BY_ROOT: 1.0 / math.sqrt(count), _BY_COUNT: 1.0 / count}.get(int(mode), 1.0)
