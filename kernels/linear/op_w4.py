# SPDX-License-Identifier: Apache-2.0
"""pl::linear_w4: pl::linear with four-bit weights, two per byte."""

from __future__ import annotations

import math

import torch

from aot.dialect.arithmetic import requantize, saturate_int8
from aot.dialect.library import Inferred, define
from aot.dialect.signature import Int8, Int32
from aot.dialect.transposes import Transposes
from kernels.linear.op import move_rows


def _infer(input: torch.Tensor, weight: torch.Tensor) -> Inferred:
    return (*input.shape[:-1], weight.shape[0]), torch.int8


def _macs(input: torch.Tensor, weight: torch.Tensor) -> int:
    return math.prod(input.shape) * weight.shape[0]


def packed(weight: torch.Tensor) -> torch.Tensor:
    """Return weights [O, K] in [-8, 7], int8, in the format of pl::linear_w4."""
    pairs = torch.nn.functional.pad(weight, (0, weight.shape[1] % 2)).unflatten(1, (-1, 2))
    bytes_: torch.Tensor = (pairs[..., 0] & 15) | (pairs[..., 1] << 4)
    return bytes_


def unpacked(weight: torch.Tensor, depth: int) -> torch.Tensor:
    """Return the weights [O, depth] of packed ones."""
    pairs = torch.stack([(weight << 4) >> 4, weight >> 4], -1)
    rows: torch.Tensor = pairs.flatten(1)[:, :depth]
    return rows


@define(infer=_infer, macs=_macs, transposes=Transposes(("input",), move_rows))
def linear_w4(
    input: Int8,
    weight: Int8,
    group_scale: Int8,
    bias: Int32,
    multiplier: Int32,
    shift: Int32,
    group: int,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> torch.Tensor:
    """Return pl::linear with the weights w[o, k] * group_scale[o, k / group].

    - input: int8 [..., K]; result int8 [..., O].
    - weight: int8 [O, ceil(K / 2)]. Byte b of a row holds w[2 b] in its low half and w[2
      b + 1] in its high half.
    - group_scale: int8 [O, ceil(K / group)], positive. group is even, or K at least.
    - bias, multiplier, shift: int32 [O].
    """
    depth = input.shape[-1]
    scale = group_scale.to(torch.float64).repeat_interleave(group, 1)[:, :depth]
    x = (input.to(torch.int64) - input_zero_point).to(torch.float64)
    acc = (x @ (unpacked(weight, depth).to(torch.float64) * scale).T).to(torch.int64) + bias.to(
        torch.int64
    )
    out = requantize(acc, multiplier, shift) + output_zero_point
    return saturate_int8(out, activation_min, activation_max)
