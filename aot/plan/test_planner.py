# SPDX-License-Identifier: Apache-2.0
"""Memory planner: no two live blocks overlap, alignment, lower bound, steps."""

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aot.plan import planner
from aot.plan.planner import (
    MemoryBlock,
    Over,
    Placement,
    align_up,
    live_bytes,
    lower_bound,
    place_blocks,
)


def check(blocks: list[MemoryBlock], placement: Placement, alignment: int) -> None:
    """Check the rules for any placement."""
    assert placement.offsets.keys() == {block.name for block in blocks}
    for block in blocks:
        offset = placement.offsets[block.name]
        assert offset >= 0
        assert offset % alignment == 0
        assert offset + block.size <= placement.size
    for i, block in enumerate(blocks):
        for other in blocks[i + 1 :]:
            if block.first <= other.last and other.first <= block.last:
                low, other_low = placement.offsets[block.name], placement.offsets[other.name]
                assert low + block.size <= other_low or other_low + other.size <= low
    bound = max(
        (
            sum(align_up(b.size, alignment) for b in blocks if b.first <= step <= b.last)
            for step in range(max((b.last for b in blocks), default=0) + 1)
        ),
        default=0,
    )
    assert placement.lower_bound == bound
    assert bound <= placement.size <= sum(align_up(b.size, alignment) for b in blocks)


SPANS = st.tuples(st.integers(1, 5000), st.integers(0, 20), st.integers(0, 8))


@settings(max_examples=100, deadline=None)
@given(st.lists(SPANS, max_size=24), st.sampled_from([1, 4, 16]))
def test_random_blocks(spans: list[tuple[int, int, int]], alignment: int) -> None:
    blocks = [
        MemoryBlock(f"b{i}", size, first, first + length)
        for i, (size, first, length) in enumerate(spans)
    ]
    check(blocks, place_blocks(blocks, alignment), alignment)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 100_000), min_size=1, max_size=60))
def test_chain_reaches_the_lower_bound(sizes: list[int]) -> None:
    """Each tensor is read by the next step only."""
    blocks = [MemoryBlock(f"t{i}", size, i, i + 1) for i, size in enumerate(sizes)]
    placement = place_blocks(blocks, 16)
    check(blocks, placement, 16)
    assert placement.size == placement.lower_bound


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 500)), min_size=4, max_size=30))
def test_residual_chain_with_scratch_comes_within_two_percent(sizes: list[tuple[int, int]]) -> None:
    """Every third tensor is read again three steps later; steps have scratch memory."""
    blocks = []
    for i, (size, scratch) in enumerate(sizes):
        blocks.append(MemoryBlock(f"t{i}", 16 * size, i, i + (3 if i % 3 == 0 else 1)))
        if scratch:
            blocks.append(MemoryBlock(f"s{i}", 16 * scratch, i, i))
    placement = place_blocks(blocks, 16)
    check(blocks, placement, 16)
    assert placement.size <= placement.lower_bound * 1.02


@pytest.mark.parametrize("depth", [2, 4, 6])
def test_u_net_reaches_the_lower_bound(depth: int) -> None:
    blocks = []
    for level in range(depth):
        size = 65536 >> level
        blocks.append(MemoryBlock(f"skip{level}", size, level, 2 * depth - level))
        blocks.append(MemoryBlock(f"down{level}", size // 2, level, level + 1))
        up = 2 * depth - 1 - level
        blocks.append(MemoryBlock(f"up{level}", size, up, up + 1))
    placement = place_blocks(blocks, 16)
    check(blocks, placement, 16)
    assert placement.size == placement.lower_bound


def chain_over(sizes: list[int], distances: list[int]) -> list[MemoryBlock]:
    """Return tensors with the next step as only reader; its result may alias them."""
    blocks = []
    for i, (size, distance) in enumerate(zip(sizes, distances, strict=True)):
        over = (Over(f"t{i - 1}", -distance, sizes[i - 1]),) if i else ()
        blocks.append(MemoryBlock(f"t{i}", size, i, i + 1, over=over))
    return blocks


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 5000), st.integers(-5000, 5000)), min_size=2, max_size=20),
    st.sampled_from([1, 16]),
)
def test_chain_of_results_over_their_inputs(chain: list[tuple[int, int]], alignment: int) -> None:
    """Two blocks share bytes only at their alias distance; two blocks take no more than
    the bound.
    """
    blocks = chain_over([size for size, _ in chain], [distance for _, distance in chain])
    placement = place_blocks(blocks, alignment)
    at = placement.offsets
    for source, result in itertools.pairwise(blocks):
        apart = at[source.name] + source.size <= at[result.name]
        assert apart or at[source.name] - at[result.name] >= min(-result.over[0].low, result.size)
    alone = place_blocks([replace(block, over=()) for block in blocks], alignment)
    assert placement.lower_bound <= placement.size <= alone.size
    if len(blocks) == 2:
        assert placement.size == placement.lower_bound


@pytest.mark.parametrize(
    ("sizes", "distance", "expected"),
    [
        ([256, 256], 0, 256),
        ([256, 256], 1, 272),
        ([256, 256], -1, 256),
        ([256, 128], -64, 256),
        ([128, 256], 128, 256),
        ([128, 256], 129, 272),
        ([256, 256], 256, 512),
        ([256, 256], 999, 512),
    ],
)
def test_two_results_over_each_other(sizes: list[int], distance: int, expected: int) -> None:
    placement = place_blocks(chain_over(sizes, [0, distance]), 16)
    assert placement.size == placement.lower_bound == expected


def test_a_third_block_is_not_overwritten() -> None:
    """Scratch of the step using both lies next to both."""
    blocks = [*chain_over([256, 256], [0, 16]), MemoryBlock("scratch", 64, 1, 1)]
    assert place_blocks(blocks, 16).size == 256 + 16 + 64


def test_no_gain_leaves_everything_where_it_is() -> None:
    """The second step could take less, but the first needs as much anyway."""
    blocks = chain_over([4096, 4096, 1024], [0, 9999, 0])
    apart = [replace(block, over=()) for block in blocks]
    assert place_blocks(blocks, 16) == place_blocks(apart, 16)


def random_blocks(count: int, seed: int) -> list[MemoryBlock]:
    rng = random.Random(seed)
    blocks = []
    for i in range(count):
        first = rng.randrange(count)
        last = min(count, first + int(rng.expovariate(0.2)))
        blocks.append(MemoryBlock(f"b{i}", rng.randrange(1, 5000), first, last))
    return blocks


MOST_LOOKS = 4_100_000
"""Limit of checks of blocks and neighbours in one place_blocks call: less than two seconds of a
core.
"""


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the count of blocks and neighbours checked by each placement."""
    found: list[int] = []
    place = planner._OffsetSearch.place

    def counted(search: planner._OffsetSearch, order: Sequence[int]) -> list[int]:
        found.append(len(order) + sum(map(len, search.between)))
        return place(search, order)

    monkeypatch.setattr(planner._OffsetSearch, "place", counted)
    planner._placed.cache_clear()
    return found


@pytest.mark.parametrize("seed", range(5))
def test_hundred_blocks_in_few_steps(seed: int, looks: list[int]) -> None:
    blocks = random_blocks(100, seed)
    placement = place_blocks(blocks, 16)
    assert 0 < sum(looks) < MOST_LOOKS
    check(blocks, placement, 16)
    assert placement.size <= placement.lower_bound * 1.02


def tiles(count: int, seed: int) -> list[MemoryBlock]:
    """A rectangle of 4096 bytes by 100 steps cut into blocks: a perfect fit leaves no gap."""
    rng = random.Random(seed)
    rectangles = [(0, 4096, 0, 99)]
    while len(rectangles) < count:
        rectangles.sort(key=lambda r: (r[1] - r[0]) * (r[3] - r[2] + 1))
        low, high, first, last = rectangles.pop()
        if first == last or rng.random() < 0.5:
            cut = rng.randrange(low + 1, high)
            rectangles += [(low, cut, first, last), (cut, high, first, last)]
        else:
            cut = rng.randrange(first, last)
            rectangles += [(low, high, first, cut), (low, high, cut + 1, last)]
    return [
        MemoryBlock(f"b{i}", high - low, f, t) for i, (low, high, f, t) in enumerate(rectangles)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_solves_a_puzzle(seed: int) -> None:
    blocks = tiles(40, seed)
    placement = place_blocks(blocks, 1)
    check(blocks, placement, 1)
    assert placement.size == placement.lower_bound == 4096


def test_gives_up_after_many_steps(looks: list[int]) -> None:
    blocks = tiles(100, 0)
    placement = place_blocks(blocks, 1)
    assert MOST_LOOKS / 2 < sum(looks) < MOST_LOOKS
    check(blocks, placement, 1)
    assert placement.size > placement.lower_bound


def test_does_not_depend_on_the_order_given() -> None:
    blocks = random_blocks(40, 7)
    expected = place_blocks(blocks, 16)
    random.Random(1).shuffle(blocks)
    assert place_blocks(blocks, 16) == expected


@pytest.mark.parametrize(
    ("value", "alignment", "aligned"),
    [(0, 16, 0), (1, 16, 16), (16, 16, 16), (17, 4, 20), (-15, 16, 0)],
)
def test_aligned(value: int, alignment: int, aligned: int) -> None:
    assert align_up(value, alignment) == aligned


@pytest.mark.parametrize(
    ("own", "of_all", "room"), [(1, 1, 10), (8, 1, 16), (1, 4, 12), (8, 32, 32), (32, 8, 32)]
)
def test_room_of_a_block(own: int, of_all: int, room: int) -> None:
    assert MemoryBlock("a", 10, 0, 0, own).room(of_all) == room


def test_pools_of_a_block() -> None:
    anywhere, fast = MemoryBlock("a", 1, 0, 0), MemoryBlock("b", 1, 0, 0, pools=frozenset({"fast"}))
    assert anywhere.may_lie_in("fast") and anywhere.may_lie_in("slow")
    assert fast.may_lie_in("fast") and not fast.may_lie_in("slow")


@pytest.mark.parametrize(
    ("first", "last", "overlaps"),
    [(0, 1, False), (0, 2, True), (3, 3, True), (4, 9, True), (5, 9, False)],
)
def test_steps_are_inclusive(first: int, last: int, overlaps: bool) -> None:
    block, other = MemoryBlock("a", 1, 2, 4), MemoryBlock("b", 1, first, last)
    assert block.overlaps(other) == other.overlaps(block) == overlaps


@pytest.mark.parametrize(
    ("low", "high", "size", "other", "common"),
    [
        (0, 256, 256, 256, 256),
        (-1, 256, 256, 256, 240),
        (-16, 256, 256, 256, 240),
        (-17, 256, 256, 256, 224),
        (-999, 999, 256, 256, 0),
        (-999, 32, 64, 256, 64),
        (-999, 33, 256, 256, 208),
        (0, 999, 64, 256, 64),
        (99, 999, 256, 64, 64),
    ],
)
def test_bytes_in_common(low: int, high: int, size: int, other: int, common: int) -> None:
    assert Over("below", low, high).most(size, other, 16) == common


def test_live_bytes_of_each_step() -> None:
    blocks = [MemoryBlock("a", 10, 0, 1), MemoryBlock("b", 20, 1, 2), MemoryBlock("c", 5, 5, 5)]
    assert live_bytes(blocks) == {0: 10, 1: 30, 2: 20, 3: 0, 5: 5, 6: 0}
    assert lower_bound(blocks) == 30 and lower_bound(blocks[2:]) == 5
    assert live_bytes(blocks, 16) == {0: 16, 1: 48, 2: 32, 3: 0, 5: 16, 6: 0}
    over = replace(blocks[1], over=(Over("a", 0, 99), Over("gone", 0, 99)))
    assert live_bytes([blocks[0], over], 16) == {0: 16, 1: 32, 2: 32, 3: 0}
    assert lower_bound([blocks[0], over], 16) == 32


@pytest.mark.parametrize("at", [0, 64])
def test_bound_with_a_block_that_has_to_lie_somewhere(at: int) -> None:
    blocks = [MemoryBlock("a", 10, 0, 1, at=at), MemoryBlock("b", 40, 1, 2)]
    found = place_blocks(blocks, 16)
    assert found.offsets == {"a": at, "b": 0 if at else 16}
    assert found.lower_bound == (80 if at else 64) and found.size == found.lower_bound


def test_own_alignment_of_a_block() -> None:
    blocks = [MemoryBlock("a", 8, 0, 1), MemoryBlock("b", 8, 0, 1, alignment=32)]
    found = place_blocks(blocks, 4)
    assert found.offsets == {"b": 0, "a": 32} and found.size == 40


def test_no_blocks() -> None:
    assert place_blocks([], 16) == Placement({}, 0, 0)
    assert lower_bound([]) == 0


@settings(max_examples=50, deadline=None)
@given(st.lists(SPANS, min_size=1, max_size=16), st.integers(0, 100))
def test_a_block_that_has_to_lie_somewhere(spans: list[tuple[int, int, int]], at: int) -> None:
    first, *others = [
        MemoryBlock(f"b{i}", size, first, first + length)
        for i, (size, first, length) in enumerate(spans)
    ]
    blocks = [replace(first, at=16 * at), *others]
    placement = place_blocks(blocks, 16)
    assert placement.offsets["b0"] == 16 * at
    for block, other in itertools.combinations(blocks, 2):
        if block.overlaps(other):
            low, other_low = placement.offsets[block.name], placement.offsets[other.name]
            assert low + block.size <= other_low or other_low + other.size <= low
    ends = [placement.offsets[block.name] + align_up(block.size, 16) for block in blocks]
    assert placement.size == max(ends)
    assert all(offset >= 0 for offset in placement.offsets.values())
