# SPDX-License-Identifier: Apache-2.0
"""Limits of products of two computed matrices."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from aot.dialect.graph import quantization_of


def reject(_: Node, a: dict[str, Any]) -> str:
    for operand in (a["a"], a["b"]):
        if zero_point := quantization_of(operand).zero_point:
            return f"`{operand.name}` has zero_point {zero_point}, not 0"
    return ""
