# SPDX-License-Identifier: Apache-2.0
"""Warning about steep or stepped int16 functions: lines between 513 points miss the steps."""

from __future__ import annotations

from aot.quality.finding import Finding
from aot.quality.subject import Subject
from kernels.lut.op import MISSED

_STEPS = 256
"""Int16 steps in one int8 step of the same range; int8 tables have an entry for every value."""


def find(subject: Subject) -> list[Finding]:
    """Return a finding for each function that is more accurate in int8 at some points."""
    found = []
    for node in subject.folded.graph.nodes:
        steps = node.meta.get(MISSED)
        if steps is None or int(steps.max()) <= _STEPS:
            continue
        origin = node.meta["origin"]
        ops = " and ".join(op.removeprefix("aten.") for op in origin.ops)
        text = (
            f"{ops} in int16 is straight lines between 513 places, and jumps or is steep between "
            f"two: for {(steps > _STEPS).float().mean():.2%} of the numbers that int16 has, the "
            f"result is off by more than a step of int8, by up to {int(steps.max()) / 2**16:.1%} "
            "of its range; int8 and float32 have no such lines, also for its layer alone"
        )
        found.append(Finding("missed_lines", "", origin.module, origin.source, text))
    return found
