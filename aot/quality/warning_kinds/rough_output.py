# SPDX-License-Identifier: Apache-2.0
"""Warning about outputs far from float without saturation.

It names the op with the largest loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torch.fx import Node

from aot.errors import place
from aot.quality.decibels import ROUGH_DB, in_decibels
from aot.quality.finding import Finding, finding_at, name_of
from aot.quality.nodes import root_of
from aot.quality.subject import Subject
from aot.quality.value import MeasuredValue

_LOSS_DB = 10.0
"""An op loses accuracy if its result has so much less than its least accurate input."""


def find(subject: Subject) -> Iterator[Finding]:
    """Yield a finding for each rough output.

    A row of classes counts only if an op loses accuracy.
    """
    nodes = {node.name: node for node in subject.floats.graph.nodes}
    cause = _cause(subject)
    advice = cause or (
        "`quality.values` in the report has the layer that costs most; `--suggest` tries changes"
    )
    for output in subject.outputs:
        if output.is_rough and (cause or output.class_dim is None):
            text = (
                f"{name_of(nodes[output.name])} has {in_decibels(output.sqnr_db)} against float, "
                f"less than the {ROUGH_DB:.0f} dB of most int8 models. {advice}"
            )
            yield finding_at("rough_output", nodes[output.name], text)


def _cause(subject: Subject) -> str:
    """Return the name of the op with the largest loss; "" if there is none."""
    known = {v.value: v for v in subject.values if v.sqnr_db is not None}
    found = [(loss, value) for value in known.values() if (loss := _loss(value, known))]
    if not found:
        return ""
    loss, value = max(found, key=lambda item: item[0])
    where = place(value.module, value.source)
    return (
        f"{name_of(value.value)}{f' at {where}' if where else ''} loses {loss:.0f} dB: it is steep "
        "there, or takes the difference of nearly equal values. Keep its input away from such a "
        "place, or run its layer and those before it in int16 or float32"
    )


def _loss(value: MeasuredValue, known: Mapping[Node, MeasuredValue]) -> float:
    """Return the loss in dB from the inputs of a rough value to the value; 0 if it is small."""
    before = [db for v in _read_by(value.value, known) if (db := v.sqnr_db) is not None]
    after = value.sqnr_db
    if after is None or after >= ROUGH_DB or not before:
        return 0.0
    loss = min(before) - after
    return loss if loss >= _LOSS_DB else 0.0


def _read_by(node: Node, known: Mapping[Node, MeasuredValue]) -> Iterator[MeasuredValue]:
    """Yield the nearest values on the device before a node."""
    pending, seen = list(node.all_input_nodes), set[Node]()
    while pending:
        root = root_of(pending.pop())
        if root in known:
            yield known[root]
        elif root not in seen:
            seen.add(root)
            pending += root.all_input_nodes
