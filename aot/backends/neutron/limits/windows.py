# SPDX-License-Identifier: Apache-2.0
"""Limits of windows: convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence

LARGEST = 4096
_MOST_WEIGHTS = 65535  # of an output channel, in whole groups of channels
_GROUP = 8


def too_large(**sizes: Sequence[int]) -> str:
    """Return the size beyond its limit (kernel=, stride=, ...)."""
    for name, values in sizes.items():
        if max(values) > LARGEST:
            return f"its {name} is {list(values)}, of at most {LARGEST}"
    return ""


def too_many_weights(height: int, width: int, channels: int) -> str:
    whole = -(-channels // _GROUP) * _GROUP
    if height * width * whole <= _MOST_WEIGHTS:
        return ""
    weights = f"{height} x {width} x {whole}"
    return f"it has {weights} weights for an output channel, of at most {_MOST_WEIGHTS}"
