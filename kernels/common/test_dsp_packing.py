# SPDX-License-Identifier: Apache-2.0
"""Packing for the DSP extension: the limits of exact arithmetic, and the packed values."""

import numpy as np
import pytest

from kernels.common.gemm_pairs import Pairs
from kernels.common.kernel import AnyArray
from kernels.common.quantization import halving_shifts


def _pairs(
    weight: list[list[int]], bias: int = 0, multiplier: int = 2**30, shift: int = -7
) -> Pairs | None:
    matrix = np.array(weight, np.int8)
    channels = len(weight)

    def vector(value: int) -> AnyArray:
        return np.full(channels, value, np.int64)

    by_runs = matrix.reshape(channels, 1, -1)
    return Pairs.of(by_runs, vector(bias), vector(multiplier), vector(shift), groups=1)


@pytest.mark.parametrize(
    ("arguments", "wide"),
    [
        ({"weight": [[127, -127], [127, -128]]}, False),
        ({"weight": [[-128, 1], [0, 1]]}, False),
        ({"weight": [[-128, 1], [-1, 1]]}, True),  # 256 * -128 - 1 is not in 16 bits
        ({"weight": [[1], [1]], "bias": 2**23 - 129}, False),
        ({"weight": [[1], [1]], "bias": 2**23 - 128}, True),
        ({"weight": [[1], [1]], "bias": 2**30 - 129}, True),
        ({"weight": [[1], [1]], "bias": 2**30 - 128}, None),
        ({"weight": [[1], [1]], "shift": -20}, False),
        ({"weight": [[1], [1]], "shift": -21}, None),
        ({"weight": [[1], [1]], "shift": 0}, None),
        ({"weight": [[1], [1]], "shift": 0, "multiplier": 0}, False),
    ],
)
def test_pairs(arguments: dict[str, object], wide: bool | None) -> None:
    pairs = _pairs(**arguments)  # type: ignore[arg-type]
    assert (pairs.wide if pairs is not None else None) == wide


def test_the_second_of_a_pair_may_reach_further() -> None:
    bias = np.array([0, 2**29])
    one = np.ones((2, 1, 1), np.int8)
    for values, wide in ((bias, False), (bias[::-1], True)):
        pairs = Pairs.of(one, values, np.full(2, 2**30), np.full(2, -7), groups=1)
        assert pairs is not None
        assert pairs.wide == wide


@pytest.mark.parametrize("runs", [1, 2, 3])
@pytest.mark.parametrize("count", range(1, 18))
def test_packed_weights_multiply(count: int, runs: int) -> None:
    """The sums of steps as gemm_pairs_s8.h widens inputs are those of the values."""
    random = np.random.default_rng(count)
    weight = random.integers(-127, 128, (2, runs, count))
    x = random.integers(-128, 128, (runs, count))
    pairs = Pairs.of(
        weight.astype(np.int8), np.zeros(2), np.full(2, 2**30), np.full(2, -7), groups=1
    )
    assert pairs is not None
    packed = pairs.constants()["weight"].array.view(np.int16).reshape(pairs.steps, 2)
    steps: list[tuple[int, int]] = []
    for run in x.tolist():
        for at in range(0, count - 3, 4):
            steps += [(run[at], run[at + 2]), (run[at + 1], run[at + 3])]
    for run in x.tolist():
        twos = run[count // 4 * 4 : count // 2 * 2]
        steps += zip(twos[0::2], twos[1::2], strict=True)
    lasts = [*x[:, -1].tolist(), 99][: runs + runs % 2] * (count % 2)
    steps += zip(lasts[0::2], lasts[1::2], strict=True)
    total = int((packed[: len(steps)].astype(np.int64) * steps).sum())
    first, second = (int((weight[i] * x).sum()) for i in range(2))
    assert total == 256 * first + second
    assert len(packed) - len(steps) in (0, 1)


@pytest.mark.parametrize(
    ("multiplier", "shift", "right"),
    [
        ([2**30, 2**30], [-1, -20], [0, 19]),
        ([2**30, 2**30], [-1, -21], None),
        ([2**30, 2**30], [-1, 0], None),
        ([2**30, 0], [-1, 5], [0, 0]),
    ],
)
def test_halving_shifts(multiplier: list[int], shift: list[int], right: list[int] | None) -> None:
    found = halving_shifts(np.array(multiplier), np.array(shift))
    assert (None if found is None else found.tolist()) == right


@pytest.mark.parametrize("bias", [5, 2**29])
def test_a_channel_alone(bias: int) -> None:
    """Without a partner: its weights as they are, and its start; others as ever."""
    pairs = _pairs([[1, -2, 3, 4], [5, 6, 7, -8], [9, -10, 11, -128]], bias)
    assert pairs is not None
    assert pairs.wide == (bias > 5)
    first, alone = pairs.constants(alone=True)["weight"].array.view(np.int16).reshape(2, -1)
    assert alone.tolist() == [9, 11, -10, -128]
    assert np.array_equal(first, pairs.constants()["weight"].array.view(np.int16)[:4])
    factors = pairs.constants(alone=True)["bias"].array.reshape(2, -1)
    assert factors[1].tolist()[:4] == [bias, 0, 2**30, 6]
    assert np.array_equal(factors[0], pairs.constants()["bias"].array[:6])
