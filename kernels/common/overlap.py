# SPDX-License-Identifier: Apache-2.0
"""How near below its input an output may start, by a kernel's order of reads and writes."""

import numpy as np

from kernels.common.kernel import AnyArray, Value

Overlap = tuple[tuple[str, str, int], ...]
"""What KernelCall.overlap is."""


def overlap(
    source: Value, result: Value, starts: AnyArray, at_a_time: int, reads_first: bool = False
) -> Overlap:
    """The overlap of a kernel that computes pixels in order, some at a time.

    Those may be computed in any order, but for `reads_first`: then all that they are computed of is
    read before any of them is written. () if the output would lie below the whole input.

    Args:
      source, result: the pair; the result is pixels of one size, one after another.
      starts: [..., pixels], for each pixel a byte of the source; none before it is read for it.
      at_a_time: how many pixels; the last ones of a row of `starts` may be fewer.
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
    return ((source.name, result.name, distance),)


def elementwise_overlap(source: Value, result: Value) -> Overlap:
    """The overlap of a kernel that reads each element before it writes what becomes of it."""
    starts = np.arange(source.size) * (source.bytes // source.size)
    return overlap(source, result, starts, at_a_time=1, reads_first=True)
