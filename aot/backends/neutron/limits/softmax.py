# SPDX-License-Identifier: Apache-2.0
"""Softmax."""

from __future__ import annotations

import math
from typing import Any

from torch.fx import Node

from aot.dialect.graph import shape_of

_MOST_CHANNELS = 2040
_MOST_ROWS = 4096


def reject(node: Node, a: dict[str, Any]) -> str:
    *rows, channels = shape_of(node)
    if not rows or a["dim"] != len(rows):
        return f"along dimension {a['dim']} of {len(rows) + 1}: the NPU's is the last of several"
    if channels > _MOST_CHANNELS:
        return f"of {channels} values, of at most {_MOST_CHANNELS}"
    if math.prod(rows) > _MOST_ROWS:
        return f"of {math.prod(rows)} rows, of at most {_MOST_ROWS}"
    return ""
