# SPDX-License-Identifier: Apache-2.0
"""Packing for kernels/common/gemm_blocks_s8.h: four channels and 16 values at a time."""

import numpy as np

from kernels.common.kernel import AnyArray, Constant

BLOCK_CHANNELS = 4
_LANES = 16


def pack_blocks(
    weight: AnyArray, bias: AnyArray, multiplier: AnyArray, shift: AnyArray, groups: int
) -> dict[str, Constant] | None:
    """Return the data fields weight and bias, including the factors; None if a factor multiplies.

    Args:
      weight: int8 [groups * channels, depth].
      bias: [groups * channels], the input's zero point folded in.
      multiplier, shift: int32 [groups * channels].
      groups: with weights of their own; each is padded to a multiple of four channels.
    """
    shift = np.where(multiplier == 0, -1, shift)
    if shift.max() >= 0:
        return None
    depth = weight.shape[1]
    channels = weight.shape[0] // groups
    more = -channels % BLOCK_CHANNELS
    padded = np.pad(
        weight.reshape(groups, channels, depth), ((0, 0), (0, more), (0, -depth % _LANES))
    )
    blocks = padded.reshape(-1, BLOCK_CHANNELS, padded.shape[2] // _LANES, _LANES).swapaxes(1, 2)
    vectors = np.stack([bias, multiplier, shift]).reshape(3, groups, channels)
    vectors = np.pad(vectors, ((0, 0), (0, 0), (0, more))).reshape(3, -1, BLOCK_CHANNELS)
    return {
        "weight": Constant(np.ascontiguousarray(blocks).reshape(-1)),
        "bias": Constant(np.ascontiguousarray(vectors.swapaxes(0, 1), np.int32).reshape(-1)),
    }


def last_pays(channels: int, rows: int) -> bool:
    """Return True if single handling of the last one or two channels is faster.

    This is for a matrix of this many channels and up to this many rows at a time.
    """
    last = channels % BLOCK_CHANNELS
    return rows > 1 if last == 1 else last == 2 and rows >= BLOCK_CHANNELS


def blocks_function(op: str, channels: int, rows: int) -> str:
    """Return an op's function for such a matrix."""
    return f"pl_{op}_{'last_' * last_pays(channels, rows)}blocks_s8"
