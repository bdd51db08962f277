# SPDX-License-Identifier: Apache-2.0
"""pl::lstm, pl::gru and pl::rnn: one layer in one direction over a whole sequence.

Common arguments (aot/dialect/recurrence.py has the arithmetic):

  input: int8 or int16 [T, N, I], or [N, T, I] if batch_first.
  hidden: int16 [N, H], the state before the first step, of the scale 2^-hidden_bits.
  weight, hidden_weight: int8 [G * H, I] and [G * H, H], rows in torch's gate order.
  bias: int32 [G * H], of the sums of weight; if both parts are only added, of both.
  multiplier, shift, hidden_multiplier, hidden_shift: int32 [G * H], of the
    requantization of the sums to FRACTION_BITS.
  table: int16 [385], gate_table().
  output_multiplier, output_shift, output_zero_point: from a hidden state to an
    output.
  reverse: the sequence is processed from its end; results stay in the input's order.

The results are the hidden states, [T, N, H] or [N, T, H] of the input's dtype, and the state after
the last step, int16 like the first one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

from aot.dialect.arithmetic import rounding_shift_right
from aot.dialect.library import Inferred, define
from aot.dialect.recurrence import (
    Constants,
    centred_sigmoid,
    part,
    run,
    saturate_int16,
    sigmoid,
    tanh,
    to_state,
)
from aot.dialect.signature import Activation, Int8, Int16, Int32
from aot.dialect.transposes import Perm, TransposedValue, Transposes

NO_CELL_LIMIT = 2**15
"""The limit of a cell's state that int16 has already."""


def _infer(states: int) -> Callable[..., list[Inferred]]:
    def infer(input: torch.Tensor, hidden: torch.Tensor) -> list[Inferred]:
        state = tuple(hidden.shape), torch.int16
        return [((*input.shape[:2], hidden.shape[1]), input.dtype), *[state] * states]

    return infer


def _macs(gates: int) -> Callable[..., int]:
    def macs(input: torch.Tensor, hidden: torch.Tensor) -> int:
        size = hidden.shape[1]
        return math.prod(input.shape[:2]) * gates * size * (input.shape[2] + size)

    return macs


def _move(values: Mapping[str, Any], perm: Perm) -> TransposedValue | None:
    """Exchange steps and sequences."""
    if perm != [1, 0, 2]:
        return None
    return TransposedValue({"batch_first": not values["batch_first"]}, perm)


_TRANSPOSES = Transposes(("input",), _move)


def _without_bias(weight: torch.Tensor, multiplier: torch.Tensor, shift: torch.Tensor) -> Constants:
    return weight, torch.zeros_like(multiplier), multiplier, shift


@define(infer=_infer(2), transposes=_TRANSPOSES, macs=_macs(4))
def lstm(
    input: Activation,
    hidden: Int16,
    cell: Int16,
    weight: Int8,
    bias: Int32,
    multiplier: Int32,
    shift: Int32,
    hidden_weight: Int8,
    hidden_multiplier: Int32,
    hidden_shift: Int32,
    table: Int16,
    input_zero_point: int,
    hidden_bits: int,
    cell_bits: int,
    cell_limit: int,
    output_multiplier: int,
    output_shift: int,
    output_zero_point: int,
    reverse: bool,
    batch_first: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute an LSTM with gates i, f, g, o. The cell's state, int16 with scale 2^-cell_bits, is
    the second and third result.

    It is clipped to [-cell_limit, cell_limit], of at most NO_CELL_LIMIT.

    c = f * c + i * g and h = o * tanh(c), each rounded once.
    """
    inner = weight, bias, multiplier, shift
    outer = _without_bias(hidden_weight, hidden_multiplier, hidden_shift)
    c = cell.to(torch.int64)

    size = hidden.shape[1]

    def step(a: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        nonlocal c
        gates = a + part(h, outer)
        i, f = sigmoid(gates[:, : 2 * size], table).chunk(2, 1)
        g, o = tanh(gates[:, 2 * size : 3 * size], table), sigmoid(gates[:, 3 * size :], table)
        kept, new = (f * c) >> 1, (i * g) >> (16 - cell_bits)
        c = rounding_shift_right(kept + new, 15)
        c = saturate_int16(c.clamp(-cell_limit, cell_limit))
        return to_state(o * centred_sigmoid(c << (15 - cell_bits), table), 31, hidden_bits)

    output = output_multiplier, output_shift, output_zero_point
    y, h = run(input, input_zero_point, inner, hidden, step, output, reverse, batch_first)
    return y, h, c.to(torch.int16)


@define(infer=_infer(1), transposes=_TRANSPOSES, macs=_macs(3))
def gru(
    input: Activation,
    hidden: Int16,
    weight: Int8,
    bias: Int32,
    multiplier: Int32,
    shift: Int32,
    hidden_weight: Int8,
    hidden_bias: Int32,
    hidden_multiplier: Int32,
    hidden_shift: Int32,
    table: Int16,
    input_zero_point: int,
    hidden_bits: int,
    output_multiplier: int,
    output_shift: int,
    output_zero_point: int,
    reverse: bool,
    batch_first: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return one GRU layer; the gates are r, z, n.

    hidden_bias is int32 [H], of n's sums of hidden_weight. n = tanh(a + r * b), of its two parts,
    and h = n + z * (h - n).
    """
    size = hidden.shape[1]
    inner = weight, bias, multiplier, shift
    outer_bias = torch.nn.functional.pad(hidden_bias, (2 * size, 0))
    outer = hidden_weight, outer_bias, hidden_multiplier, hidden_shift

    def step(a: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        b = part(h, outer)
        r, z = sigmoid((a + b)[:, : 2 * size], table).chunk(2, 1)
        n = tanh(a[:, 2 * size :] + ((r * b[:, 2 * size :] + 2**15) >> 16), table)
        change = (z * ((h << (15 - hidden_bits)) - n) + 2**15) >> 16
        return to_state(n + change, 15, hidden_bits)

    output = output_multiplier, output_shift, output_zero_point
    return run(input, input_zero_point, inner, hidden, step, output, reverse, batch_first)


@define(infer=_infer(1), transposes=_TRANSPOSES, macs=_macs(1))
def rnn(
    input: Activation,
    hidden: Int16,
    weight: Int8,
    bias: Int32,
    multiplier: Int32,
    shift: Int32,
    hidden_weight: Int8,
    hidden_multiplier: Int32,
    hidden_shift: Int32,
    table: Int16,
    input_zero_point: int,
    hidden_bits: int,
    relu: bool,
    output_multiplier: int,
    output_shift: int,
    output_zero_point: int,
    reverse: bool,
    batch_first: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return one RNN layer: h = tanh(a + b) of the two parts, or relu(a + b)."""
    inner = weight, bias, multiplier, shift
    outer = _without_bias(hidden_weight, hidden_multiplier, hidden_shift)

    def step(a: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        sums = a + part(h, outer)
        return to_state(2 * sums.clamp(min=0) if relu else tanh(sums, table), 15, hidden_bits)

    output = output_multiplier, output_shift, output_zero_point
    return run(input, input_zero_point, inner, hidden, step, output, reverse, batch_first)
