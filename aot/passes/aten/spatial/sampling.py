# SPDX-License-Identifier: Apache-2.0
"""grid_sample: pixels gathered by index, times weights. A constant grid gives constant indices and
weights; otherwise each is a pointwise function of one coordinate.

Leaves grids of volumes, and bicubic and reflected samples on a computed grid.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.quantization import INT8, Quantization
from aot.dialect.rule import KNOWN_OUTPUT, Fixed, Within, argument
from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions.builders import Results, as_type, source_of

_aten = torch.ops.aten
_MOST_WEIGHTS = 2**26  # weights of pixels in samples, nearly all 0
_BILINEAR, _NEAREST = 0, 1
_ZEROS, _BORDER = 0, 1

_WEIGHTS = Fixed(Quantization(1.0 / (INT8.quant_max - INT8.quant_min), INT8.quant_min))
"""Fixed range of weights from 0 to 1, independent of calibration.

Rounding may move a position across a pixel; its neighbour pixels and weights then change together.
"""

Tap = tuple[Node, Node | None]
"""Index of a pixel along an axis, and its weight if not always 1."""


def _sampled(module: GraphModule, node: Node) -> Results:
    grid = tensor_constant(module, argument(node, "grid"))
    if grid is not None and not bool((grid != grid[:1]).any()):
        return _on_known(module, node, grid)
    return _on_computed(node)


def _on_known(module: GraphModule, node: Node, grid: torch.Tensor) -> Results:
    """Sample on a constant grid: gather the largest number of pixels that any result needs."""
    x = source_of(node)
    batch, channels, height, width = x.meta["val"].shape
    pixels, size = height * width, list(grid.shape[1:3])
    if pixels * math.prod(size) > _MOST_WEIGHTS:
        return {}
    how = [argument(node, n) for n in ("interpolation_mode", "padding_mode", "align_corners")]
    each = torch.eye(pixels).reshape(1, pixels, height, width)
    weights = _aten.grid_sampler_2d(each, grid[:1].float(), *how).reshape(pixels, -1)
    taps = max(1, int((weights != 0).sum(0).max()))
    places = weights.abs().topk(taps, 0).indices
    flat = call(node, _aten.reshape.default, x, [batch, channels, pixels])
    total: Node | None = None
    for place in places:
        weight = weights.gather(0, place[None])[0]
        index = constant(module, node, "places", place)
        part = call(node, _aten.index_select.default, flat, 2, index)
        if bool((weight != 1.0).any()):
            part = call(node, _aten.mul.Tensor, part, constant(module, node, "weights", weight))
        total = part if total is None else call(node, _aten.add.Tensor, total, part)
    assert total is not None
    return {0: call(node, _aten.reshape.default, total, [batch, channels, *size])}


def _on_computed(node: Node) -> Results:
    """Return the pixels around each place."""
    x, grid = source_of(node), argument(node, "grid")
    mode, padding = argument(node, "interpolation_mode"), argument(node, "padding_mode")
    if mode not in (_BILINEAR, _NEAREST) or padding not in (_ZEROS, _BORDER):
        return {}
    batch, channels, height, width = x.meta["val"].shape
    size = list(grid.meta["val"].shape[1:3])
    count = math.prod(size)
    pixels = call(node, _aten.permute.default, x, [0, 2, 3, 1])
    pixels = call(node, _aten.reshape.default, pixels, [batch, height * width, channels])
    columns = _taps(node, grid, 0, width)
    rows = [
        (call(node, _aten.mul.Tensor, row, width), above)
        for row, above in _taps(node, grid, 1, height)
    ]
    total: Node | None = None
    for (row, above), (column, beside) in itertools.product(rows, columns):
        place = call(node, _aten.add.Tensor, row, column)
        place = call(node, _aten.reshape.default, place, [batch, count, 1])
        place = call(node, _aten.expand.default, place, [batch, count, channels])
        part = call(node, _aten.gather.default, pixels, 1, place)
        if above is not None and beside is not None:
            weight = _known(call(node, _aten.mul.Tensor, above, beside), _WEIGHTS)
            weight = call(node, _aten.reshape.default, weight, [batch, count, 1])
            part = _known(call(node, _aten.mul.Tensor, part, weight), Within(0))
        if total is not None:
            part = _known(call(node, _aten.add.Tensor, total, part), Within(0))
        total = part
    assert total is not None
    total = call(node, _aten.reshape.default, total, [batch, *size, channels])
    return {0: call(node, _aten.permute.default, total, [0, 3, 1, 2])}


def _taps(node: Node, grid: Node, axis: int, length: int) -> list[Tap]:
    """Return the pixels of samples along an axis of this length."""
    mode, padding = argument(node, "interpolation_mode"), argument(node, "padding_mode")
    last = length - 1
    span = last if argument(node, "align_corners") else length
    at = call(node, _aten.select.int, grid, 3, axis)
    at = call(node, _aten.mul.Scalar, at, span / 2)
    at = call(node, _aten.add.Scalar, at, last / 2)
    if padding == _BORDER:
        at = call(node, _aten.clamp.default, at, 0.0, float(last))
    if mode == _NEAREST:
        first = call(node, _aten.round.default, at)
        found: list[Tap] = [(first, None)]
    else:
        first = call(node, _aten.floor.default, at)
        part = _known(call(node, _aten.sub.Tensor, at, first), _WEIGHTS)
        rest = _known(call(node, _aten.rsub.Scalar, part, 1.0), _WEIGHTS)
        found = [(first, rest), (call(node, _aten.add.Scalar, first, 1.0), part)]
    return [_inside(node, tap, last, padding == _ZEROS) for tap in found]


def _inside(node: Node, tap: Tap, last: int, zeros: bool) -> Tap:
    """Return a tap clamped into the image, with weight 0 if it was outside."""
    at, weight = tap
    if zeros:
        after = call(node, _aten.ge.Scalar, at, 0.0)
        before = call(node, _aten.le.Scalar, at, float(last))
        inside = as_type(node, call(node, _aten.logical_and.default, after, before), torch.float32)
        weight = inside if weight is None else call(node, _aten.mul.Tensor, weight, inside)
        weight = _known(weight, _WEIGHTS)
    place = call(node, _aten.clamp.default, at, 0.0, float(last))
    return as_type(node, place, torch.int64), weight


def _known(node: Node, output: Fixed | Within) -> Node:
    """Return a value with a known range."""
    node.meta[KNOWN_OUTPUT] = output
    return node


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    _aten.grid_sampler_2d.default: _sampled,
}
