# SPDX-License-Identifier: Apache-2.0
"""Assigns offsets in one arena to memory blocks with known lifetimes.

Minimising the arena is dynamic storage allocation (NP-hard). The problems here are small (tens of
blocks). They nearly always allow the lower bound: the largest number of bytes in use at one step.

Every optimal placement has an order of blocks with this property: putting each block at its lowest
free offset gives an arena no larger. Hence the search is over orders. Several good ones come first.
Then blocks ending above the lower bound are moved forward, again and again ("squeaky wheel"
optimisation). The search ends at the lower bound or after a fixed amount of work: the result is a
function of the blocks alone.

A block may lie partly over another if the step with both in use allows it (`Over`). Blocks are
placed so only if the arena becomes smaller.
"""

import functools
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

# Pairs of blocks compared before giving up: about one second of one core.
_EFFORT = 4_000_000
# The same where blocks may share bytes, or have to lie somewhere: the bound is out of reach more
# often.
_EFFORT_NEAR = 200_000


@dataclass(frozen=True)
class Over:
    """Permission to overlap with `block`, whose last step is the first step of this block.

    It must not start more than `low` and less than `high` bytes after it.
    """

    block: str
    low: int
    high: int

    def most(self, size: int, other: int, alignment: int) -> int:
        """Return the largest permitted overlap.

        The blocks take `size` and, for the lower one, `other` bytes.
        """
        before = align_up(self.low - alignment + 1, alignment) + size
        after = other - align_up(self.high, alignment)
        return max(0, min(size, other, max(before, after)))


@dataclass(frozen=True)
class MemoryBlock:
    """A block of `size` bytes, in use from step `first` to step `last`, both inclusive.

    Attributes:
      alignment: of its offset and its end, to share no cache line with others; a power of
        two.
      pools: names of the allowed pools, None for all.
      over: blocks for shared bytes.
      at: its required offset, None for any.
    """

    name: str
    size: int
    first: int
    last: int
    alignment: int = 1
    pools: frozenset[str] | None = None
    over: tuple[Over, ...] = ()
    at: int | None = None

    def room(self, alignment: int) -> int:
        """Return the block's size, rounded up for offsets that are multiples of `alignment`."""
        return align_up(self.size, max(self.alignment, alignment))

    def may_lie_in(self, pool: str) -> bool:
        return self.pools is None or pool in self.pools

    def overlaps(self, other: "MemoryBlock") -> bool:
        """Return True if both are in use at some step."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Placement:
    """Byte offsets by block name, the arena's size and its lower bound."""

    offsets: Mapping[str, int]
    size: int
    lower_bound: int


def align_up(value: int, alignment: int) -> int:
    """Return the least multiple of `alignment` that is at least `value`."""
    return -(-value // alignment) * alignment


def live_bytes(blocks: Collection[MemoryBlock], alignment: int = 1) -> dict[int, int]:
    """Return the bytes in use from each step at which a block begins or has ended.

    Sizes are aligned. Bytes shared by two blocks count once.
    """
    sizes = {block.name: align_up(block.size, alignment) for block in blocks}
    change: dict[int, int] = {}

    def use(size: int, first: int, last: int) -> None:
        change[first] = change.get(first, 0) + size
        change[last + 1] = change.get(last + 1, 0) - size

    for block in blocks:
        use(sizes[block.name], block.first, block.last)
        for over in block.over:
            if over.block in sizes:
                both = over.most(sizes[block.name], sizes[over.block], alignment)
                use(-both, block.first, block.first)
    live: dict[int, int] = {}
    total = 0
    for step in sorted(change):
        total += change[step]
        live[step] = total
    return live


def lower_bound(blocks: Collection[MemoryBlock], alignment: int = 1) -> int:
    """Return the largest number of bytes in use at one step: no placement needs less."""
    return max(live_bytes(blocks, alignment).values(), default=0)


class _OffsetSearch:
    """First-fit placement of a set of blocks in many orders. It keeps the best."""

    def __init__(self, blocks: Sequence[MemoryBlock], alignment: int, effort: int) -> None:
        self.blocks = blocks
        self.sizes = [block.room(alignment) for block in blocks]
        self.alignments = [max(block.alignment, alignment) for block in blocks]
        rooms = [replace(b, size=size) for b, size in zip(blocks, self.sizes, strict=True)]
        ends = [b.at + size for b, size in zip(blocks, self.sizes, strict=True) if b.at is not None]
        self.bound = max([lower_bound(rooms, alignment), *ends])
        self.neighbours = [
            [j for j, other in enumerate(blocks) if j != i and block.overlaps(other)]
            for i, block in enumerate(blocks)
        ]
        self.between = self._between()
        self.cost = len(blocks) + sum(map(len, self.neighbours))
        self.effort = effort
        most = sum(self.sizes) + sum(self.alignments)
        self.best_size = most + max([block.at or 0 for block in blocks]) + 1
        self.best: list[int] = []

    def _between(self) -> list[list[tuple[int, tuple[int, int]]]]:
        """Return, for each block, its neighbours with an open interval of forbidden offset
        differences.
        """
        index = {block.name: i for i, block in enumerate(self.blocks)}
        between = [
            {j: (-size, self.sizes[j]) for j in neighbours}
            for size, neighbours in zip(self.sizes, self.neighbours, strict=True)
        ]
        for i, block in enumerate(self.blocks):
            for over in block.over:
                if over.block in index:
                    j = index[over.block]
                    low, high = between[i][j]
                    low, high = max(low, over.low), min(high, over.high)
                    between[i][j], between[j][i] = (low, high), (-high, -low)
        return [list(intervals.items()) for intervals in between]

    def done(self) -> bool:
        return self.best_size <= self.bound or self.effort <= 0

    def place(self, order: Sequence[int]) -> list[int]:
        """Place the blocks in this order, each at its lowest free offset. Return the offsets.

        Blocks with a required offset come first.
        """
        offsets = [-1 if block.at is None else block.at for block in self.blocks]
        for i in order:
            if offsets[i] >= 0:
                continue
            alignment = self.alignments[i]
            taken = sorted(
                (offsets[j] + low, offsets[j] + high)
                for j, (low, high) in self.between[i]
                if offsets[j] >= 0
            )
            offset = 0
            for low, high in taken:
                if offset <= low:
                    break
                offset = max(offset, align_up(high, alignment))
            offsets[i] = offset
        self.effort -= self.cost
        size = max(offset + size for offset, size in zip(offsets, self.sizes, strict=True))
        if size < self.best_size:
            self.best_size, self.best = size, offsets
        return offsets

    def initial_orders(self) -> list[list[int]]:
        """Return orders by size, size times duration, duration, colour, crowd, and time."""
        blocks, sizes = self.blocks, self.sizes
        duration = [block.last - block.first + 1 for block in blocks]
        crowd = [
            size + sum(sizes[j] for j in neighbours)
            for size, neighbours in zip(sizes, self.neighbours, strict=True)
        ]
        colours = self._colours()
        keys = (
            lambda i: -sizes[i],
            lambda i: -sizes[i] * duration[i],
            lambda i: (-duration[i], -sizes[i]),
            lambda i: (colours[i], -sizes[i]),
            lambda i: (-crowd[i], -sizes[i]),
            lambda i: blocks[i].first,
        )
        return [sorted(range(len(blocks)), key=key) for key in keys]

    def _colours(self) -> list[int]:
        """Return for each block, in order of time, the lowest colour that no earlier neighbour has.

        Along a chain the colours are 0, 1, 0, 1 …: one colour placed before the other reaches the
        lower bound.
        """
        colours = [-1] * len(self.blocks)
        for i, neighbours in enumerate(self.neighbours):
            used = {colours[j] for j in neighbours}
            colours[i] = next(c for c in range(len(colours)) if c not in used)
        return colours

    def improve(self, order: list[int], patience: int, rng: random.Random) -> None:
        """Move blocks that end above the bound forward in order, until `patience` tries fail."""
        waited = 0
        best = self.best_size
        while waited < patience and not self.done():
            offsets = self.place(order)
            ends = [offset + size for offset, size in zip(offsets, self.sizes, strict=True)]
            high = [i for i in order if ends[i] > self.bound]
            if not high:
                return
            waited = waited + 1 if self.best_size == best else 0
            best = self.best_size
            highest = max(high, key=lambda i: (ends[i], i))
            chosen = highest if rng.random() < 0.5 else rng.choice(high)
            position = order.index(chosen)
            order.insert(rng.randrange(position + 1), order.pop(position))


def place_blocks(blocks: Iterable[MemoryBlock], alignment: int) -> Placement:
    """Return offsets: multiples of `alignment` and of the block's own alignment.

    Blocks in use at the same step share bytes only with permission. The result does not depend on
    the order of `blocks`. Names must be unique.
    """
    ordered = sorted(blocks, key=lambda block: (block.first, block.last, -block.size, block.name))
    return _placed(tuple(ordered), alignment)


@functools.lru_cache(maxsize=256)
def _placed(blocks: tuple[MemoryBlock, ...], alignment: int) -> Placement:
    """Return the placement of ordered blocks; cached, because a model's plans share placements."""
    if not blocks:
        return Placement({}, 0, 0)
    strict = [replace(block, over=()) for block in blocks]
    effort = _EFFORT if all(block.at is None for block in blocks) else _EFFORT_NEAR
    if not any(block.over for block in blocks):
        return _search(strict, alignment, effort)
    near = _search(blocks, alignment, _EFFORT_NEAR)
    if near.size < _OffsetSearch(strict, alignment, 0).bound:
        return near
    apart = _search(strict, alignment, effort)
    return near if near.size < apart.size else replace(apart, lower_bound=near.lower_bound)


def _search(blocks: Sequence[MemoryBlock], alignment: int, effort: int) -> Placement:
    search = _OffsetSearch(blocks, alignment, effort)
    orders = search.initial_orders()
    for order in orders:
        search.place(order)
    rng = random.Random(0)
    while not search.done():
        for order in orders:
            search.improve(list(order), 4 * len(blocks), rng)
    offsets = {block.name: offset for block, offset in zip(blocks, search.best, strict=True)}
    return Placement(offsets, search.best_size, search.bound)
