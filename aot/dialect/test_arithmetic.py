# SPDX-License-Identifier: Apache-2.0
"""The dialect's integer arithmetic against TFLite's specification, written again on Python
integers.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from aot.dialect.arithmetic import (
    INT32_MAX,
    INT32_MIN,
    divide_round_half_away,
    exact_conv2d,
    exact_depthwise_conv2d,
    quantize_mean,
    quantize_multiplier,
    requantize,
    rounding_shift_right,
    saturate_int8,
)

INT32 = st.integers(INT32_MIN, INT32_MAX)


def round_half_away(value: Fraction) -> int:
    return int(math.copysign(math.floor(abs(value) + Fraction(1, 2)), value))


def gemmlowp_requantize(x: int, multiplier: int, shift: int) -> int:
    """MultiplyByQuantizedMultiplier as gemmlowp writes it: truncating division with a nudge, then a
    rounding shift.
    """
    x = max(INT32_MIN, min(INT32_MAX, x << max(shift, 0)))
    if x == multiplier == INT32_MIN:
        high = INT32_MAX
    else:
        product = x * multiplier
        nudge = (1 << 30) if product >= 0 else 1 - (1 << 30)
        high = int(Fraction(product + nudge, 1 << 31))  # int() truncates towards zero, as C does
    return round_half_away(Fraction(high, 1 << max(-shift, 0)))


@settings(max_examples=500, deadline=None)
@given(INT32, st.integers(INT32_MIN, INT32_MAX), st.integers(-31, 30))
def test_requantize_is_gemmlowps(x: int, multiplier: int, shift: int) -> None:
    result = int(requantize(torch.tensor(x), multiplier, shift))
    assert result == gemmlowp_requantize(x, multiplier, shift)


@pytest.mark.parametrize(
    ("x", "multiplier", "shift", "expected"),
    [
        (INT32_MIN, INT32_MIN, 0, INT32_MAX),  # the only saturating product
        (INT32_MAX, 2**30, 30, 2**30),  # a saturating left shift
        (INT32_MIN, 2**30, 30, -(2**30)),
        (1, 2**30, 0, 1),  # 0.5 rounds up
        (-1, 2**30, 0, 0),  # -0.5 rounds up too: the high multiply's ties go to +infinity
        (6, 2**30, -1, 2),  # 3 / 2 = 1.5: the shift's ties go away from zero
        (-6, 2**30, -1, -2),
        (1000, 0, 0, 0),
    ],
)
def test_requantize_corners(x: int, multiplier: int, shift: int, expected: int) -> None:
    assert int(requantize(torch.tensor(x), multiplier, shift)) == expected


@settings(max_examples=300, deadline=None)
@given(st.integers(-(2**62), 2**62), st.integers(0, 61))
def test_shift_rounds_half_away(x: int, bits: int) -> None:
    magnitude = (2 * abs(x) + (1 << bits)) >> (bits + 1)
    expected = magnitude if x >= 0 else -magnitude
    assert int(rounding_shift_right(torch.tensor(x), bits)) == expected
    assert rounding_shift_right(torch.tensor(x), torch.tensor([bits, 0])).tolist() == [expected, x]


@settings(max_examples=300, deadline=None)
@given(st.floats(2.0**-31, 2.0**29), st.booleans())
def test_quantize_multiplier_represents_the_value(value: float, negative: bool) -> None:
    value = -value if negative else value
    multiplier, shift = quantize_multiplier(value)
    assert 2**30 <= abs(multiplier) < 2**31
    assert -31 <= shift <= 30
    assert math.ldexp(multiplier, shift - 31) == pytest.approx(value, rel=2**-30)


def test_quantize_multiplier_limits() -> None:
    assert quantize_multiplier(0.0) == (0, 0)
    assert quantize_multiplier(2.0**-40) == (0, 0)
    assert quantize_multiplier(1.0 - 2.0**-40) == (2**30, 1)  # the fraction rounds up to 2^31
    for value in (math.inf, math.nan, 2.0**31):
        with pytest.raises(ValueError, match="requantization factor"):
            quantize_multiplier(value)


@settings(max_examples=300, deadline=None)
@given(st.integers(-(2**40), 2**40), st.integers(1, 2**20))
def test_division_rounds_half_away(numerator: int, denominator: int) -> None:
    result = int(divide_round_half_away(torch.tensor(numerator), torch.tensor(denominator)))
    assert result == round_half_away(Fraction(numerator, denominator))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 2), st.sampled_from([1, 2]))
def test_convolution_in_float64_is_exact(seed: int, kernel: int, stride: int, groups: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(-255, 256, (1, 4, 6, 5), generator=generator)
    w = torch.randint(-128, 128, (6, 4 // groups, kernel, kernel), generator=generator)
    actual = exact_conv2d(x, w, (stride, stride), (1, 1), groups)
    patches = x.unfold(2, kernel, stride).unfold(3, kernel, stride)  # N, C, OH, OW, KH, KW
    per_group = patches.reshape(1, groups, 4 // groups, *patches.shape[2:])
    weights = w.reshape(groups, 6 // groups, 4 // groups, kernel, kernel)
    expected = torch.einsum("ngchwkl,gockl->ngohw", per_group, weights).flatten(1, 2)
    assert torch.equal(actual, expected)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.tuples(st.integers(1, 2), st.integers(1, 2)),
    st.sampled_from([255, 2**16 - 1]),
)
def test_depthwise_convolution_is_one_of_groups(
    seed: int,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
    largest: int,
) -> None:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(-largest, largest + 1, (2, 7, 6, 5), generator=generator)
    w = torch.randint(-128, 128, (*kernel, 5), generator=generator)
    grouped = exact_conv2d(
        x.permute(0, 3, 1, 2), w.permute(2, 0, 1)[:, None], stride, dilation, groups=5
    )
    actual = exact_depthwise_conv2d(x, w, stride, dilation, largest)
    assert torch.equal(actual, grouped.permute(0, 2, 3, 1))


# (input scale, output scale, output zero_point, count, sum of x - zero_point, result): int8 MEAN as
# the interpreter of TensorFlow Lite for Microcontrollers computed it. In each the multiplier of
# input_scale / (output_scale * count) gives another result.
MEANS = [
    (0.06, 0.042, -108, 15, 46, -103),
    (0.092, 0.023, 65, 11, 155, 121),
    (0.038, 0.009, -101, 52, 239, -81),
    (0.104, 0.052, -37, 43, -1300, -98),
    (0.098, 0.049, 63, 15, 302, 104),
    (0.176, 0.053, -6, 58, 1405, 75),
    (0.164, 0.115, 29, 28, -598, -2),
    (0.094, 0.047, 120, 45, -5365, -119),
    (0.077, 0.054, -115, 7, 306, -52),
    (0.052, 0.013, -62, 18, 528, 56),
]


@pytest.mark.parametrize(("scale", "output", "zero_point", "count", "total", "result"), MEANS)
def test_mean_is_tflites(
    scale: float, output: float, zero_point: int, count: int, total: int, result: int
) -> None:
    wide = torch.tensor([scale, output], dtype=torch.float32).to(torch.float64)
    factor = quantize_mean(float(wide[0] / wide[1]), count)
    value = requantize(torch.tensor(total), *factor) + zero_point
    assert int(saturate_int8(value)) == result


@given(st.floats(2.0**-28, 2.0**20), st.integers(1, 2**22), st.integers(-(2**30), 2**30))
def test_mean_of_any_count(value: float, count: int, total: int) -> None:
    """The factor is valid for the kernel, and close to the real one."""
    multiplier, shift = quantize_mean(value, count)
    assert 0 <= multiplier < 2**31 and -31 <= shift <= 30
    real = Fraction(value) / count
    if shift > -31:
        assert abs(Fraction(multiplier, 2**31) * Fraction(2) ** shift - real) <= real / 2**28
