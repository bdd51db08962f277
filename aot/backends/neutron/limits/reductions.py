# SPDX-License-Identifier: Apache-2.0
"""Reductions: their result has the quantization of their input."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from aot.dialect.graph import edge_of


def reject(node: Node, a: dict[str, Any]) -> str:
    if edge_of(node).quantization != edge_of(a["input"]).quantization:
        return f"`{a['input'].name}` and `{node.name}` differ in scale or zero_point"
    return ""
