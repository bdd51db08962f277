# SPDX-License-Identifier: Apache-2.0
"""Nearest upsampling, pl::gather with equal repeats, in three forms.

- By 2 in both directions: a 1x1 CONV2D gives each pixel twice, and a CONCAT along the width has
  two of them. [rows, copy, columns, copy, channels] is the result's order in memory.
- Any repeats: CONCAT along the last dimension of a matrix, with no rows as a batch.
- By 2 on U85: RESIZE.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
import tosa_serializer as ts

from aot.backends.ethos_u.block import INT8, TosaValue
from aot.backends.ethos_u.emitters.gather import repeats
from aot.backends.ethos_u.equal_forms.moves import moved
from aot.backends.ethos_u.equal_forms.row import U85, EqualForm
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu

_MOST_CHANNELS = 128


def _counts(
    input: torch.Tensor | TosaValue, indices: Sequence[torch.Tensor], dims: Sequence[int]
) -> list[int]:
    return [repeats(i, input.shape[d]) for i, d in zip(indices, dims, strict=True)]


def _is_doubled(
    npu: Npu, input: torch.Tensor, indices: Sequence[torch.Tensor], dims: Sequence[int]
) -> bool:
    return (
        list(dims) == [1, 2]
        and len(input.shape) == 4
        and input.dtype is torch.int8
        and _counts(input, indices, dims) == [2, 2]
    )


def _is_one_image(npu: Npu, input: torch.Tensor, **rest: Sequence[int]) -> bool:
    return (
        input.shape[0] == 1
        and input.shape[-1] <= _MOST_CHANNELS
        and _is_doubled(npu, input, **rest)  # type: ignore[arg-type]
    )


def _is_repeated(
    npu: Npu, input: torch.Tensor, indices: Sequence[torch.Tensor], dims: Sequence[int]
) -> bool:
    counts = _counts(input, indices, dims)
    return min(counts) >= 1 and max(counts) > 1


def _by_convolution(
    graph: TosaGraph, input: TosaValue, indices: Sequence[torch.Tensor], dims: Sequence[int]
) -> TosaValue:
    n, height, width, channels = input.shape
    twice = np.tile(np.eye(channels), (2, 1))[:, None, None, :]
    rows = [moved(graph, input, twice) for _ in range(2)]
    return graph.reshape(graph.concat(rows, 2), (n, 2 * height, 2 * width, channels))


def _by_columns(
    graph: TosaGraph, input: TosaValue, indices: Sequence[torch.Tensor], dims: Sequence[int]
) -> TosaValue:
    x = input
    for count, dim in zip(_counts(input, indices, dims), dims, strict=True):
        if count > 1:
            size = list(x.shape)
            rows = 1, 1, math.prod(size[: dim + 1]), math.prod(size[dim + 1 :])
            copies = graph.concat([graph.reshape(x, rows)] * count, 3)
            x = graph.reshape(copies, (*size[:dim], count * size[dim], *size[dim + 1 :]))
    return x


def _by_resize(
    graph: TosaGraph, input: TosaValue, indices: Sequence[torch.Tensor], dims: Sequence[int]
) -> TosaValue:
    return graph.resize(input, ts.ResizeMode.NEAREST, (4, 2, 4, 2), (-1, -1), (1, 1), INT8)


FORMS = (
    EqualForm("nearest_by_resize", ("gather",), _is_doubled, _by_resize, (U85,)),
    EqualForm("nearest_by_convolution", ("gather",), _is_one_image, _by_convolution),
    EqualForm("repeats_by_columns", ("gather",), _is_repeated, _by_columns),
)
