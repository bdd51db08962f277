# SPDX-License-Identifier: Apache-2.0
"""Resized images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.fx import Node

from aot.dialect.graph import shape_of

_FACTORS = (1, 2, 4, 8)


def reject(node: Node, a: dict[str, Any]) -> str:
    before, after = shape_of(a["input"])[1:3], shape_of(node)[1:3]
    corners = [1 if _keeps_corners(a, i, before[i], after[i]) else 0 for i in (0, 1)]
    counted = [
        [size - corner for size, corner in zip(sizes, corners, strict=True)]
        for sizes in (before, after)
    ]
    return reject_size(*counted)


def _keeps_corners(a: dict[str, Any], i: int, before: int, after: int) -> bool:
    """Return True if the corner pixels of an axis stay in place; one pixel less is then resized."""
    if a["offset"][i] != 0 or before < 2 or after < 2 or before == after:
        return False
    return bool(a["step"][i] == ((before - 1) * a["unit"][i] + (after - 1) // 2) // (after - 1))


def reject_size(before: Sequence[int], after: Sequence[int]) -> str:
    """Return why an image cannot be resized by this factor; "" if it can."""
    if all(b in [a * factor for factor in _FACTORS] for a, b in zip(before, after, strict=True)):
        return ""
    factors = ", ".join(map(str, _FACTORS))
    return f"from {list(before)} to {list(after)}: the NPU resizes by {factors}"
