# SPDX-License-Identifier: Apache-2.0
"""Warning about values that often contain one number far from all other numbers.

Typical causes are mask sentinels and the logarithm of nearly zero.
"""

from __future__ import annotations

from collections.abc import Iterator

from aot.errors import module_path, source_line
from aot.quality.finding import Finding, interval, name_of
from aot.quality.subject import Subject
from aot.quality.value import End, MeasuredValue

_FAR = 4.0
"""A number is far from the others at this multiple of the range they need."""

_FEW_STEPS = 64
"""Elements within fewer steps are coarse if one other number takes the rest of the range."""

_LOST_STEPS = 8
"""The same for an output, independent of its SQNR: the far number dominates that SQNR."""


def find(subject: Subject) -> Iterator[Finding]:
    """Yield a finding for each value, except inputs, with a number far from all others."""
    rough = any(o.is_rough for o in subject.outputs)
    outputs = {o.name for o in subject.outputs}
    for value in subject.values:
        limit = _FEW_STEPS if rough else _LOST_STEPS if value.value.name in outputs else 0
        if value.is_input or not limit:
            continue
        for end, other in ((value.least, value.largest), (value.largest, value.least)):
            if _is_far(value, end, other, limit):
                low, high = sorted((end.next, other.at))
                steps = (high - low) / value.quantization.scale
                yield Finding(
                    "far_floor",
                    value.value.name,
                    module_path(value.value),
                    source_line(value.value),
                    f"{end.count / value.elements:.1%} of {name_of(value.value)} is {end.at:.6g} "
                    f"on {subject.described}; all else is within {interval(low, high)}, "
                    f"only {steps:.1f} steps of the wide range. Fill with a number nearer to the "
                    "others, or clamp there",
                )


def _is_far(value: MeasuredValue, end: End, other: End, limit: int) -> bool:
    """Return True if an end is one unclipped number far from all other elements."""
    low, high = value.limits
    step = value.quantization.scale
    is_held = low - step <= end.at <= high + step
    spread, reach = abs(other.at - end.next), abs(other.at - end.at)
    # Two numbers, as in a mask, need no steps between them. The value 1 may be a certain class.
    is_many = end.count > 1 and spread > 0.0 and abs(end.at) > 1.0
    return is_many and is_held and spread < limit * step and reach >= _FAR * spread
