# SPDX-License-Identifier: Apache-2.0
"""Spreading blocks over several memories."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aot.plan import planner
from aot.plan.planner import MemoryBlock
from aot.plan.pools import PoolsDoNotFitError, PoolUse, place_in_pools
from boards.board import Pool


def check(blocks: list[MemoryBlock], uses: tuple[PoolUse, ...]) -> None:
    """Every block has one place, within its pool, and shares no byte with a block in use."""
    names = [name for use in uses for name in use.placement.offsets]
    assert sorted(names) == sorted(block.name for block in blocks)
    by_name = {block.name: block for block in blocks}
    for use in uses:
        assert use.placement.size <= use.pool.bytes
        placed = [(by_name[name], offset) for name, offset in use.placement.offsets.items()]
        for i, (block, offset) in enumerate(placed):
            assert offset + block.size <= use.placement.size
            for other, low in placed[i + 1 :]:
                if block.overlaps(other):
                    assert offset + block.size <= low or low + other.size <= offset


def touches(blocks: list[MemoryBlock]) -> dict[str, int]:
    return {block.name: 2 * block.size for block in blocks}


def test_everything_in_the_best_pool_if_it_fits() -> None:
    blocks = [MemoryBlock(f"b{i}", 512, i, i + 1) for i in range(4)]
    fast, slow = place_in_pools(blocks, touches(blocks), [Pool("a", 1024), Pool("b", 4096)], 16)
    assert len(fast.placement.offsets) == 4
    assert slow.placement.size == 0


def test_hot_blocks_stay_in_the_best_pool() -> None:
    cold, hot, warm = (
        MemoryBlock("cold", 900, 0, 3),
        MemoryBlock("hot", 400, 0, 3),
        MemoryBlock("warm", 500, 0, 3),
    )
    blocks = [cold, hot, warm]
    uses = place_in_pools(
        blocks, {"cold": 900, "hot": 4000, "warm": 1500}, [Pool("a", 1024), Pool("b", 4096)], 16
    )
    check(blocks, uses)
    assert uses[0].placement.offsets.keys() == {"hot", "warm"}


def test_block_larger_than_the_best_pool() -> None:
    blocks = [MemoryBlock("large", 3000, 0, 1), MemoryBlock("small", 100, 1, 2)]
    uses = place_in_pools(blocks, touches(blocks), [Pool("a", 1024), Pool("b", 4096)], 16)
    check(blocks, uses)
    assert uses[0].placement.offsets.keys() == {"small"}


def test_blocks_that_fit_by_their_sum_but_not_by_their_shape(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The lower bound is the pool's size; unpackable blocks go to the next pool."""
    monkeypatch.setattr(planner, "_EFFORT", 0)
    shapes = [(22, 2, 7), (42, 7, 7), (22, 0, 0), (22, 1, 1), (1, 0, 6), (41, 0, 1), (41, 2, 6)]
    blocks = [
        MemoryBlock(f"b{i}", 16 * n, first, last) for i, (n, first, last) in enumerate(shapes)
    ]
    whole = planner.place_blocks(blocks, 16)
    assert whole.size > whole.lower_bound
    pools = [Pool("a", whole.lower_bound), Pool("b", 4096)]
    uses = place_in_pools(blocks, touches(blocks), pools, 16)
    check(blocks, uses)
    assert uses[0].placement.size > 0
    assert uses[1].placement.size > 0


def test_does_not_fit() -> None:
    blocks = [MemoryBlock("x", 1500, 0, 1), MemoryBlock("y", 1500, 0, 1)]
    with pytest.raises(PoolsDoNotFitError) as caught:
        place_in_pools(blocks, touches(blocks), [Pool("a", 1600), Pool("b", 1400)], 16)
    assert caught.value.placement.size == 2 * 1504


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_random_blocks(data: st.DataObject) -> None:
    spans = st.tuples(st.integers(1, 800), st.integers(0, 9), st.integers(0, 4))
    blocks = [
        MemoryBlock(f"b{i}", size, first, first + length)
        for i, (size, first, length) in enumerate(data.draw(st.lists(spans, max_size=16)))
    ]
    sizes = data.draw(st.lists(st.integers(16, 3000), min_size=1, max_size=3))
    pools = [Pool(f"p{i}", size) for i, size in enumerate(sizes)]
    heat = {block.name: data.draw(st.integers(0, 5000)) for block in blocks}
    try:
        check(blocks, place_in_pools(blocks, heat, pools, 16))
    except PoolsDoNotFitError as error:
        assert error.placement.size > pools[0].bytes
