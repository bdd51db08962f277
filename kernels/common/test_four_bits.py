# SPDX-License-Identifier: Apache-2.0
"""Packing of four-bit weights: the supported cases of the fast forms, and the packed values."""

import numpy as np
import pytest

from kernels.common.four_bits import FourBits
from kernels.common.kernel import AnyArray


def _four_bits(
    depth: int,
    group: int,
    channels: int = 5,
    reach: int = 1,
    multiplier: int = 2**30,
    shift: int = -7,
    scale: AnyArray | None = None,
) -> FourBits:
    random = np.random.default_rng(depth)

    def vector(value: int) -> AnyArray:
        return np.full(channels, value, np.int64)

    weight = random.integers(-8, 8, (channels, depth)).astype(np.int8)
    if scale is None:
        scale = random.integers(1, 128, (channels, -(-depth // group))).astype(np.int8)
    factors = vector(multiplier), vector(shift)
    return FourBits(weight, scale, min(group, depth), vector(3), vector(reach), *factors)


def _sums(of: FourBits, x: AnyArray) -> AnyArray:
    scale = np.repeat(of.scale.astype(np.int64), of.group, axis=1)[:, : len(x)]
    sums: AnyArray = (of.weight * scale) @ x
    return sums


def _halves(packed: AnyArray, count: int) -> AnyArray:
    """Return the four-bit parts of words or bytes, the lowest bits first."""
    shifts = 4 * np.arange(count)
    bits = (packed[..., np.newaxis].astype(np.int64) >> shifts) & 15
    halves: AnyArray = (bits ^ 8) - 8
    return halves


@pytest.mark.parametrize(
    ("depth", "group", "pairs", "blocks"),
    [
        (3, 3, 8, 32),
        (505, 505, 504, 480),
        (2016, 1008, 504, None),
        (1536, 1024, 256, 512),
        (200, 64, 64, 64),
        (100, 64, 64, 32),
        (40, 8, 8, None),
        (40, 24, 24, None),
        (40, 20, None, None),
        (40, 2, None, None),
    ],
)
def test_groups(depth: int, group: int, pairs: int | None, blocks: int | None) -> None:
    """The op's groups are split into parts a form supports."""
    four_bits = _four_bits(depth, group)
    for packed, size in (four_bits.pairs(), pairs), (four_bits.blocks(), blocks):
        assert (packed[1] if packed is not None else None) == size


@pytest.mark.parametrize(
    ("arguments", "pairs", "blocks"),
    [
        ({"shift": -1}, True, True),
        ({"shift": 0}, False, False),
        ({"shift": 0, "multiplier": 0}, True, True),
        ({"shift": -20}, True, True),
        ({"shift": -21}, False, True),
        ({"reach": 2**30 - 1}, True, True),
        ({"reach": 2**30}, False, True),
        # Differences of neighbours are int8, too.
        ({"channels": 1, "scale": np.array([[100, -27]], np.int8)}, True, True),
        ({"channels": 1, "scale": np.array([[100, -28]], np.int8)}, True, False),
    ],
)
def test_factors(arguments: dict[str, object], pairs: bool, blocks: bool) -> None:
    four_bits = _four_bits(64, 32, **arguments)  # type: ignore[arg-type]
    assert (four_bits.pairs() is not None, four_bits.blocks() is not None) == (pairs, blocks)


def test_sums_times_16_stay_in_32_bits() -> None:
    for depth, fits in (2**17 - 1, True), (2**17, False):
        assert (_four_bits(depth, depth, channels=1).blocks() is not None) == fits


@pytest.mark.parametrize(
    ("depth", "group"), [(1, 1), (3, 3), (8, 8), (30, 8), (505, 505), (39, 39), (96, 32)]
)
def test_pairs_multiply(depth: int, group: int) -> None:
    """The sums of linear_w4_pairs_s8_dsp.c, by words, are those of the op."""
    four_bits = _four_bits(depth, group)
    packed = four_bits.pairs()
    assert packed is not None
    constants, size = packed
    x = np.random.default_rng(7).integers(-128, 128, depth)
    order = [at + i for at in range(0, depth - 3, 4) for i in (0, 2, 1, 3)]
    steps = np.zeros(-(-depth // 8) * 8, np.int64)
    steps[:depth] = x[[*order, *range(len(order), depth)]]
    words = constants["weight"].array.view(np.uint32).reshape(5, -1)
    # The first step's two weights are the highest of the halves of 16 bits.
    weights = _halves(words, 8).reshape(5, -1, 2, 4)[..., ::-1].swapaxes(2, 3).reshape(5, -1)
    scale = np.repeat(constants["group_scale"].array.astype(np.int64), size, axis=1)
    assert np.array_equal((weights * scale[:, : len(steps)]) @ steps, _sums(four_bits, x))
    assert constants["bias"].array.reshape(5, 3).tolist() == [[3, 2**30, 6]] * 5


@pytest.mark.parametrize(
    ("depth", "group"), [(1, 1), (3, 3), (32, 32), (39, 39), (100, 64), (127, 32), (255, 255)]
)
def test_blocks_multiply(depth: int, group: int) -> None:
    """The sums of linear_w4_blocks_s8_mve.c, by four channels, are those of the op."""
    four_bits = _four_bits(depth, group)
    packed = four_bits.blocks()
    assert packed is not None
    constants, size = packed
    x = np.random.default_rng(7).integers(-128, 128, depth)
    whole = depth // 32 * 32
    half = -(-(depth - whole) // 2)
    found = np.zeros((2, 4), np.int64)
    for block, weight in enumerate(constants["weight"].array.reshape(2, -1)):
        chunks = _halves(weight[: 2 * whole].reshape(-1, 4, 16), 2)
        products = chunks * x[:whole].reshape(-1, 1, 2, 16).swapaxes(2, 3)
        up_to = products.sum(axis=(2, 3)).cumsum(axis=0)[size // 32 - 1 :: size // 32]
        scales = constants["group_scale"].array.reshape(2, -1, 4)[block].astype(np.int64)
        found[block] = (up_to * scales[: len(up_to)]).sum(axis=0)
        if half:
            rest = _halves(weight[2 * whole :].reshape(4, half), 2)
            values = np.stack([x[whole:][:half], x[depth - half :]], axis=1)
            found[block] += (rest * values).sum(axis=(1, 2)) * scales[-1]
    assert np.array_equal(found.reshape(-1)[:5], _sums(four_bits, x))
    vectors = constants["bias"].array.reshape(2, 3, 4)
    assert vectors[1].tolist() == [[value, 0, 0, 0] for value in (3, 2**30, -7)]
