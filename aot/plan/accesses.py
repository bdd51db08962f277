# SPDX-License-Identifier: Apache-2.0
"""Checks all accesses of a kernel whose result aliases its input, byte by byte.

The check does not use the planner's alias distances, or their code.
"""

import numpy as np

from kernels.common.kernel import Value
from kernels.common.overlap import Order


def spoiled_byte(source: Value, result: Value, order: Order, before: int) -> int | None:
    """Return the first input byte that is overwritten before its last possible read, or None.

    Accesses without an order count as the worst case: reads last, writes first.

    Args:
      before: bytes from the start of the result to the start of the input.
    """
    starts, row = order.starts.reshape(-1), order.starts.shape[-1]
    pixel = np.arange(starts.size)
    blocks_of_row = -(-row // order.at_a_time)
    block = pixel // row * blocks_of_row + pixel % row // order.at_a_time
    # The last block reading a byte: one starting at it, or at a byte before it.
    read = np.full(source.bytes + 1, -1)
    np.maximum.at(read, np.minimum(starts, source.bytes), block)
    read = np.maximum.accumulate(read)[:-1]
    written = block.repeat(result.bytes // starts.size)
    low = max(0, -before)
    high = max(low, min(source.bytes, result.bytes - before))
    read, written = read[low:high], written[low + before : high + before]
    spoiled = read > written if order.reads_first else read >= written
    return low + int(spoiled.argmax()) if spoiled.any() else None
