# SPDX-License-Identifier: Apache-2.0
"""pl::ethos_u_log_softmax and pl::ethos_u_logsumexp: exponentials by a 16-bit table, and the
logarithm of their sum by another table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from aot.backends.ethos_u.block import INT8, INT16, INT32
from aot.backends.ethos_u.ops.bits import leading_bits, number, zeros_of
from aot.backends.ethos_u.ops.exponentials import (
    INDEX_SCALE,
    TOP,
    ExponentialRows,
    entries_of,
    index_of,
)
from aot.backends.ethos_u.steps import IntegerSteps, T, TosaSteps, scale32
from aot.dialect.library import Inferred, define, reduced_shape
from aot.dialect.signature import Int8, Int32

GUARD_BITS = 6
"""Guard bits of the two terms of log_softmax, below the output's step."""

_ONE = scale32(1.0)
_LEAST_GUARD_BITS = 8  # of a logarithm
_MOST_GUARD_BITS = 18
_TABLE_BITS = 7  # extra bits of an entry after the lookup
_ENTRIES = np.maximum(np.arange(-256, 257), 128)
_LOGS = np.log2(_ENTRIES / 128.0)
"""log2(t / 2^14) at t = 128 * entry, for t from 2^14 up."""


@dataclass(frozen=True)
class Factors:
    """Factors of pl::log_softmax as real numbers: output steps of an input step, and of a power of
    two.
    """

    value: float
    log: float

    @property
    def guard(self) -> int:
        """Return the bits of logarithms below the output's step.

        The limits are the table's precision, and the input's share of 32 bits. The number may be
        too small.
        """
        table = math.log2(TOP / self.log) + _TABLE_BITS
        share = 30 - math.log2(256 * max(self.value, 1.0))
        return min(_MOST_GUARD_BITS, math.floor(min(table, share)))

    @property
    def problem(self) -> str:
        if self.guard >= _LEAST_GUARD_BITS:
            return ""
        return "a step of its result is so small that it takes more than 32 bits"


def factors_of(
    input_multiplier: int, input_shift: int, log_multiplier: int, log_shift: int
) -> Factors:
    """Return the factors of int8: for differences << 20, logarithms of 16 fraction bits, and 10
    guard bits.
    """
    value, log = (
        multiplier / 2.0**31 * 2.0**shift / 2.0**10
        for multiplier, shift in ((input_multiplier, input_shift), (log_multiplier, log_shift))
    )
    return Factors(value * 2.0**20, log * 2.0**16)


def logarithm(steps: TosaSteps[T], total: T, factors: Factors) -> T:
    """Return the logarithm of sums of exponentials, in output steps with `factors.guard` bits."""
    one = factors.log * 2.0**factors.guard
    zeros = zeros_of(steps, total)
    table = np.round(_LOGS * one / 2**_TABLE_BITS)
    mantissa = steps.table(leading_bits(steps, total, zeros), table)
    # total = t * 2^(16 - zeros), and TOP is an exponential of 1.
    least = number(steps, round((30 - math.log2(TOP)) * one))
    exponent = steps.sub(least, steps.mul(zeros, number(steps, round(one))))
    return steps.add(mantissa, exponent)


def log_softmax_steps(
    steps: TosaSteps[T],
    x: T,
    table: torch.Tensor,
    dim: int,
    factors: Factors,
    zero_point: int,
    in_one: bool = False,
) -> T:
    """Return the output, int8: d * factors.value minus the logarithm of the sum of exp(d), d = x -
    max.

    Both terms have GUARD_BITS. They saturate beyond the output's range. The difference is rounded
    again.
    """
    order = [*(d for d in range(len(x.shape)) if d != dim), dim]
    moved = steps.transpose(x, order) if dim != len(x.shape) - 1 else x
    rows = ExponentialRows.of(moved.shape, in_one)
    q = steps.reshape(moved, (*rows.laid, rows.length))
    largest = steps.rescale(rows.largest(steps, q), *_ONE, INT32)
    index = index_of(steps, q, largest)
    _, total = rows.exponentials(steps, index, entries_of(table))
    log = logarithm(steps, total, factors)
    log = steps.rescale(log, *scale32(2.0 ** (GUARD_BITS - factors.guard)), INT16)
    log = steps.reshape(log, (*rows.laid, 1))
    value = factors.value * 2.0**GUARD_BITS / INDEX_SCALE
    scaled = steps.rescale(steps.rescale(index, *scale32(value), INT16), *_ONE, INT32)
    out = steps.sub(scaled, steps.rescale(log, *_ONE, INT32))
    y = steps.rescale(out, *scale32(2.0**-GUARD_BITS), INT8, output_zero_point=zero_point)
    y = steps.reshape(y, moved.shape)
    return steps.transpose(y, np.argsort(order).tolist()) if moved is not x else y


def logsumexp_steps(
    steps: TosaSteps[T],
    x: T,
    table: torch.Tensor,
    dim: Sequence[int],
    factors: Factors,
    input_zero_point: int,
    zero_point: int,
) -> T:
    """Return the output, int8 [1, 1, 1, rows].

    It is (max - input_zero_point) * factors.value plus the logarithm of the sum of exp(x - max).
    The sum is computed in 32 bits and rounded once.
    """
    order = [*(d for d in range(len(x.shape)) if d not in dim), *sorted(dim)]
    moved = steps.transpose(x, order) if order != sorted(order) else x
    kept = moved.shape[: len(order) - len(dim)]
    rows = ExponentialRows.of((*kept, math.prod(moved.shape[len(kept) :])))
    q = steps.reshape(moved, (*rows.laid, rows.length))
    top = rows.largest(steps, q)
    largest = steps.rescale(top, *_ONE, INT32)
    _, total = rows.exponentials(steps, index_of(steps, q, largest), entries_of(table))
    log = logarithm(steps, total, factors)
    flat = steps.reshape(top, (1, 1, 1, rows.count))
    above = steps.rescale(flat, *_ONE, INT32, input_zero_point=input_zero_point)
    value = round(factors.value * 2.0**factors.guard)
    out = steps.add(steps.mul(above, number(steps, value)), log)
    return steps.rescale(out, *scale32(2.0**-factors.guard), INT8, output_zero_point=zero_point)


@define()
def ethos_u_log_softmax(
    input: Int8,
    exp_table: Int32,
    dim: int,
    fraction_bits: int,
    input_multiplier: int,
    input_shift: int,
    log_multiplier: int,
    log_shift: int,
    output_zero_point: int,
) -> torch.Tensor:
    """Compute `log_softmax_steps` with arguments and result of pl::log_softmax, for int8."""
    factors = factors_of(input_multiplier, input_shift, log_multiplier, log_shift)
    y = log_softmax_steps(IntegerSteps(), input, exp_table, dim, factors, output_zero_point)
    return y.contiguous()


def _infer_sums(input: torch.Tensor, dim: Sequence[int], keepdim: bool) -> Inferred:
    return reduced_shape(input.shape, dim, keepdim), torch.int8


@define(infer=_infer_sums)
def ethos_u_logsumexp(
    input: Int8,
    exp_table: Int32,
    dim: Sequence[int],
    keepdim: bool,
    input_zero_point: int,
    fraction_bits: int,
    input_multiplier: int,
    input_shift: int,
    log_multiplier: int,
    log_shift: int,
    output_zero_point: int,
) -> torch.Tensor:
    """Compute `logsumexp_steps` with arguments and result of pl::logsumexp, for int8."""
    factors = factors_of(input_multiplier, input_shift, log_multiplier, log_shift)
    zero_points = input_zero_point, output_zero_point
    y = logsumexp_steps(IntegerSteps(), input, exp_table, dim, factors, *zero_points)
    return y.reshape(reduced_shape(input.shape, dim, keepdim)).contiguous()
