# SPDX-License-Identifier: Apache-2.0
"""Reductions: what they give has the quantization of what they take."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from aot.dialect.graph import edge_of


def reject(node: Node, a: dict[str, Any]) -> str:
    if edge_of(node).quantization != edge_of(a["input"]).quantization:
        return f"`{a['input'].name}` and `{node.name}` differ in scale or zero_point"
    return ""
