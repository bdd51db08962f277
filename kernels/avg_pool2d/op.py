# SPDX-License-Identifier: Apache-2.0
"""pl::avg_pool2d: NHWC, with torch's rules for the window's count."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.arithmetic import divide_round_half_away, saturate
from aot.dialect.library import Inferred, define
from aot.dialect.quantization import ACTIVATION_TYPES
from aot.dialect.signature import Activation, Pair, Sides


def _infer(input: torch.Tensor, output_size: Sequence[int]) -> Inferred:
    n, _h, _w, c = input.shape
    return (n, *output_size, c), input.dtype


@define(
    infer=_infer,
    zero_points={"zero_point": "input"},
    shares_quantization=True,
    averages=True,
    spatial=True,
)
def avg_pool2d(
    input: Activation,
    kernel: Pair,
    stride: Pair,
    padding: Sides,
    output_size: Pair,
    count_include_pad: bool,
    divisor_override: int,
    zero_point: int,
) -> torch.Tensor:
    """Return saturate((sum over inside taps of (x - zero_point) + count * zero_point) / count).

    Ties round away from zero. count is divisor_override if positive. Otherwise it is the number of
    the window's taps inside the input, plus the padding if count_include_pad. A window may reach
    past the padded input (ceil_mode); those taps never count. Without padding and override this is
    TFLite's AVERAGE_POOL_2D.

    input int8 or int16 [N, H, W, C]; padding (top, bottom, left, right); result of its dtype [N,
    *output_size, C].
    """
    n, h, w, c = input.shape
    kind = ACTIVATION_TYPES[input.dtype]
    out = torch.empty((n, *output_size, c), dtype=kind.dtype)
    for y in range(output_size[0]):
        top = y * stride[0] - padding[0]
        bottom = min(top + kernel[0], h + padding[1])
        rows = slice(max(top, 0), min(bottom, h))
        for x in range(output_size[1]):
            left = x * stride[1] - padding[2]
            right = min(left + kernel[1], w + padding[3])
            columns = slice(max(left, 0), min(right, w))
            window = input[:, rows, columns].to(torch.int64)
            taps = window.shape[1] * window.shape[2]
            count = (bottom - top) * (right - left) if count_include_pad else taps
            count = divisor_override if divisor_override > 0 else count
            acc = window.sum(dim=(1, 2)) + (count - taps) * zero_point
            average = divide_round_half_away(acc, torch.tensor(count))
            out[:, y, x] = saturate(average, kind.quant_min, kind.quant_max, kind.dtype)
    return out
