# SPDX-License-Identifier: Apache-2.0
"""Warnings, and names of values and ranges in their texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch.fx import Node

from aot.errors import module_path, place, source_line

FEW_SAMPLES = 16
"""Fewer samples than these are too few to trust."""

FEW_STEPS = 16
"""Values in fewer steps of their quantization than these are coarse."""


@dataclass(frozen=True)
class Finding:
    """One warning.

    Attributes:
      kind: what is doubtful, as docs/quality.md explains it.
      value: name of the node of the float graph; "" of the data as a whole.
      module, source: where it is in the user's model.
      text: what is wrong, and what to do.
    """

    kind: str
    value: str
    module: str
    source: str
    text: str

    def __str__(self) -> str:
        where = place(self.module, self.source)
        return f"{self.text} (at {where})" if where else self.text


def finding_at(kind: str, value: Node, text: str) -> Finding:
    """Return a warning about a value of the float graph."""
    return Finding(kind, value.name, module_path(value), source_line(value), text)


def name_of(value: Node) -> str:
    """Return a readable name for a value of the float graph: "input `x`", "`relu_1`"."""
    return f"input `{value.name}`" if value.op == "placeholder" else f"`{value.name}`"


def interval(low: float, high: float) -> str:
    return f"[{low:.6g}, {high:.6g}]"


def of_many(findings: Sequence[Finding]) -> Finding:
    """Return the first of several warnings: a problem continues in values computed from it."""
    others = len(findings) - 1
    more = f"; likewise {others} other value{'s' if others > 1 else ''}" if others else ""
    return replace(findings[0], text=findings[0].text + more)
