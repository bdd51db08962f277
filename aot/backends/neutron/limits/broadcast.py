# SPDX-License-Identifier: Apache-2.0
"""Ops of two values, element by element."""

from __future__ import annotations

import math
from typing import Any

from torch.fx import Node

from aot.dialect.graph import shape_of


def reject(node: Node, a: dict[str, Any]) -> str:
    size = math.prod(shape_of(node))
    if size in (math.prod(shape_of(a["a"])), math.prod(shape_of(a["b"]))):
        return ""
    return f"both operands are repeated, {list(shape_of(a['a']))} and {list(shape_of(a['b']))}"
