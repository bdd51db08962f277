# SPDX-License-Identifier: Apache-2.0
"""A reason to doubt, and how its text names values and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from torch.fx import Node

from aot.errors import module_path, place, source_line

Kind = Literal[
    "few_samples",
    "same_samples",
    "not_held_out",
    "constant_input",
    "dead_input",
    "not_tflite",
    "absent_engine",
    "noise",
    "unlike_example",
    "unlike_training",
    "far_floor",
    "hidden_rows",
    "fast_path",
    "missed_lines",
    "lost_channels",
    "dead_range",
    "coarse_range",
    "stretched_range",
    "saturation",
    "flat_output",
    "one_class",
    "doubtful_labels",
    "endless_output",
]
"""As docs/quality.md explains them; not_tflite is of an imported .tflite file, absent_engine of an
engine that was left out."""

FEW_SAMPLES = 16
"""Fewer samples than these are too few to trust."""

FEW_STEPS = 16
"""Values in fewer steps of their quantization than these are coarse."""


@dataclass(frozen=True)
class Finding:
    """A reason to doubt.

    Attributes:
      kind: what is doubtful.
      value: name of the node of the float graph; "" of the data as a whole.
      module, source: where it is in the user's model.
      text: what is wrong, and what to do.
    """

    kind: Kind
    value: str
    module: str
    source: str
    text: str

    def __str__(self) -> str:
        where = place(self.module, self.source)
        return f"{self.text} (at {where})" if where else self.text


def finding_at(kind: Kind, value: Node, text: str) -> Finding:
    """A finding about a value of the float graph."""
    return Finding(kind, value.name, module_path(value), source_line(value), text)


def name_of(value: Node) -> str:
    """A value of the float graph for people: "input `x`", "`relu_1`"."""
    return f"input `{value.name}`" if value.op == "placeholder" else f"`{value.name}`"


def interval(low: float, high: float) -> str:
    return f"[{low:.6g}, {high:.6g}]"


def of_many(findings: Sequence[Finding]) -> Finding:
    """The first: what is wrong with one value goes on in those that are computed from it."""
    others = len(findings) - 1
    more = f"; likewise {others} other value{'s' if others > 1 else ''}" if others else ""
    return replace(findings[0], text=findings[0].text + more)
