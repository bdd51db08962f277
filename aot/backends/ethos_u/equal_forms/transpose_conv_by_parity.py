# SPDX-License-Identifier: Apache-2.0
"""pl::transpose_conv2d with stride 2: a CONV2D for the even rows, one for the odd rows.

Each gives even and odd columns as channels. [rows, parity, columns, parity, channels] is the
result's order in memory, so a CONCAT along the width joins both in place. No MAC has a zero of the
upsampled input.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.conv2d import dense
from aot.backends.ethos_u.emitters.rescaling import requantized
from aot.backends.ethos_u.emitters.windows import fitted
from aot.backends.ethos_u.equal_forms.row import EqualForm
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu


def _taps(kernel: int, padding: int, parity: int) -> dict[int, int]:
    """Return the kernel's index for each distance of an input, for results of a parity."""
    distances = ((parity + padding - tap, tap) for tap in range(kernel))
    return {distance // 2: tap for distance, tap in distances if distance % 2 == 0}


def _reach(taps: Sequence[dict[int, int]]) -> tuple[int, int]:
    """Return the first and the last distance, 0 among them."""
    every = [0, *(distance for each in taps for distance in each)]
    return min(every), max(every)


def _matches(npu: Npu, input: torch.Tensor, stride: Sequence[int], **_: object) -> bool:
    return list(stride) == [2, 2] and input.dtype is torch.int8


def _emit(
    graph: TosaGraph,
    input: TosaValue,
    weight: torch.Tensor,
    bias: torch.Tensor,
    multiplier: torch.Tensor,
    shift: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_size: Sequence[int],
    groups: int,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> TosaValue:
    weights = dense(weight, groups)
    outputs, height, width, channels = weights.shape
    rows, columns = (-(-size // 2) for size in output_size)
    x_taps = [_taps(width, padding[1], parity) for parity in (0, 1)]
    left, right = _reach(x_taps)
    parts = []
    for parity in (0, 1):
        y_taps = _taps(height, padding[0], parity)
        top, bottom = _reach([y_taps])
        kernel = bottom - top + 1, right - left + 1
        own = torch.zeros(2, outputs, *kernel, channels, dtype=weights.dtype)
        for dy, i in y_taps.items():
            for j in (0, 1):
                for dx, k in x_taps[j].items():
                    own[j, :, dy - top, dx - left] = weights[:, i, k]
        pads = -top, bottom, -left, right
        layout = (1, 1), pads, (1, 1), (rows, columns)
        x, fitting, _ = fitted(graph, input, kernel, *layout)
        biases, multipliers, shifts = (v.repeat(2) for v in (bias, multiplier, shift))
        sums = graph.conv2d(x, own.flatten(0, 1), biases, input_zero_point, (1, 1), fitting)
        scale, limits = (multipliers, shifts), (activation_min, activation_max)
        parts.append(requantized(graph, sums, *scale, output_zero_point, *limits))
    y = graph.reshape(graph.concat(parts, 2), (input.shape[0], 2 * rows, 2 * columns, outputs))
    return graph.slice(y, [0] * 4, (input.shape[0], *output_size, outputs))


FORM = EqualForm("transpose_conv_by_parity", ("transpose_conv2d",), _matches, _emit)
