# SPDX-License-Identifier: Apache-2.0
"""Integer arithmetic of the recurrent ops: pl::lstm, pl::gru, pl::rnn.

Each op runs one layer in one direction over a sequence. The state between two steps is int16 with
the scale 2^-bits. Changes below an int8 step are therefore kept. A pre-activation is the sum of two
parts, of the input and of the hidden state. Each part is a row of int8 weights times values,
requantized to FRACTION_BITS. Sigmoid and tanh use one table. Numbers with the suffix q15 or q16 are
real numbers times 2^15 or 2^16.

Against exact functions of the same pre-activation, the error of sigmoid is at most 2.5e-5, of tanh
at most 5e-5. This is a hundredth of the error of an int8 hidden state in [-1, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from aot.dialect.arithmetic import requantize, rounding_shift_right, saturate
from aot.dialect.quantization import ACTIVATION_TYPES

FRACTION_BITS = 14
"""Fraction bits of a pre-activation."""

STATE_BITS = 15
"""The most fraction bits of a state."""

_INDEX_BITS = 5  # a table has so many entries for each 1.0, as a power of two
_REACH = 12  # sigmoid of more is sigmoid of this
_STEP_BITS = FRACTION_BITS - _INDEX_BITS
_PART_LIMIT = 2**28

Constants = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
"""Weight int8 [G * H, K]; bias, multiplier and shift int32 [G * H]."""


def gate_table() -> torch.Tensor:
    """Return int16 [385]: entry k is sigmoid(k / 32) - 1/2 as q16, at most 32767."""
    entries = [
        min(32767, round(2**16 * (1.0 / (1.0 + math.exp(-k / 2**_INDEX_BITS)) - 0.5)))
        for k in range((_REACH << _INDEX_BITS) + 1)
    ]
    return torch.tensor(entries, dtype=torch.int16)


def centred_sigmoid(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Return sigmoid(x) - 1/2 as q16 of an x with FRACTION_BITS; this is also tanh(x / 2) as q15.

    The table is interpolated linearly, odd in x.
    """
    entries = table.to(torch.int64)
    magnitude = x.abs().clamp(max=(_REACH << FRACTION_BITS) - 1)
    index, fraction = magnitude >> _STEP_BITS, magnitude & ((1 << _STEP_BITS) - 1)
    rise = (entries[index + 1] - entries[index]) * fraction
    value = entries[index] + ((rise + (1 << (_STEP_BITS - 1))) >> _STEP_BITS)
    return torch.where(x < 0, -value, value)


def sigmoid(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Return the sigmoid as q16, in [1, 65535], of an x with FRACTION_BITS."""
    return centred_sigmoid(x, table) + 2**15


def tanh(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Return tanh as q15, in [-32767, 32767], of an x with FRACTION_BITS."""
    return centred_sigmoid(2 * x, table)


def saturate_int16(x: torch.Tensor) -> torch.Tensor:
    return x.clamp(-(2**15), 2**15 - 1)


def to_state(x: torch.Tensor, fraction_bits: int, bits: int) -> torch.Tensor:
    """Return a number with fraction_bits as a state with bits, at most as many."""
    return saturate_int16(rounding_shift_right(x, fraction_bits - bits))


def part(x: torch.Tensor, constants: Constants) -> torch.Tensor:
    """Return clamp(requantize(bias + sum_k x[k] * weight[o, k]), -2^28, 2^28).

    This is a part of the pre-activations, int64 [..., G * H] with FRACTION_BITS, of x int64 [...,
    K].
    """
    weight, bias, multiplier, shift = constants
    products = (x.to(torch.float64) @ weight.to(torch.float64).T).to(torch.int64)
    sums = products + bias.to(torch.int64)
    return requantize(sums, multiplier, shift).clamp(-_PART_LIMIT, _PART_LIMIT)


def run(
    input: torch.Tensor,
    zero_point: int,
    constants: Constants,
    hidden: torch.Tensor,
    step: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    output: Sequence[int],
    reverse: bool,
    batch_first: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Step through a sequence, from its end if it is reversed.

    Args:
      input: int8 or int16 [T, N, I], or [N, T, I] if batch_first.
      zero_point: of the input.
      constants: of the input's part of the pre-activations.
      hidden: the first state, int16 [N, H].
      step: gives the next hidden state from (the input's part [N, G * H], the hidden
        state), on int64.
      output: multiplier, shift and zero_point from a hidden state to an output.
      reverse: the sequence starts with its last value.
      batch_first: see input.

    Returns:
      ([T, N, H] of the input's dtype and in its order, the last hidden state int16 [N,
        H])
    """
    sequence = (input.transpose(0, 1) if batch_first else input).to(torch.int64)
    sequence = part(sequence - zero_point, constants)
    h = hidden.to(torch.int64)
    steps = list(sequence.flip(0) if reverse else sequence)
    states = [h := step(a, h) for a in steps]
    multiplier, shift, output_zero_point = output
    results = torch.stack(states[::-1] if reverse else states)
    kind = ACTIVATION_TYPES[input.dtype]
    y = requantize(results, multiplier, shift) + output_zero_point
    y = saturate(y, kind.quant_min, kind.quant_max, kind.dtype)
    y = y.transpose(0, 1) if batch_first else y
    return y.clone(memory_format=torch.contiguous_format), h.to(torch.int16)
