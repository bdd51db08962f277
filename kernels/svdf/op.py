# SPDX-License-Identifier: Apache-2.0
"""pl::svdf: filters of rank one over a stream of frames, with a state of int16."""

from __future__ import annotations

import torch

from aot.dialect.arithmetic import requantize, saturate
from aot.dialect.library import Inferred, define
from aot.dialect.quantization import INT8, INT16
from aot.dialect.signature import Int8, Int16, Int32


def _infer(input: torch.Tensor, state: torch.Tensor, bias: torch.Tensor) -> list[Inferred]:
    return [
        ((input.shape[0], bias.shape[0]), torch.int8),
        (tuple(state.shape), torch.int16),
    ]


def _macs(input: torch.Tensor, state: torch.Tensor, weight: torch.Tensor) -> int:
    filters, size = weight.shape
    return input.shape[0] * filters * (size + state.shape[2] + 1)


@define(infer=_infer, macs=_macs)
def svdf(
    input: Int8,
    state: Int16,
    weight: Int8,
    state_multiplier: int,
    state_shift: int,
    time: Int16,
    bias: Int32,
    multiplier: int,
    shift: int,
    input_zero_point: int,
    output_zero_point: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return TFLite's SVDF with int8 values and a state of int16.

    Filter f computes one number per frame: saturate_int16(requantize(sum_i (input[i] -
    input_zero_point) * weight[f, i], state_*)). It weights this number and those of the M - 1
    earlier frames with time[f]. A unit adds its consecutive filters and its bias, and requantizes.
    These sums wrap around at 32 bits, like TFLite's.

    Args:
      input: int8 [N, I], a frame.
      state: int16 [N, F, M - 1], zero points 0, of the earlier frames, the oldest first.
      weight: int8 [F, I].
      state_multiplier: with state_shift, input_scale * weight_scale / state_scale.
      state_shift: see there.
      time: int16 [F, M].
      bias: int32 [U]; F is a multiple of U.
      multiplier: with shift, state_scale * time_scale / output_scale.
      shift: see there.
      input_zero_point: of the input.
      output_zero_point: of the result.

    Returns:
      (int8 [N, U], the state for the next frame)
    """
    x = (input.to(torch.int64) - input_zero_point).to(torch.float64)
    sums = (x @ weight.to(torch.float64).T).to(torch.int64)
    wide = requantize(sums, state_multiplier, state_shift)
    column = saturate(wide, INT16.quant_min, INT16.quant_max, torch.int16)
    window = torch.cat([state, column[:, :, None]], 2)
    by_filter = (window.to(torch.int64) * time.to(torch.int64)).sum(2)
    units = bias.shape[0]
    total = by_filter.reshape(len(input), units, -1).sum(2) + bias.to(torch.int64)
    wrapped = ((total + 2**31) & (2**32 - 1)) - 2**31
    out = requantize(wrapped, multiplier, shift) + output_zero_point
    y = saturate(out, INT8.quant_min, INT8.quant_max, torch.int8)
    return y, window[:, :, 1:].clone(memory_format=torch.contiguous_format)
