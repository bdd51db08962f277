# SPDX-License-Identifier: Apache-2.0
"""pl::normalize against float64: the error is within the bound of its docstring, hence nearly
always below one step.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aot.dialect.arithmetic import bit_length
from kernels.normalize.op import MAX_COUNT, constants, normalize, rsqrt

ROWS = 3


def random_rows(count: int, seed: int) -> torch.Tensor:
    """Return int8 [ROWS, count]: rows of very different spread and mean."""
    generator = torch.Generator().manual_seed(seed)
    spread = torch.tensor([1.0, 12.0, 60.0]).reshape(ROWS, 1)
    place = torch.randint(-60, 60, (ROWS, 1), generator=generator)
    rows = torch.randn((ROWS, count), generator=generator) * spread + place
    return rows.round().clamp(-128, 127).to(torch.int8)


INPUTS: dict[str, Callable[[int, int], torch.Tensor]] = {
    "random": random_rows,
    "constant": lambda count, seed: torch.full((ROWS, count), seed % 256 - 128).to(torch.int8),
    "saturated": lambda count, seed: torch.where(random_rows(count, seed) > 0, 127, -128).to(
        torch.int8
    ),
    "one outlier": lambda count, seed: (
        torch.where(torch.arange(count) == 0, 127, -128).expand(ROWS, count).to(torch.int8)
    ),
    "one step": lambda count, seed: (
        torch.where(torch.arange(count) == 0, 6, 5).expand(ROWS, count).to(torch.int8)
    ),
}


def normalized(
    q: torch.Tensor,
    centered: bool,
    zero_point: int,
    epsilon: float,
    floor: float = 0.0,
    addend: float = 0.0,
) -> torch.Tensor:
    """Return the normalized values before weight and bias, in float64."""
    x = q.to(torch.float64) - zero_point
    x = x - x.mean(1, keepdim=True) if centered else x
    root = ((x * x).mean(1, keepdim=True) + epsilon).sqrt().clamp(min=floor) + addend
    return torch.where(root > 0, x / root, 0.0)


@pytest.mark.parametrize("kind", INPUTS)
@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**31),
    st.integers(1, 70) | st.sampled_from([768, 4096]),
    st.booleans(),
    st.sampled_from([0.0, 1e-8, 1e-3, 1.0, 300.0, 1e6, 1e15]),
    st.tuples(*[st.sampled_from([-128, 127, 0, 31])] * 2),
)
@example(1, 65536, True, 1e-3, (31, 0))
@example(2, MAX_COUNT, False, 1e-3, (-128, 127))
def test_nearly_always_the_nearest_step(
    kind: str, seed: int, count: int, centered: bool, epsilon: float, points: tuple[int, int]
) -> None:
    q = INPUTS[kind](count, seed)
    generator = torch.Generator().manual_seed(seed)
    t = normalized(q, centered, points[0], epsilon)
    gain = torch.randn(count, generator=generator, dtype=torch.float64)
    gain *= 100 / (float((t * gain).abs().max()) or 100)
    offset = 30 * torch.randn(count, generator=generator, dtype=torch.float64)
    weight, bias, *numbers = constants(count, centered, epsilon, gain, offset)
    limits = (points[0], points[1], -128, 127)
    actual = normalize.reference(q, weight, bias, [ROWS, 1], centered, *numbers, *limits)
    exact = t * gain + offset + points[1]
    error = (actual.to(torch.float64) - exact.clamp(-128, 127)).abs()
    bound = 0.5 + 2.0**-21 * (t * gain).abs() + 2.0 ** (1 - numbers[-1])
    assert bool((error <= bound).all())
    # A gain may be this large if only values near zero have it. It leaves fewer bits.
    if float(gain.abs().max()) < 2**15:
        assert float(bound.max()) < 0.51


@pytest.mark.parametrize("kind", INPUTS)
@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**31),
    st.sampled_from([1, 2, 7, 64, 768, 4096]),
    st.booleans(),
    st.sampled_from([0.0, 1e-3, 300.0]),
    st.sampled_from([0.0, 0.3, 10.0, 200.0, 1e9]),
    st.sampled_from([0.0, 0.02, 0.3, 10.0, 200.0, 1e9]),
)
@example(1, MAX_COUNT, True, 0.0, 0.3, 0.1)
def test_bounds_of_the_root(
    kind: str, seed: int, count: int, centered: bool, epsilon: float, floor: float, addend: float
) -> None:
    q = INPUTS[kind](count, seed)
    t = normalized(q, centered, 3, epsilon, floor, addend)
    gain = torch.full((1,), 100 / (float(t.abs().max()) or 100), dtype=torch.float64)
    weight, bias, *numbers = constants(
        count, centered, epsilon, gain, torch.zeros_like(gain), 255, floor, addend
    )
    limits = (3, 0, -128, 127)
    actual = normalize.reference(q, weight, bias, [ROWS, 1], centered, *numbers, *limits)
    # Rows with one step in many values have a small root: as an integer, it has few bits.
    bound = 0.501 + 2.0**-13 * (t * gain).abs() if addend else 0.501
    assert bool(((actual - t * gain).abs() <= bound).all())


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 2**62 - 1))
def test_the_error_of_the_root(x: int) -> None:
    root, shift = rsqrt(torch.tensor([x]))
    assert 0 <= int(shift) <= 30 and int(root) < 2**31
    exact = 2.0 ** (61 - int(shift)) / math.sqrt(x)
    assert abs(int(root) / exact - 1) < 2**-23


@pytest.mark.parametrize("x", [0, 1, 2, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**62 - 1, 2**63 - 1])
def test_bit_length(x: int) -> None:
    assert int(bit_length(torch.tensor([x]))) == x.bit_length()


def test_parts_of_neither_variance_nor_epsilon_give_the_bias() -> None:
    q = torch.tensor([[-128, -128], [127, 127]], dtype=torch.int8)
    gain, offset = torch.ones(2, dtype=torch.float64), torch.tensor([5.0, -7.0])
    weight, bias, *numbers = constants(2, True, 0.0, gain, offset)
    out = normalize.reference(q, weight, bias, [2, 1], True, *numbers, 0, 1, -128, 127)
    assert out.tolist() == [[6, -6], [6, -6]]
