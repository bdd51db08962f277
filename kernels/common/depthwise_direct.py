# SPDX-License-Identifier: Apache-2.0
"""Packing for the scratch-free depthwise kernel of cores with Helium: sixteen channels."""

import numpy as np

from kernels.common.kernel import AnyArray, Constant
from kernels.common.window import Windows

_LANES = 16

_ORDER = [0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15]
"""Channels as their sums come."""

_HALF = [0, 2, 4, 6, 1, 3, 5, 7]
"""The same of eight or less."""


def pack_direct(
    weight: AnyArray, bias: AnyArray, multiplier: AnyArray, shift: AnyArray
) -> tuple[str, dict[str, Constant]] | None:
    """Return the kernel and its constants; None if it is not exact.

    Args:
      weight: int8 [kernel_h, kernel_w, channels].
      bias: [channels], the input's zero point folded in.
      multiplier, shift: int32 [channels].
    """
    kh, kw, channels = weight.shape
    shift = np.where(multiplier == 0, -1, shift)
    if weight.min() == -128 or shift.max() >= 0:
        return None
    taps, vectors = weight.reshape(kh * kw, channels), np.stack([bias, multiplier, shift])
    groups = [_group(taps, vectors, first) for first in range(0, channels, _LANES)]
    return (
        "pl_depthwise_direct_s8",
        {
            "weight": Constant(np.concatenate([weights for weights, _ in groups])),
            "bias": Constant(np.concatenate([factors for _, factors in groups]).astype(np.int32)),
        },
    )


def _group(taps: AnyArray, vectors: AnyArray, first: int) -> tuple[AnyArray, AnyArray]:
    """Return weights and factors of channels that go together, from the first on."""
    count = min(_LANES, taps.shape[1] - first)
    order = _ORDER if count > len(_HALF) else _HALF
    more = ((0, 0), (0, len(order) - count))
    taps, vectors = (np.pad(a[:, first : first + count], more) for a in (taps, vectors))
    of_eight = vectors[:, order].reshape(3, -1, len(_HALF)).swapaxes(0, 1)
    return taps.reshape(-1), of_eight.reshape(-1)


def cost_of_direct(windows: Windows) -> int:
    """Return an estimated cost, halfway between instructions and cycles (`instruction_cost` of
    measure/bench).

    The terms are calls of the inner function, windows, groups of channels, rows of taps, and taps
    (an odd one separately). Taps in padding add an extra cost.
    """
    (kh, kw), (oh, ow) = windows.kernel, windows.output
    inside_h, inside_w = windows.inside
    calls = oh * (ow - inside_w + (inside_w > 0))
    if inside_w == ow:  # rows of windows go together
        calls = oh - inside_h + (inside_h > 0)
    beside = oh * (ow - inside_w)
    if kw == 1:  # taps below each other are a row
        kh, kw = 1, kh
        beside = ow * (oh - inside_h)
    whole, rest = divmod(windows.input_c, _LANES)
    groups = whole + (0 if rest == 0 else 0.7 if rest <= len(_HALF) else 1)
    taps = kw + 0.2 * (kw % 2)
    of_channels = oh * ow * (97 + kh * (8 + 17 * taps))
    of_channels += 11 * (oh * ow - inside_h * inside_w) + 28 * beside * kh
    return round(158 + windows.batches * (150 * calls + 14 * oh * ow + groups * of_channels))
