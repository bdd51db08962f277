# SPDX-License-Identifier: Apache-2.0
"""A change of a lowered model's settings, with its gain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aot.errors import place
from aot.quality.decibels import in_decibels
from aot.quality.finding import interval, name_of
from aot.quality.value import MeasuredValue

EQUALIZE = "equalize"
WHOLE = "whole"


@dataclass(frozen=True)
class Suggestion:
    """Change of one layer's quantization, or of one value's range.

    Attributes:
      kind: "range": give the value its range on the samples, by other calibration data or
        another observer; a setting of `quantization`: "int16", "float32", "int8w4g32"; or
        "equalize" and "whole", for the whole model, with the most costly value.
      value: the value to change. A setting changes all values of its layer; of an input,
        all readers.
      predicted_db: SQNR of the model's outputs with the change, from the noise of single
        values; None if that gives no answer.
      measured_db: the same, from a run of the model with this quantization.
      before_db: SQNR without the change.
      setting: for `quantization`, by layer or function; empty if the change has none.
      changes: settings of `Quantize` for the whole model.
      saved_bytes: saved bytes of weights.
      lowered_db: mean SQNR of the outputs of the model lowered again, on all samples;
        None if it was not lowered again.
      lowered_from_db: the same without the change.
    """

    kind: str
    value: MeasuredValue
    predicted_db: float | None
    measured_db: float | None
    before_db: float | None
    setting: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)
    saved_bytes: int = 0
    lowered_db: float | None = None
    lowered_from_db: float | None = None

    @property
    def gain_db(self) -> float:
        """Return the gain measured by lowering, or else by the run."""
        before, after = self.before_db, self.measured_db
        if self.lowered_db is not None:
            before, after = self.lowered_from_db, self.lowered_db
        return 0.0 if after is None or before is None else after - before

    def __str__(self) -> str:
        what, where = name_of(self.value.value), place(self.value.module, self.value.source)
        held = interval(*self.value.limits)
        todo = f"{what} with the range {interval(*seen_range(self.value))}, not {held}"
        if self.setting:
            todo = f"quantization={json.dumps(dict(self.setting))}"
        parts = []
        if self.kind == EQUALIZE:
            todo = "equalize=True"
        elif self.kind == WHOLE:
            every = [f"{name}={json.dumps(value)}" for name, value in self.changes.items()]
            every = [text.replace("=true", "=True") for text in every]
            todo = ", ".join([*every, *([todo] if self.setting else [])])
        else:
            parts = [f"SQNR {in_decibels(self.before_db)} -> {in_decibels(self.measured_db)}"]
        if self.predicted_db is not None:
            parts.append(f"predicted {in_decibels(self.predicted_db)}")
        if self.lowered_db is not None:
            before = in_decibels(self.lowered_from_db)
            parts.append(f"lowered so {before} -> {in_decibels(self.lowered_db)}")
        if self.saved_bytes:
            more = "less" if self.saved_bytes > 0 else "more"
            parts.append(f"{abs(self.saved_bytes):,} bytes {more}")
        return f"{todo}: {', '.join(parts)}" + (f" (at {where})" if where else "")


def seen_range(*values: MeasuredValue) -> tuple[float, float]:
    """The range of values of one quantization on the samples, with zero in it."""
    return min(0.0, *(v.low for v in values)), max(0.0, *(v.high for v in values))
