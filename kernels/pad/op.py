# SPDX-License-Identifier: Apache-2.0
"""pl::pad: constant padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.signature import Activation
from aot.dialect.transposes import Perm, TransposedValue, Transposes, inverse


def _infer(input: torch.Tensor, padding: Sequence[int]) -> Inferred:
    shape = [s + padding[2 * d] + padding[2 * d + 1] for d, s in enumerate(input.shape)]
    return tuple(shape), input.dtype


def _move(values: Mapping[str, Any], perm: Perm) -> TransposedValue:
    padding = values["padding"]
    return TransposedValue(
        {"padding": [padding[2 * d + k] for d in inverse(perm) for k in (0, 1)]}, perm
    )


@define(infer=_infer, shares_quantization=True, transposes=Transposes(("input",), _move))
def pad(input: Activation, padding: Sequence[int], value: int) -> torch.Tensor:
    """Return the input with constant padding.

    padding holds (before, after) of each dimension in order, none negative. value has the input's
    dtype; for int16 it is 0.
    """
    pairs = [(padding[2 * d], padding[2 * d + 1]) for d in range(input.dim())]
    flat = [p for pair in reversed(pairs) for p in pair]
    return torch.nn.functional.pad(input, flat, value=value)
