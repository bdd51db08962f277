# SPDX-License-Identifier: Apache-2.0
"""Distributes blocks over a board's memories. All blocks go into the best memory if they fit.

Otherwise the blocks with the most accesses per byte go into the best memory, the others into the
next, and so on. A block comes first in its last allowed memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aot.plan.planner import MemoryBlock, Placement, lower_bound, place_blocks
from boards.board import Pool


class PoolsDoNotFitError(Exception):
    """The blocks exceed the board's memories.

    Attributes:
      placement: the need in a single memory.
      pools: the allowed pools.
    """

    def __init__(self, placement: Placement, pools: Sequence[Pool]) -> None:
        super().__init__(f"{placement.size} bytes")
        self.placement = placement
        self.pools = pools


@dataclass(frozen=True)
class PoolUse:
    """Contents of a memory of the board.

    Attributes:
      placement: without offsets if the memory is unused.
      alignment: of the start of the whole.
    """

    pool: Pool
    placement: Placement
    alignment: int


def place_in_pools(
    blocks: Sequence[MemoryBlock], touches: Mapping[str, int], pools: Sequence[Pool], alignment: int
) -> tuple[PoolUse, ...]:
    """Assign a pool and an offset to each block.

    Args:
      blocks: see planner.
      touches: bytes read and written in each block during one inference.
      pools: the best first; all bases are aligned.
      alignment: of every offset.

    Raises:
      PoolsDoNotFitError: no way was found.
    """
    whole = place_blocks(blocks, alignment)
    rest = list(blocks)
    uses: list[PoolUse] = []
    for index, pool in enumerate(pools):
        allowed = [block for block in rest if block.may_lie_in(pool.name)]
        if whole.size <= pool.bytes and len(allowed) == len(blocks):
            chosen, placement = allowed, whole
        else:
            later = [other.name for other in pools[index + 1 :]]
            chosen, placement = _fill(allowed, touches, pool.bytes, alignment, later)
        uses.append(PoolUse(pool, placement, max([alignment, *(b.alignment for b in chosen)])))
        names = {block.name for block in chosen}
        rest = [block for block in rest if block.name not in names]
    if rest:
        raise _does_not_fit(blocks, rest[0], whole, pools, alignment)
    return tuple(uses)


def _does_not_fit(
    blocks: Sequence[MemoryBlock],
    left: MemoryBlock,
    whole: Placement,
    pools: Sequence[Pool],
    alignment: int,
) -> PoolsDoNotFitError:
    """Return the error for all blocks that are limited to the same pools as an unplaced block."""
    if left.pools is None:
        return PoolsDoNotFitError(whole, pools)
    rivals = [b for b in blocks if b.pools is not None and b.pools <= left.pools]
    mine = [pool for pool in pools if left.may_lie_in(pool.name)]
    return PoolsDoNotFitError(place_blocks(rivals, alignment), mine)


def _fill(
    blocks: Sequence[MemoryBlock],
    touches: Mapping[str, int],
    capacity: int,
    alignment: int,
    later: Sequence[str],
) -> tuple[list[MemoryBlock], Placement]:
    """Return blocks that fit into `capacity`: first those without another pool, then by heat."""

    def rank(block: MemoryBlock) -> tuple[bool, float, int, str]:
        has_another = any(map(block.may_lie_in, later))
        return has_another, -touches[block.name] / block.size, -block.size, block.name

    hottest = sorted(blocks, key=rank)
    chosen: list[MemoryBlock] = []
    for block in hottest:
        if lower_bound([*chosen, block], alignment) <= capacity:
            chosen.append(block)
    placement = place_blocks(chosen, alignment)
    while placement.size > capacity:
        chosen.pop()
        placement = place_blocks(chosen, alignment)
    return chosen, placement
