# SPDX-License-Identifier: Apache-2.0
"""pl::pad: constant padding."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.dialect.library import define


def _infer(
    input: torch.Tensor, padding: Sequence[int], value: int
) -> tuple[tuple[int, ...], torch.dtype]:
    shape = [s + padding[2 * d] + padding[2 * d + 1] for d, s in enumerate(input.shape)]
    return tuple(shape), input.dtype


@define(
    "Tensor input, int[] padding, int value",
    infer=_infer,
    dtypes={"input": (torch.int8,)},
    shares_quantization=True,
)
def pad(input: torch.Tensor, padding: Sequence[int], value: int) -> torch.Tensor:
    """padding holds (before, after) of each dimension in order, none negative; value is a quantized
    int8 value.
    """
    pairs = [(padding[2 * d], padding[2 * d + 1]) for d in range(input.dim())]
    flat = [p for pair in reversed(pairs) for p in pair]
    return torch.nn.functional.pad(input, flat, value=value)
