# SPDX-License-Identifier: Apache-2.0
"""pl::adaptive_max_pool2d: NHWC, windows like torch's adaptive pooling."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.signature import Activation, Pair


def adaptive_window(index: int, size: int, output_size: int) -> tuple[int, int]:
    """Return the first tap of window `index` and one past the last: floor(i*size/out) and
    ceil((i+1)*size/out).
    """
    return index * size // output_size, -(-(index + 1) * size // output_size)


def _infer(input: torch.Tensor, output_size: Sequence[int]) -> Inferred:
    n, _h, _w, c = input.shape
    return (n, *output_size, c), input.dtype


@define(infer=_infer, shares_quantization=True, spatial=True)
def adaptive_max_pool2d(input: Activation, output_size: Pair) -> torch.Tensor:
    """Return the maximum of each window.

    input int8 or int16 [N, H, W, C] -> its dtype [N, *output_size, C].
    """
    n, h, w, c = input.shape
    out = torch.empty((n, *output_size, c), dtype=input.dtype)
    for y in range(output_size[0]):
        top, bottom = adaptive_window(y, h, output_size[0])
        for x in range(output_size[1]):
            left, right = adaptive_window(x, w, output_size[1])
            out[:, y, x] = input[:, top:bottom, left:right].amax(dim=(1, 2))
    return out
