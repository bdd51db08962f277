# SPDX-License-Identifier: Apache-2.0
"""pl::mean: int8 mean over dimensions, requantized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from aot.dialect.arithmetic import requantize, saturate_int8
from aot.dialect.library import define
from aot.dialect.transposes import Moved, Perm, Transposes, reduced


def _infer(
    input: torch.Tensor, dim: Sequence[int], keepdim: bool, *_: int
) -> tuple[tuple[int, ...], torch.dtype]:
    shape = [
        1 if d in dim else size for d, size in enumerate(input.shape) if keepdim or d not in dim
    ]
    return tuple(shape), torch.int8


def _move(values: Mapping[str, Any], perm: Perm) -> Moved:
    dims = sorted(perm[d] for d in values["dim"])
    return Moved({"dim": dims}, reduced(perm, values["dim"], values["keepdim"]))


@define(
    "Tensor input, int[] dim, bool keepdim, int input_zero_point, int output_zero_point, int "
    "multiplier, int shift",
    infer=_infer,
    dtypes={"input": (torch.int8,)},
    zero_points={"input_zero_point": "input", "output_zero_point": "output"},
    transposes=Transposes(("input",), _move),
)
def mean(
    input: torch.Tensor,
    dim: Sequence[int],
    keepdim: bool,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> torch.Tensor:
    """saturate(requantize(sum (x - input_zero_point), multiplier, shift) + output_zero_point).
    TFLite int8 MEAN.

    dim are not negative; multiplier and shift hold input_scale / (output_scale * count), as
    arithmetic.quantize_mean splits it.
    """
    acc = (input.to(torch.int64) - input_zero_point).sum(dim=list(dim), keepdim=keepdim)
    return saturate_int8(requantize(acc, multiplier, shift) + output_zero_point)
