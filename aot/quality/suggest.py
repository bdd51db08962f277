# SPDX-License-Identifier: Apache-2.0
"""What would make a lowered model better, by how much, and whether it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from aot.dialect.quantization import Quantization
from aot.errors import place
from aot.lower import Lowered
from aot.quality.decibels import EQUAL_DB, decibels, in_decibels
from aot.quality.findings import interval, name_of
from aot.quality.values import Sequences, Value, Values

_FINER = 0.8
"""A range is worth a change if what is seen of it is less than this share."""


@dataclass(frozen=True)
class Suggestion:
    """A change of one value's quantization.

    Attributes:
      kind: "precision": leave the value, and the weights of its op, in float, or make it int16;
        "range": give it the range that it has on the samples, by other calibration data or
        another observer.
      value: what to change.
      predicted_db: SQNR of the model's outputs with the change, from the noise of single values.
      measured_db: the same, from a run of the model that is quantized so.
      before_db: without the change.
    """

    kind: str
    value: Value
    predicted_db: float | None
    measured_db: float | None
    before_db: float | None

    def __str__(self) -> str:
        what, where = name_of(self.value.value), place(self.value.module, self.value.source)
        todo = f"{what} in float or int16"
        if self.kind == "range":
            held = interval(*self.value.limits)
            todo = f"{what} with the range {interval(*_seen(self.value))}, not {held}"
        return (
            f"{todo}: SQNR {in_decibels(self.before_db)} -> {in_decibels(self.measured_db)}, "
            f"predicted {in_decibels(self.predicted_db)}" + (f" (at {where})" if where else "")
        )


def suggest(lowered: Lowered, count: int = 3) -> list[Suggestion]:
    """The changes of single values that gain most, the best first.

    Args:
      lowered: a model whose values were measured (`per_op`).
      count: how many values to try changes of: those that cost most.
    """
    values = Values(lowered.quantized, lowered.floats, lowered.folded)
    samples = [(s, [x.contiguous() for x in xs]) for s, xs in lowered.quality.samples.samples]
    before = values.sqnr_db(samples)
    worst = lowered.quality.worst()[:count]
    found = [s for value in worst for s in _of(value, lowered, values, samples, before)]
    return sorted(found, key=lambda s: -(s.measured_db or 0.0))


def _of(
    value: Value, lowered: Lowered, values: Values, samples: Sequences, before: float | None
) -> Iterator[Suggestion]:
    total = sum(v.noise_to_signal or 0.0 for v in lowered.quality.values)
    own = value.noise_to_signal or 0.0
    # What only moves the value has its quantization, and no noise of its own.
    alike = [v for v in lowered.quality.values if v.quantization == value.quantization]
    kept = {value.name} | {v.name for v in alike if not v.noise_to_signal}
    predicted = _predicted(before, total, total - own)
    yield Suggestion("precision", value, predicted, values.sqnr_db(samples, kept), before)
    (low, high), (least, greatest) = _seen(*alike), value.limits
    if low < high and (high - low < _FINER * (greatest - least)):
        share = ((high - low) / (greatest - least)) ** 2
        saved = sum(v.noise_to_signal or 0.0 for v in alike) * (1.0 - share)
        other = {value.quantization: _quantization(low, high, value.quantization)}
        yield Suggestion(
            "range",
            replace(value, low=low, high=high),
            _predicted(before, total, total - saved),
            values.sqnr_db(samples, other=other),
            before,
        )


def _predicted(before: float | None, total: float, left: float) -> float | None:
    """SQNR where of the single values' noise some is left."""
    gain = decibels(total, left)
    return None if before is None or gain is None else min(EQUAL_DB, before + gain)


def _seen(*values: Value) -> tuple[float, float]:
    """The range of values of one quantization on the samples, with zero in it."""
    return min(0.0, *(v.low for v in values)), max(0.0, *(v.high for v in values))


def _quantization(low: float, high: float, like: Quantization) -> Quantization:
    """Of a range, as an observer of the least and the greatest makes it."""
    kind = like.type
    scale = (high - low) / (kind.quant_max - kind.quant_min)
    return Quantization(scale, 0 if kind.symmetric else kind.quant_min - round(low / scale), kind)
