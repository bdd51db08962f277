# SPDX-License-Identifier: Apache-2.0
"""Alias distance of a kernel's output to its input, from the kernel's order of reads and writes."""

from dataclasses import dataclass

import numpy as np

from kernels.common.kernel import AnyArray, Value


@dataclass(frozen=True, eq=False)
class Order:
    """Order of a kernel's reads of an input and writes of its result, in pixels of one size.

    The kernel computes some pixels at a time. It may compute those in any order, except with
    `reads_first`: then all their inputs are read before any of them is written.

    Attributes:
      starts: [..., pixels], for each pixel a byte of the input; no earlier byte is read
        for it.
      at_a_time: number of pixels; the last ones of a row of `starts` may be fewer.
    """

    starts: AnyArray
    at_a_time: int
    reads_first: bool = False


@dataclass(frozen=True, eq=False)
class Overlap:
    """Permission for an output to alias an input.

    The output must start `distance` bytes or more before the input, or at most -distance bytes
    after its start.

    Attributes:
      source, result: names of the tensors.
      order: the reason. None for rows of several calls, each with its own.
    """

    source: str
    result: str
    distance: int
    order: Order | None = None


def overlap(
    source: Value, result: Value, starts: AnyArray, at_a_time: int, reads_first: bool = False
) -> tuple[Overlap, ...]:
    """Return KernelCall.overlap of a kernel with this Order; () if the output would lie below the
    whole input.
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
    """Return the overlap of a kernel reading each element before it writes the element's result."""
    starts = np.arange(source.size) * (source.bytes // source.size)
    return overlap(source, result, starts, at_a_time=1, reads_first=True)
