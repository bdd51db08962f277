# SPDX-License-Identifier: Apache-2.0
"""pl::max_pool2d: NHWC."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.signature import Activation, Pair, Sides


def _infer(input: torch.Tensor, output_size: Sequence[int]) -> Inferred:
    n, _h, _w, c = input.shape
    return (n, *output_size, c), input.dtype


@define(infer=_infer, shares_quantization=True, spatial=True)
def max_pool2d(
    input: Activation,
    kernel: Pair,
    stride: Pair,
    padding: Sides,
    dilation: Pair,
    output_size: Pair,
) -> torch.Tensor:
    """Return the maximum of each window over the taps inside the input. TFLite's MAX_POOL_2D.

    input int8 or int16 [N, H, W, C]; padding is (top, bottom, left, right); result of the input's
    dtype [N, *output_size, C]. Windows may reach past the padded input (ceil_mode gives a larger
    output_size). Each has at least one tap inside.
    """
    n, h, w, c = input.shape
    out = torch.empty((n, *output_size, c), dtype=input.dtype)
    for y in range(output_size[0]):
        rows = [y * stride[0] - padding[0] + k * dilation[0] for k in range(kernel[0])]
        rows = [r for r in rows if 0 <= r < h]
        for x in range(output_size[1]):
            columns = [x * stride[1] - padding[2] + k * dilation[1] for k in range(kernel[1])]
            columns = [q for q in columns if 0 <= q < w]
            out[:, y, x] = input[:, rows][:, :, columns].amax(dim=(1, 2))
    return out
