# SPDX-License-Identifier: Apache-2.0
"""pl::mean_pool2d: sums by a DEPTHWISE_CONV2D with one weight, RESCALE. Windows may count different
numbers of elements, for example next to padding. Equal windows then share a SLICE, followed by
CONCAT.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import torch

from aot.backends.ethos_u.block import INT8, INT32, INT48, TosaValue
from aot.backends.ethos_u.emitters.conv2d import bad_kernel
from aot.backends.ethos_u.emitters.depthwise_conv2d import results_for_one
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.pools import tiled, tiles
from aot.backends.ethos_u.emitters.rescaling import requantized, span_of, too_large
from aot.backends.ethos_u.emitters.slice import emit as strided
from aot.backends.ethos_u.emitters.windows import bad_size, fitted
from aot.backends.ethos_u.tosa import TosaGraph
from aot.dialect.arithmetic import divided
from kernels.mean_pool2d.op import GUARD_BITS, Window, pool_windows

_MOST_PIECES = 16


@dataclass(frozen=True)
class _Band:
    """Equal windows along an axis: they read the input's elements [begin, end)."""

    begin: int
    end: int
    kernel: int
    stride: int
    padding: tuple[int, int]
    windows: int
    count: int


def _bands(windows: Sequence[Window]) -> list[_Band]:
    """Return runs of windows with equal length, count and distance."""
    groups: list[list[Window]] = []
    for window in windows:
        last = groups[-1] if groups else []
        if last and _goes_on([*last[-2:], window]):
            last.append(window)
        else:
            groups.append([window])
    return [
        _Band(
            group[0].begin,
            group[-1].end,
            group[0].end - group[0].begin,
            group[1].begin - group[0].begin if len(group) > 1 else 1,
            (0, 0),
            len(group),
            group[0].counted,
        )
        for group in groups
    ]


def _goes_on(windows: Sequence[Window]) -> bool:
    lengths = {(w.end - w.begin, w.counted) for w in windows}
    steps = {b.begin - a.begin for a, b in pairwise(windows)}
    return len(lengths) == len(steps) == 1 and min(steps) > 0


def _pieces(
    shape: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    parts: Sequence[int],
    padding: Sequence[int],
    output_size: Sequence[int],
    by_count: bool,
    count_include_pad: bool,
) -> tuple[list[_Band], list[_Band]]:
    """Return the bands of rows and of columns."""
    if not by_count and list(parts) == [1, 1]:
        # The part of a window in the padding adds 0, and so does the part after it.
        rows, columns = (
            [_Band(0, shape[1 + d], kernel[d], stride[d], (before, after), output_size[d], 1)]
            for d, before, after in ((0, padding[0], padding[1]), (1, padding[2], padding[3]))
        )
        return rows, columns
    x = torch.empty(shape, device="meta")
    layout = kernel, stride, parts, padding, output_size, count_include_pad
    found = pool_windows(x, *layout)
    return _bands(found[0]), _bands(found[1])


def _layout(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    names = "kernel stride parts padding output_size by_count count_include_pad"
    return {name: arguments[name] for name in names.split()}


def reject(input: torch.Tensor, by_count: bool, multiplier: int, shift: int, **rest: Any) -> str:
    bands = _pieces(input.shape, **_layout({**rest, "by_count": by_count}))
    pieces = list(product(*bands))
    if len(pieces) > _MOST_PIECES:
        return f"its windows are of {len(pieces)} kinds and places, of at most {_MOST_PIECES}"
    for y, x in pieces:
        factor = divided(multiplier, shift, y.count * x.count if by_count else 1)
        largest = torch.tensor(y.kernel * x.kernel * span_of(input) << GUARD_BITS[input.dtype])
        if problem := bad_kernel((y.kernel, x.kernel), (1, 1)) or too_large(largest, *factor):
            return problem
    return bad_size(input.shape)


def emit(
    graph: TosaGraph,
    input: TosaValue,
    by_count: bool,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
    **rest: Any,
) -> TosaValue:
    rows, columns = _pieces(input.shape, **_layout({**rest, "by_count": by_count}))
    found = []
    for y in rows:
        cells = []
        for x in columns:
            factor = divided(multiplier, shift, y.count * x.count if by_count else 1)
            part = _part(graph, _part(graph, input, 1, y), 2, x)
            means = _Means(graph, input.dtype, factor, input_zero_point, output_zero_point)
            cells.append(means.of(part, y, x))
        found.append(graph.concat(cells, 2) if len(cells) > 1 else cells[0])
    return graph.concat(found, 1) if len(found) > 1 else found[0]


def _part(graph: TosaGraph, x: TosaValue, dim: int, band: _Band) -> TosaValue:
    start, size = [0] * 4, list(x.shape)
    start[dim], size[dim] = band.begin, band.end - band.begin
    return x if size == list(x.shape) else graph.slice(x, start, size)


@dataclass(frozen=True)
class _Means:
    """Sums of windows times a factor."""

    graph: TosaGraph
    dtype: int
    factor: tuple[int, int]
    input_zero_point: int
    output_zero_point: int

    def of(self, x: TosaValue, rows: _Band, columns: _Band) -> TosaValue:
        graph = self.graph
        kernel, stride = (rows.kernel, columns.kernel), (rows.stride, columns.stride)
        padding, windows = (*rows.padding, *columns.padding), (rows.windows, columns.windows)
        for d in tiles(x.shape, kernel, stride, padding, windows, separable=False):
            y, _, _ = tiled(graph, x, kernel, stride, windows, d, self._pooled)
            return y  # the windows' other dimension is 1
        steps = [results_for_one(s) if w > 1 else 1 for s, w in zip(stride, windows, strict=True)]
        nearer = [s // step for s, step in zip(stride, steps, strict=True)]
        every = [(w - 1) * step + 1 for w, step in zip(windows, steps, strict=True)]
        x, pads, strides = fitted(graph, x, kernel, nearer, padding, (1, 1), every)
        y = self._pooled(x, kernel, strides, pads)
        for d, step in enumerate(steps):
            if every[d] > 1 and step > 1:
                y = strided(graph, y, 1 + d, 0, every[d], step)
        return y

    def _pooled(
        self, x: TosaValue, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]
    ) -> TosaValue:
        graph, channels = self.graph, x.shape[3]
        bits = GUARD_BITS[torch.int8 if x.dtype == INT8 else torch.int16]
        weight = torch.full((*kernel, channels, 1), 1 << bits)
        window = stride, padding
        sums = graph.depthwise_conv2d(x, weight, [0] * channels, self.input_zero_point, *window)
        if sums.dtype == INT48:  # multiplied by 15 bits only
            sums = graph.for_rescale(graph.rescale(sums, 1 << 14, 14, INT32))
        return requantized(graph, sums, *self.factor, self.output_zero_point, dtype=self.dtype)


EMITTER = Emitter(emit, reject)
