# SPDX-License-Identifier: Apache-2.0
"""pl::gather: CONCAT of copies if each element is repeated, like nearest upsampling. Otherwise
CONCAT of SLICEs covering the indices, if there are few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.tosa import TosaGraph

_MOST_SLICES = 16


def repeats(index: torch.Tensor, size: int) -> int:
    """Return the number of consecutive repeats of each of `size` elements; 0 if there is no such
    number.
    """
    count, rest = divmod(len(index), size)
    whole = torch.arange(size).repeat_interleave(count)
    return count if rest == 0 and torch.equal(whole, index.to(torch.int64)) else 0


def _ranges(index: torch.Tensor) -> list[tuple[int, int]]:
    """Return the first element and the length of each run of consecutive indices."""
    ranges: list[tuple[int, int]] = []
    for element in index.tolist():
        if ranges and element == sum(ranges[-1]):
            ranges[-1] = ranges[-1][0], ranges[-1][1] + 1
        else:
            ranges.append((element, 1))
    return ranges


def reject(input: torch.Tensor, indices: Sequence[torch.Tensor], dims: Sequence[int]) -> str:
    for index, dim in zip(indices, dims, strict=True):
        if not repeats(index, input.shape[dim]) and len(_ranges(index)) > _MOST_SLICES:
            return f"its indices are {len(_ranges(index))} slices, of at most {_MOST_SLICES}"
    return ""


def emit(
    graph: TosaGraph, input: TosaValue, indices: Sequence[torch.Tensor], dims: Sequence[int]
) -> TosaValue:
    x = input
    for index, dim in zip(indices, dims, strict=True):
        size = list(x.shape)
        if count := repeats(index, size[dim]):
            columns = (math.prod(size[:dim]), size[dim], 1, math.prod(size[dim + 1 :]))
            copies = [graph.reshape(x, columns)] * count
            x = graph.concat(copies, 2) if count > 1 else copies[0]
        else:
            parts = []
            for first, number in _ranges(index):
                start, part = [0] * len(size), list(size)
                start[dim], part[dim] = first, number
                parts.append(graph.slice(x, start, part))
            x = graph.concat(parts, dim) if len(parts) > 1 else parts[0]
        x = graph.reshape(x, (*size[:dim], len(index), *size[dim + 1 :]))
    return x


EMITTER = Emitter(emit, reject, moves=True)
