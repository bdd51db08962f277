# SPDX-License-Identifier: Apache-2.0
"""pl::adaptive_avg_pool2d: NHWC, windows like torch's adaptive pooling."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.arithmetic import divide_round_half_away
from aot.dialect.library import Inferred, define
from aot.dialect.signature import Activation, Pair
from kernels.adaptive_max_pool2d.op import adaptive_window


def _infer(input: torch.Tensor, output_size: Sequence[int]) -> Inferred:
    n, _h, _w, c = input.shape
    return (n, *output_size, c), input.dtype


@define(infer=_infer, shares_quantization=True, averages=True, spatial=True)
def adaptive_avg_pool2d(input: Activation, output_size: Pair) -> torch.Tensor:
    """Return the mean of each window, ties away from zero.

    input int8 or int16 [N, H, W, C] -> its dtype [N, *output_size, C].
    """
    n, h, w, c = input.shape
    out = torch.empty((n, *output_size, c), dtype=input.dtype)
    for y in range(output_size[0]):
        top, bottom = adaptive_window(y, h, output_size[0])
        for x in range(output_size[1]):
            left, right = adaptive_window(x, w, output_size[1])
            acc = input[:, top:bottom, left:right].to(torch.int64).sum(dim=(1, 2))
            count = torch.tensor((bottom - top) * (right - left))
            out[:, y, x] = divide_round_half_away(acc, count).to(input.dtype)
    return out
