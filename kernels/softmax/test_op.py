# SPDX-License-Identifier: Apache-2.0
"""pl::softmax and pl::log_softmax against torch's float functions of the dequantized input."""

from __future__ import annotations

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from aot.dialect.quantization import INT16, Quantization
from kernels.log_softmax.op import log2_q16, log_constants, log_softmax
from kernels.reduce.op_logsumexp import logsumexp
from kernels.softmax.op import WIDE_STEPS, exponential_table, softmax, wide_exponential_table

SCALES = st.floats(1e-3, 2.0)
ROWS = st.integers(1, 1200)
STEPS = st.one_of(st.just(256), st.integers(257, 2**18))


def random_rows(seed: int, length: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-128, 128, (4, length), generator=generator).to(torch.int8)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**31), SCALES, ROWS, STEPS)
def test_softmax_is_correctly_rounded(seed: int, scale: float, length: int, steps: int) -> None:
    q = random_rows(seed, length)
    table, bits = exponential_table(scale, length, steps)
    actual = softmax.reference(q, table, 1, steps).to(torch.float64) + 128
    exact = torch.softmax(q.to(torch.float64) * scale, dim=1) * steps
    # Half a step, plus the effect of the table's rounding (2^-bits per term) on the quotient.
    slack = steps * (length + 1) * 2.0 ** -(bits + 1)
    assert bool(((actual - exact.clamp(max=255)).abs() <= 0.5 + slack).all())


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**31), st.floats(1e-6, 0.1), ROWS)
def test_softmax_of_int16_is_rounded_once(seed: int, scale: float, length: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    q = torch.randint(-(2**15), 2**15, (4, length), generator=generator).to(torch.int16)
    table = wide_exponential_table(scale)
    actual = softmax.reference(q, table, 1, WIDE_STEPS).to(torch.float64)
    exact = torch.softmax(q.to(torch.float64) * scale, dim=1) * WIDE_STEPS
    # Each exponential is off by 2^-30 at most.
    slack = 2.0**-13 + length * WIDE_STEPS * 2.0**-30
    assert bool(((actual - exact.clamp(max=WIDE_STEPS - 1)).abs() <= 0.5 + slack).all())


@settings(max_examples=150, deadline=None)
@given(SCALES, ROWS, STEPS)
def test_softmax_sums_fit_uint32(scale: float, length: int, steps: int) -> None:
    table, bits = exponential_table(scale, length, steps)
    assert int(table.max()) == 2**bits
    assert length * 2**bits < 2**32
    assert steps * 2**bits + length * 2**bits // 2 < 2**32


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**31), SCALES, st.integers(2, 1200), st.floats(0.02, 0.5))
def test_log_softmax_within_one_step(seed: int, scale: float, length: int, step: float) -> None:
    q = random_rows(seed, length)
    of, result = Quantization(scale, 0), Quantization(step, 127)
    table, bits, factors = log_constants(of, result, length)
    actual = log_softmax.reference(q, table, 1, bits, *factors, 127)
    exact = torch.log_softmax(q.to(torch.float64) * scale, dim=1) / step + 127
    slack = 0.01 + length * 2.0 ** -(bits + 1) / step
    assert bool(((actual - exact.clamp(-128, 127)).abs() <= 0.5 + slack).all())


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**31), st.floats(1e-7, 0.1), st.integers(1, 1200), st.floats(1e-5, 0.1))
def test_logarithms_of_int16_within_one_step(
    seed: int, scale: float, length: int, step: float
) -> None:
    """The rows lie anywhere in int16's range, wide and narrow; the only inexact part is log2 in
    Q16.
    """
    generator = torch.Generator().manual_seed(seed)
    spread = torch.randint(1, 2**16, (4, 1), generator=generator)
    low = torch.randint(-(2**15), 2**15, (4, 1), generator=generator)
    drawn = torch.randint(0, 2**16, (4, length), generator=generator) % spread
    q = (low + drawn).clamp(max=2**15 - 1).to(torch.int16)
    of, result = Quantization(scale, 0, INT16), Quantization(step, 0, INT16)
    table, bits, factors = log_constants(of, result, length)
    slack = 0.5 + 2.0**-8 + 3e-5 / step
    for exact, actual in (
        (torch.log_softmax, log_softmax.reference(q, table, 1, bits, *factors, 0)),
        (torch.logsumexp, logsumexp.reference(q, table, [1], False, 0, bits, *factors, 0)),
    ):
        expected = (exact(q.to(torch.float64) * scale, 1) / step).clamp(-(2**15), 2**15 - 1)
        assert bool(((actual - expected).abs() <= slack).all())


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 2**32 - 1))
def test_logarithm_error(x: int) -> None:
    assert abs(int(log2_q16(torch.tensor(x))) / 65536 - math.log2(x)) < 3e-5
