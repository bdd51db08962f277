# SPDX-License-Identifier: Apache-2.0
"""Spreads blocks over a board's memories: everything into the best one if it fits there.

If it does not, the blocks that are touched most often for their size go into the best memory, the
others into the next, and so on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from boards.board import Pool
from firmware.plan.planner import Block, Placement, lower_bound, place_blocks


class DoesNotFitError(Exception):
    """The board's memories cannot hold the blocks; `placement` is what one memory would need."""

    def __init__(self, placement: Placement) -> None:
        super().__init__(f"{placement.size} bytes")
        self.placement = placement


@dataclass(frozen=True)
class PoolUse:
    """What lies in one of the board's memories. `placement` has no offsets if it is unused."""

    pool: Pool
    placement: Placement


def place_in_pools(
    blocks: Sequence[Block], touches: Mapping[str, int], pools: Sequence[Pool], alignment: int
) -> tuple[PoolUse, ...]:
    """Gives each block a pool and an offset.

    Args:
      blocks: see planner.
      touches: bytes read and written in each block during one inference.
      pools: the best first; all bases are aligned.
      alignment: of every offset.

    Raises:
      DoesNotFitError: no way was found.
    """
    whole = place_blocks(blocks, alignment)
    rest = list(blocks)
    uses: list[PoolUse] = []
    for pool in pools:
        if whole.size <= pool.bytes and len(rest) == len(blocks):
            chosen, placement = rest, whole
        else:
            chosen, placement = _fill(rest, touches, pool.bytes, alignment)
        uses.append(PoolUse(pool, placement))
        names = {block.name for block in chosen}
        rest = [block for block in rest if block.name not in names]
    if rest:
        raise DoesNotFitError(whole)
    return tuple(uses)


def _fill(
    blocks: Sequence[Block], touches: Mapping[str, int], capacity: int, alignment: int
) -> tuple[list[Block], Placement]:
    """The hottest blocks that fit into `capacity` together."""
    hottest = sorted(
        blocks, key=lambda block: (-touches[block.name] / block.size, -block.size, block.name)
    )
    chosen: list[Block] = []
    for block in hottest:
        if lower_bound([*chosen, block], alignment) <= capacity:
            chosen.append(block)
    placement = place_blocks(chosen, alignment)
    while placement.size > capacity:
        chosen.pop()
        placement = place_blocks(chosen, alignment)
    return chosen, placement
