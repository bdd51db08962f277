# SPDX-License-Identifier: Apache-2.0
"""Bilinear upsampling by 2, pl::resize_bilinear, in two forms.

- The even rows of the result are a DEPTHWISE_CONV2D over [x, x] with windows of 2x3, and so are the
  odd ones. One half of the channels gives even columns, the other one odd columns. A CONCAT along
  the width joins the rows in place.
- On U85: RESIZE to int16 sums of 32 parts, and a DEPTHWISE_CONV2D of 1x1 for their mean. A RESCALE
  of the RESIZE loses the direction of its rounding in Vela 5.1.0, or takes six times the cycles.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import tosa_serializer as ts

from aot.backends.ethos_u.block import INT8, INT16, INT32, TosaValue
from aot.backends.ethos_u.emitters.rescaling import ONE, requantized
from aot.backends.ethos_u.emitters.resize_bilinear import scale_of
from aot.backends.ethos_u.equal_forms.row import U85, EqualForm
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu

_PARTS = 16  # of a pixel, in the weights of a window
_RESIZE = (4, 2, 8, 4), (-1, -2), (1, 2)  # to sums of 32 parts
_PART = (1 << 14) + 1, 19
"""Multiplier and shift for the mean of 32 parts, the least above 1/32: ties go away from 0."""

_WEIGHTS = ((1, 3, 0), (0, 3, 1))  # of three columns, for even and odd columns


def _matches(npu: Npu, input: torch.Tensor, output_size: Sequence[int], **_: object) -> bool:
    n, height, width, _channels = input.shape
    return n == 1 and min(height, width) > 1 and list(output_size) == [2 * height, 2 * width]


def _scale() -> tuple[int, int, int]:
    scale = scale_of(_PARTS)
    assert scale is not None
    return scale


def _emit(
    graph: TosaGraph,
    input: TosaValue,
    output_size: Sequence[int],
    step: Sequence[int],
    offset: Sequence[int],
    unit: Sequence[int],
) -> TosaValue:
    n, height, width, channels = input.shape
    factor, multiplier, shift = _scale()
    x = _with_edges(graph, input)
    x = graph.concat([x, x], 3)
    columns = np.repeat(np.array(_WEIGHTS), channels, axis=0).T  # [3, 2 * channels]
    parts = []
    for parity, rows in enumerate(((1, 3), (3, 1))):
        size = n, height + 1, width + 2, 2 * channels
        own = graph.slice(x, [0, parity, 0, 0], size)
        weight = factor * np.array(rows)[:, None, None] * columns
        sums = graph.depthwise_conv2d(own, weight[..., None], np.zeros(2 * channels), 0)
        parts.append(requantized(graph, sums, multiplier, shift, 0))
    return graph.reshape(graph.concat(parts, 2), (n, *output_size, channels))


def _with_edges(graph: TosaGraph, x: TosaValue) -> TosaValue:
    """Return x with its first and last row and column doubled."""
    for d in (1, 2):
        line, last = list(x.shape), [0] * 4
        line[d], last[d] = 1, x.shape[d] - 1
        x = graph.concat([graph.slice(x, [0] * 4, line), x, graph.slice(x, last, line)], d)
    return x


def _by_resize(
    graph: TosaGraph,
    input: TosaValue,
    output_size: Sequence[int],
    step: Sequence[int],
    offset: Sequence[int],
    unit: Sequence[int],
) -> TosaValue:
    channels = input.shape[3]
    parts = graph.resize(input, ts.ResizeMode.BILINEAR, *_RESIZE, INT32)
    narrow = graph.rescale(parts, *ONE, INT16)
    sums = graph.depthwise_conv2d(narrow, np.ones((1, 1, channels, 1)), np.zeros(channels), 0)
    return graph.rescale(sums, *_PART, INT8)


FORMS = (
    EqualForm("bilinear_by_resize", ("resize_bilinear",), _matches, _by_resize, (U85,)),
    EqualForm("bilinear_by_parity", ("resize_bilinear",), _matches, _emit),
)
