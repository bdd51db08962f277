# SPDX-License-Identifier: Apache-2.0
"""Ops without limits of their own: data movement, and pointwise functions of TFLite."""

from __future__ import annotations

from typing import Any

from torch.fx import Node


def reject(_: Node, __: dict[str, Any]) -> str:
    return ""


def reject_slice(_: Node, a: dict[str, Any]) -> str:
    return "" if a["step"] == 1 else f"it takes every {a['step']}th: the NPU takes all in a row"
