# SPDX-License-Identifier: Apache-2.0
"""pl::linear: fully connected layer over the last dimension, per-channel weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from aot.dialect.arithmetic import requantize_sums, saturate
from aot.dialect.library import Inferred, define
from aot.dialect.signature import Activation, Int8, Int32
from aot.dialect.transposes import Perm, TransposedValue, Transposes


def _infer(input: torch.Tensor, weight: torch.Tensor) -> Inferred:
    return (*input.shape[:-1], weight.shape[0]), input.dtype


def _macs(input: torch.Tensor, weight: torch.Tensor) -> int:
    return math.prod(input.shape) * weight.shape[0]


def move_rows(_: Mapping[str, Any], perm: Perm) -> TransposedValue | None:
    """Move transposes through a linear layer, which needs its last dimension in place."""
    return TransposedValue({}, perm) if perm[-1] == len(perm) - 1 else None


@define(infer=_infer, macs=_macs, transposes=Transposes(("input",), move_rows))
def linear(
    input: Activation,
    weight: Int8,
    bias: Int32,
    multiplier: Int32,
    shift: Int32,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> torch.Tensor:
    """Return clamp(requantize(bias + sum_k (x[k] - input_zero_point) * w[o, k], multiplier[o],
    shift[o]) + output_zero_point), with arithmetic.requantize_sums.

    input int8 or int16 [..., K]; weight int8 [O, K]; bias, multiplier, shift int32 [O]; result of
    the input's dtype [..., O]. For int8 this is TFLite's FULLY_CONNECTED, with per-channel scales.
    """
    x = (input.to(torch.int64) - input_zero_point).to(torch.float64)
    acc = (x @ weight.to(torch.float64).T).to(torch.int64) + bias.to(torch.int64)
    out = requantize_sums(acc, multiplier, shift, input.dtype) + output_zero_point
    return saturate(out, activation_min, activation_max, input.dtype)
