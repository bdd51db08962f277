# SPDX-License-Identifier: Apache-2.0
"""Choice of a few samples among many: evenly spread, because data may be sorted by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

_PIECE = 8
"""Samples to take of each sequence where there are many sequences. A state takes some to settle."""

_Item = TypeVar("_Item")
_Flagged = TypeVar("_Flagged", bound=tuple[bool, Any])


def spread(items: Sequence[_Item], most: int) -> Sequence[_Item]:
    """Return at most this many items, evenly spaced."""
    count = len(items)
    return items if count <= most else [items[i * count // most] for i in range(most)]


def spread_sequences(samples: Sequence[_Flagged], most: int) -> Sequence[_Flagged]:
    """Return the starts of evenly spaced sequences, at most this many samples together.

    Each sample continues the one before, so a sequence is cut at its end only.

    Args:
      samples: each with a flag: a sequence starts with it.
      most: their number.
    """
    sequences: list[list[_Flagged]] = []
    for sample in samples:
        if sample[0] or not sequences:
            sequences.append([])
        sequences[-1].append(sample)
    chosen = spread(sequences, min(most, max(2, most // _PIECE)))
    counts = [0] * len(chosen)
    left = most
    shortest_first = sorted(range(len(chosen)), key=lambda i: len(chosen[i]))
    for done, i in enumerate(shortest_first):
        counts[i] = min(len(chosen[i]), left // (len(chosen) - done))
        left -= counts[i]
    return [s for one, count in zip(chosen, counts, strict=True) for s in one[:count]]


def some_of(samples: Sequence[_Flagged], most: int, has_state: bool) -> Sequence[_Flagged]:
    """Return at most this many samples; with state, starts of sequences."""
    return spread_sequences(samples, most) if has_state else spread(samples, most)


class Sampler(Generic[_Item]):
    """Evenly spread items of a stream of unknown length.

    Args:
      most: upper limit of their number; up to twice as many are held meanwhile.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._every = 1
        self._seen = 0
        self._held: list[_Item] = []

    def wants(self) -> bool:
        """Count the next item. Return True if it is to be given to `keep`."""
        self._seen += 1
        return (self._seen - 1) % self._every == 0

    def keep(self, item: _Item) -> None:
        self._held.append(item)
        if len(self._held) > 2 * self._most:
            del self._held[1::2]
            self._every *= 2

    @property
    def held(self) -> Sequence[_Item]:
        return self._held

    @property
    def chosen(self) -> Sequence[_Item]:
        """The chosen items, in order."""
        return spread(self._held, self._most)
