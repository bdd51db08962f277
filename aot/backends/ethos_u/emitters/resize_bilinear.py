# SPDX-License-Identifier: Apache-2.0
"""pl::resize_bilinear by integer factors, with half pixels (align_corners=False).

CONCAT joins the edges and copies of each pixel. A DEPTHWISE_CONV2D follows; its windows over the
copies apply the interpolation weights. RESCALE ends it. A single row or column is only copied, to
any size.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters import gather
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import requantized
from aot.backends.ethos_u.emitters.windows import bad_size
from aot.backends.ethos_u.tosa import TosaGraph
from aot.dialect.arithmetic import divide_round_half_away, quantize_multiplier, requantize

_LARGEST_FACTOR = 8
_LARGEST = 128


def _taps(factor: int) -> list[int]:
    """Return the weights of a window over copies; the result lies in its middle."""
    if factor % 2:
        return [1] * factor
    return [1, *[2] * (factor - 1), 1]


def _is_half_pixel(size: int, factor: int, step: int, offset: int, unit: int) -> bool:
    """Return True if o * step + offset equals (o + 1/2) / factor - 1/2 in units."""
    return 2 * factor * step == 2 * unit and 2 * factor * offset == (1 - factor) * unit


@functools.cache
def scale_of(total: int) -> tuple[int, int, int] | None:
    """Return the weights' factor, multiplier and shift for the division of all sums by their total.

    The rounding equals the dialect's. Return None if there is no such scale.
    """
    sums = torch.arange(-_LARGEST * total, _LARGEST * total)
    wanted = divide_round_half_away(sums, torch.tensor(total))
    for more in (2, 1):
        scale = quantize_multiplier(1.0 / (more * total))
        if torch.equal(requantize(sums * more, *scale), wanted):
            return (more, *scale)
    return None


def reject(
    input: torch.Tensor,
    output_size: Sequence[int],
    step: Sequence[int],
    offset: Sequence[int],
    unit: Sequence[int],
) -> str:
    factors = _factors(input.shape, output_size)
    for d, factor in enumerate(factors):
        size = input.shape[1 + d]
        if size == 1:
            continue
        if factor * size != output_size[d]:
            return f"it goes from {size} to {output_size[d]}, not by a whole factor"
        if factor > _LARGEST_FACTOR:
            return f"a factor of {factor}, of at most {_LARGEST_FACTOR}"
        if factor > 1 and not _is_half_pixel(size, factor, step[d], offset[d], unit[d]):
            return "its corners are aligned: then no two pixels have the same weights"
    if scale_of(math.prod(sum(_taps(f)) for f in factors)) is None:
        return "its weighted means are not rounded once"
    return bad_size((1, *output_size, input.shape[3]))


def emit(
    graph: TosaGraph,
    input: TosaValue,
    output_size: Sequence[int],
    step: Sequence[int],
    offset: Sequence[int],
    unit: Sequence[int],
) -> TosaValue:
    x, factors = input, _factors(input.shape, output_size)
    for d, factor in enumerate(factors):
        if factor > 1:
            x = _copied(graph, x, d, factor)
    x = graph.materialized(x)
    if max(factors) > 1:
        x = _weighted(graph, x, factors)
    for d in (0, 1):
        if input.shape[1 + d] == 1:
            x = gather.emit(graph, x, [torch.zeros(output_size[d])], [1 + d])
    return x


def _weighted(graph: TosaGraph, x: TosaValue, factors: Sequence[int]) -> TosaValue:
    """Return the weighted means of windows over copies."""
    rows, columns = (_taps(factor) for factor in factors)
    scale = scale_of(sum(rows) * sum(columns))
    assert scale is not None
    weight = torch.tensor(rows)[:, None] * torch.tensor(columns) * scale[0]
    channels = x.shape[3]
    spread = weight[:, :, None, None].expand(-1, -1, channels, 1)
    sums = graph.depthwise_conv2d(x, spread, [0] * channels, 0)
    return requantized(graph, sums, *scale[1:], 0)


def _copied(graph: TosaGraph, x: TosaValue, d: int, factor: int) -> TosaValue:
    """Return the rows or columns with the copies that the windows need.

    The first and the last one are also copied past the edges.
    """
    size = list(x.shape)
    line, last = list(size), [0] * 4
    line[1 + d], last[1 + d] = 1, size[1 + d] - 1
    edges = graph.slice(x, [0] * 4, line), graph.slice(x, last, line)
    x = graph.concat([edges[0], x, edges[1]], 1 + d)
    copies = torch.arange(x.shape[1 + d]).repeat_interleave(factor)
    x = gather.emit(graph, graph.materialized(x), [copies], [1 + d])
    more = factor // 2  # on either side
    start, size = [0] * 4, list(x.shape)
    start[1 + d] = factor - more
    size[1 + d] -= 2 * start[1 + d]
    return graph.slice(x, start, size)


def _factors(shape: Sequence[int], output_size: Sequence[int]) -> list[int]:
    """Return the factors along rows and columns; 1 for an axis that is only copied."""
    return [max(1, output_size[d] // shape[1 + d]) if shape[1 + d] > 1 else 1 for d in (0, 1)]


EMITTER = Emitter(emit, reject, not_int16="its weighted means are rounded away from 0")
