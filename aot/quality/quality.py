# SPDX-License-Identifier: Apache-2.0
"""Quality of a lowered model: measurement, limits, and content of reports."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any

from aot.errors import LoweringError, Problem, describe, place
from aot.quality.decibels import MIN_SQNR_DB, decibels, in_decibels
from aot.quality.evaluation import HeldOut
from aot.quality.finding import Finding, interval, name_of
from aot.quality.metric import MetricResult
from aot.quality.outputs import Output
from aot.quality.tally import PartQuality, Spread
from aot.quality.value import MeasuredValue

MIN_AGREEMENT = 0.9

_SHOWN = 5
"""Number of values listed in a message."""

_PARTS = 64
"""Upper limit for the parts of an output in a report."""

_CLASSES = 40
"""Upper limit for the classes of a confusion matrix. A larger one is unreadable."""


@dataclass(frozen=True)
class Limits:
    """Required quality of a lowered model.

    Attributes:
      min_sqnr: of each output, dB.
      min_agreement: the share of classes that agree with the float model's; None:
        MIN_AGREEMENT of those that are clear for the float model, unless only one is
        wrong.
      min_part_sqnr: of each part of an output that varies (aot/quality/parts.py), dB.
      min_sample_sqnr: of nine of ten samples, dB.
      min_sequence_sqnr: of each sequence, dB.
      min_metric: of the user's metric.

    Raises:
      LoweringError: the numbers are invalid.
    """

    min_sqnr: float = MIN_SQNR_DB
    min_agreement: float | None = None
    min_part_sqnr: float | None = None
    min_sample_sqnr: float | None = None
    min_sequence_sqnr: float | None = None
    min_metric: float | None = None

    def __post_init__(self) -> None:
        if not _is_number(self.min_sqnr) or math.isnan(self.min_sqnr):
            raise LoweringError(
                "min_sqnr must be a number of decibels, or -inf for no limit; got "
                f"{self.min_sqnr!r}."
            )
        for name in ("min_part_sqnr", "min_sample_sqnr", "min_sequence_sqnr", "min_metric"):
            given = getattr(self, name)
            if given is not None and (not _is_number(given) or math.isnan(given)):
                raise LoweringError(f"{name} must be a number, or None; got {given!r}.")
        share = self.min_agreement
        if share is not None and not (_is_number(share) and 0.0 <= share <= 1.0):
            raise LoweringError(f"min_agreement must be a share in [0, 1]; got {share!r}.")


def _is_number(given: object) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool)


@dataclass(frozen=True, repr=False)
class Quality:
    """Measured quality.

    Attributes:
      samples: the measured samples.
      outputs: of the model.
      values: quantized ones; empty if they were not measured.
      findings: warnings.
      limits: the requested ones.
      metric: the user's, of both models; None without one.
    """

    samples: HeldOut
    outputs: Sequence[Output]
    values: Sequence[MeasuredValue]
    findings: Sequence[Finding]
    limits: Limits
    metric: MetricResult | None = None

    def __repr__(self) -> str:
        return "; ".join(self.lines() + [f"{len(self.findings)} warnings"])

    @property
    def mean_sqnr_db(self) -> float | None:
        """Return the SQNR of the outputs' mean noise; None if no output has one."""
        noises = [10 ** (-o.sqnr_db / 10) for o in self.outputs if o.sqnr_db is not None]
        return decibels(1.0, sum(noises) / len(noises)) if noises else None

    @property
    def accuracy(self) -> tuple[float, float] | None:
        """Share of correct classes in float and in int8. None without labels."""
        chosen = [output for output in self.outputs if output.is_class]
        if self.samples.labels is None or not chosen:
            return None
        return chosen[0].accuracy(self.samples.labels)

    @property
    def confusion(self) -> list[list[int]] | None:
        """Output.confusion of the output with labels."""
        chosen = [output for output in self.outputs if output.is_class]
        if self.samples.labels is None or not chosen:
            return None
        return chosen[0].confusion(self.samples.labels, _CLASSES)

    def failures(self) -> list[str]:
        """Return the missed limits, one line each."""
        failed = [line for output in self.outputs for line in _failures(output, self.limits)]
        failed += [line for output in self.outputs for line in _lost(output, self.limits)]
        least = self.limits.min_metric
        if self.metric is not None and least is not None and self.metric.int8 < least:
            failed.append(
                f"{self.metric.name} is {self.metric.int8:.4g} ({self.metric.float32:.4g} in "
                f"float32), min_metric is {least:g}"
            )
        return failed

    def check(self) -> None:
        """Raise LoweringError if a limit is missed, with the largest losses and possible remedies.

        Also raise it if the calibration data are useless and the only data measured on.
        """
        failures = self.failures()
        dead = [finding for finding in self.findings if finding.kind == "dead_input"]
        is_blind = not self.samples.is_held_out and self.limits.min_sqnr > -math.inf
        if dead and is_blind and not failures:
            raise LoweringError(
                "\n".join(
                    [
                        "int8 was measured on calibration samples only, and these hold no real "
                        "data:",
                        *(f"  {finding}" for finding in dead),
                        "  To lower it anyway, set min_sqnr=-inf, or pass held-out samples on "
                        "which it is near to float.",
                    ]
                )
            )
        if not failures:
            return
        helps = [f"  try: {finding}" for finding in self.findings] or [
            "  try: more calibration samples like those of the device; "
            "equalize=True, if the channels of a value differ in scale; the layers below in "
            "int16 or float32, or with another observer"
        ]
        raise LoweringError(
            "\n".join(
                [
                    f"int8 is too far from float on {self.samples}:",
                    *(f"  {line}" for line in failures),
                    *helps,
                    "  to lower it anyway: min_sqnr=-inf, min_agreement=0, or limits that you can "
                    "accept; --suggest then prints better settings",
                    "values with the largest loss:",
                ]
            ),
            [_problem(value) for value in self.worst()],
        )

    def worst(self) -> list[MeasuredValue]:
        """Return the values whose quantization alone loses most, the worst first."""
        measured = [value for value in self.values if value.noise_to_signal]
        return sorted(measured, key=lambda v: -(v.noise_to_signal or 0.0))[:_SHOWN]

    def lines(self) -> list[str]:
        """Return readable lines: one for each output, then the accuracy."""
        rows = [f"{o}: {o.distance}, on {self.samples}" for o in self.outputs]
        if self.accuracy is not None:
            float32, int8 = self.accuracy
            rows.append(f"accuracy {float32:.2%} in float32, {int8:.2%} in int8")
        if self.metric is not None:
            name, float32, int8 = self.metric.name, self.metric.float32, self.metric.int8
            rows.append(f"{name} {float32:.4g} in float32, {int8:.4g} in int8")
        return rows

    def json(self, ids: Mapping[str, str]) -> dict[str, Any]:
        """Return the fields of report.schema.json.

        Args:
          ids: of ops, by the name of the quantize node for their value.
        """
        accuracy = self.accuracy
        return {
            "samples": len(self.samples.samples),
            "samples_of": self.samples.total or len(self.samples.samples),
            "held_out": self.samples.is_held_out,
            "min_sqnr": self.limits.min_sqnr if math.isfinite(self.limits.min_sqnr) else None,
            "min_agreement": self.limits.min_agreement,
            "outputs": [
                {
                    "name": output.name,
                    "sqnr_db": _rounded(output.sqnr_db, 2),
                    "cosine": _rounded(output.cosine, 6),
                    "agreement": _rounded(output.agreement, 6),
                    "parts": [
                        {
                            "name": part.name,
                            "sqnr_db": _rounded(part.sqnr_db, 2),
                            "varying_db": _rounded(part.varying_db, 2),
                        }
                        for part in _worst_parts(output)
                    ],
                    "by_sample": _spread(output.tally.by_sample()),
                    "by_sequence": _spread(output.tally.by_sequence()),
                }
                for output in self.outputs
            ],
            "metric": self.metric and asdict(self.metric),
            "accuracy": accuracy and {"float32": accuracy[0], "int8": accuracy[1]},
            "confusion": self.confusion,
            "values": [
                _row(value, ids.get(value.name, ""))
                for value in self.values
                if value.name in ids or value.is_input
            ],
        }


def _failures(output: Output, limits: Limits) -> list[str]:
    failed = []
    sqnr, agreement, clear = output.sqnr_db, output.agreement, output.clear_agreement
    if sqnr is not None and sqnr < limits.min_sqnr:
        failed.append(f"{output}: SQNR {sqnr:.1f} dB, min_sqnr is {limits.min_sqnr}")
    if agreement is None:
        return failed
    named = f"{output}: its class is the float model's in {agreement:.1%}"
    if limits.min_agreement is not None:
        if agreement < limits.min_agreement:
            failed.append(f"{named}, min_agreement is {limits.min_agreement}")
    elif output.is_exact and not output.is_choice:  # the places of equal numbers have no order
        if agreement < 1.0:
            failed.append(
                f"{output}: its integers are the model's in {agreement:.1%}; "
                "no float is on the way, so all must be"
            )
    elif clear is not None:
        count, same = clear
        if count - same > 1 and same < MIN_AGREEMENT * count:
            sure = f", in {same} of {count} that the float model is sure of"
            failed.append(f"{named}{sure}; min_agreement is {MIN_AGREEMENT}")
    elif _is_unlike(output, agreement, limits):
        failed.append(
            f"{output}: its integers are the float model's in {agreement:.1%}, "
            f"min_agreement is {MIN_AGREEMENT}; as numbers they vary by "
            f"{in_decibels(output.varying_db)} more than they are off, min_sqnr is "
            f"{limits.min_sqnr}"
        )
    return failed


def _lost(output: Output, limits: Limits) -> Iterator[str]:
    """Yield the missed limits of parts, samples and sequences."""
    tally = output.tally
    least = limits.min_part_sqnr
    for part in tally.by_part() if least is not None else ():
        if least is not None and part.varying_db is not None and part.least_db < least:
            yield f"{output}: {part.name} has {part.least_db:.1f} dB, min_part_sqnr is {least:g}"
    samples, least = tally.by_sample(), limits.min_sample_sqnr
    if samples is not None and least is not None and samples.decile < least:
        yield (
            f"{output}: one sample of ten has {samples.decile:.1f} dB or less, sample "
            f"{samples.index} {samples.worst:.1f} dB, min_sample_sqnr is {least:g}"
        )
    sequences, least = tally.by_sequence(), limits.min_sequence_sqnr
    if sequences is not None and least is not None and sequences.worst < least:
        yield (
            f"{output}: sequence {sequences.index} has {sequences.worst:.1f} dB, "
            f"min_sequence_sqnr is {least:g}"
        )


def _worst_parts(output: Output) -> Sequence[PartQuality]:
    """Return an output's parts; of many the worst, in order."""
    parts = output.tally.by_part()
    if len(parts) <= _PARTS:
        return parts
    worst = sorted(parts, key=lambda part: part.least_db)[:_PARTS]
    return sorted(worst, key=lambda part: part.index)


def _spread(found: Spread | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "median_db": round(found.median, 2),
        "decile_db": round(found.decile, 2),
        "worst_db": round(found.worst, 2),
        "worst": found.index,
    }


def _is_unlike(output: Output, agreement: float, limits: Limits) -> bool:
    """Return True if integers are neither equal nor close to the float model's.

    This is only for integers without a measure of how clear the float model's choice is.
    """
    varying = output.varying_db
    is_near = varying is None or varying >= limits.min_sqnr
    return output.several_differ and agreement < MIN_AGREEMENT and not is_near


def _problem(value: MeasuredValue) -> Problem:
    kind, step = value.quantization.type, value.quantization.scale
    held = f"{kind} holds {interval(*value.limits)} in steps of {step:.3g}"
    seen = f"it is in {interval(value.low, value.high)}"
    clipped = f", {value.clipped_share:.1%} is clipped" if value.clipped else ""
    return Problem(
        op=name_of(value.value),
        shape=describe(value.value.meta["val"]),
        where=place(value.module, value.source),
        reason=f"SQNR {in_decibels(value.alone_db)} with it alone quantized; {held}, "
        f"{seen}{clipped}",
    )


def _row(value: MeasuredValue, op_id: str) -> dict[str, Any]:
    return {
        "id": op_id,
        "name": value.value.name,
        "module": value.module,
        "source": value.source,
        "sqnr_db": _rounded(value.sqnr_db, 2),
        "alone_db": _rounded(value.alone_db, 2),
        "low": float(f"{value.low:.6g}"),
        "high": float(f"{value.high:.6g}"),
        "clipped": _rounded(value.clipped_share, 6),
        "histogram": value.histogram,
    }


def _rounded(number: float | None, digits: int) -> float | None:
    return None if number is None else round(number, digits)
