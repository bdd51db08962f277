# SPDX-License-Identifier: Apache-2.0
"""Proofs of integer identities that lowering and kernels rely on, for all values."""

from __future__ import annotations

import pytest

from tests.proofs.formulas import Bits, counterexample
from tests.proofs.specification import half_away


@pytest.mark.parametrize("right", range(32))
def test_two_roundings_are_one_shift(right: int) -> None:
    """requantize of aot/dialect/arithmetic.py shifts once; the specification rounds twice."""
    product = Bits.variable("product", 64)
    given = [product >= -(1 << 62), product <= 1 << 62]
    rounded = product + (1 << 30)
    away = (rounded >> 63) << 31 if right else Bits.of(0, 64)
    once = (rounded + away + ((1 << right) >> 1 << 31)) >> (right + 31)
    twice = half_away(rounded >> 31, right)
    assert counterexample(once.equals(twice), given, [product]) is None


def test_a_zero_point_folds_into_the_bias() -> None:
    """fold_zero_point of kernels/common/gemm.py, modulo 2^32: sums need not fit on the way."""
    bias, zero_point, *taps = [Bits.variable(name) for name in ("b", "z", "x0", "x1", "w0", "w1")]
    x0, x1, w0, w1 = taps
    apart = bias + (x0 - zero_point) * w0 + (x1 - zero_point) * w1
    folded = (bias - zero_point * (w0 + w1)) + x0 * w0 + x1 * w1
    assert counterexample(apart.equals(folded), [], [bias, zero_point, *taps]) is None


def test_the_upper_half_of_a_pair_and_its_carry_are_two_products() -> None:
    """TWO_TAPS of gemm_taps_s8: ASRS by 16 and its carry, from a product modulo 2^32.

    The product of x0 + 2^16 * x1 and w1 + 2^16 * w0 has x0 * w1 below the sum of x0 * w0 and
    x1 * w1. The solver finds the exception, too: both products are 128 * 128.
    """
    products = x0w0, x1w1, x0w1 = [Bits.variable(name) for name in ("x0w0", "x1w1", "x0w1")]
    given = [condition for p in products for condition in (p >= -127 * 128, p <= 128 * 128)]
    total = x0w0 + x1w1
    word = x0w1 + (total << 16)
    carried = (word >> 16) + word.part(15, 1).unsigned(32)
    is_less = total < 1 << 15
    assert counterexample(carried.equals(total), [*given, is_less], products) is None
    found = counterexample(carried.equals(total), given, products)
    assert found is not None and found[:2] == [128 * 128] * 2
