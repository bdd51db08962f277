# SPDX-License-Identifier: Apache-2.0
"""How near below its input an output may start, by a kernel's order of reads and writes."""

from dataclasses import dataclass

import numpy as np

from kernels.common.kernel import AnyArray, Value


@dataclass(frozen=True, eq=False)
class Order:
    """In which order a kernel reads an input and writes its result: that is pixels of one size, one
    after another, which it computes some at a time.

    Those may be computed in any order, but for `reads_first`: then all that they are computed of is
    read before any of them is written.

    Attributes:
      starts: [..., pixels], for each pixel a byte of the input; none before it is read for it.
      at_a_time: how many pixels; the last ones of a row of `starts` may be fewer.
    """

    starts: AnyArray
    at_a_time: int
    reads_first: bool = False


@dataclass(frozen=True, eq=False)
class Overlap:
    """An output that may lie over an input if it starts `distance` bytes or more before it, or at
    most -distance bytes after its start.

    Attributes:
      source, result: names of the tensors.
      order: why. None for rows of several calls, of which each has its own.
    """

    source: str
    result: str
    distance: int
    order: Order | None = None


def overlap(
    source: Value, result: Value, starts: AnyArray, at_a_time: int, reads_first: bool = False
) -> tuple[Overlap, ...]:
    """KernelCall.overlap of a kernel with such an Order; () if the output would lie below the whole
    input.
    """
    count, row = starts.size, starts.shape[-1]
    ends = np.minimum(np.arange(at_a_time, row + at_a_time, at_a_time), row)
    written = np.add.outer(np.arange(0, count, row), ends).reshape(-1)
    begun = written if reads_first else np.append(0, written[:-1])
    needed = np.append(np.minimum.accumulate(starts.reshape(-1)[::-1])[::-1], source.bytes)[begun]
    apart = written * (result.bytes // count) - needed
    distance = int(apart[needed < source.bytes].max(initial=-source.bytes))
    if source.constant is not None or distance >= result.bytes:
        return ()
    order = Order(starts, at_a_time, reads_first)
    return (Overlap(source.name, result.name, distance, order),)


def elementwise_overlap(source: Value, result: Value) -> tuple[Overlap, ...]:
    """The overlap of a kernel that reads each element before it writes what becomes of it."""
    starts = np.arange(source.size) * (source.bytes // source.size)
    return overlap(source, result, starts, at_a_time=1, reads_first=True)
