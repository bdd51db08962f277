# SPDX-License-Identifier: Apache-2.0
"""Flags of the comparison with the float model, for command lines."""

from __future__ import annotations

import math
from typing import cast

from absl import flags

from aot.accept.references import function, is_defined
from aot.options import Measure
from aot.quality.decibels import MIN_SQNR_DB
from aot.quality.evaluation import Evaluation
from aot.quality.metric import Metric
from aot.quality.quality import MIN_AGREEMENT

_EVALUATION = flags.DEFINE_string(
    "evaluation",
    None,
    "held-out data to measure on, pkg.module:function: yields inputs, or returns inputs [N, ...] "
    "and their classes [N]; by default `evaluation` of the model's module, if it exists",
)
_MIN_SQNR = flags.DEFINE_float(
    "min_sqnr",
    MIN_SQNR_DB,
    "lowest signal-to-quantization-noise ratio (SQNR) of each output, in dB",
)
_MIN_AGREEMENT = flags.DEFINE_float(
    "min_agreement",
    None,
    "lowest share of samples, in [0, 1], whose class equals the float model's; by default "
    f"{MIN_AGREEMENT} of the clear samples",
)
_MIN_PART_SQNR = flags.DEFINE_float(
    "min_part_sqnr", None, "lowest SQNR of each part of an output, in dB, such as a column"
)
_MIN_SAMPLE_SQNR = flags.DEFINE_float(
    "min_sample_sqnr", None, "lowest SQNR of nine of ten samples, in dB"
)
_MIN_SEQUENCE_SQNR = flags.DEFINE_float(
    "min_sequence_sqnr", None, "lowest SQNR of each sequence, in dB"
)
_METRIC = flags.DEFINE_string(
    "metric",
    None,
    "your own measure, pkg.module:function: of the outputs and the second item of the evaluation; "
    "larger is better",
)
_MIN_METRIC = flags.DEFINE_float("min_metric", None, "lowest metric of the lowered model")
_PER_OP = flags.DEFINE_bool(
    "per_op", True, "measure each value's quantization error alone, for the report"
)


def evaluation(model: str) -> Evaluation | None:
    """Return the held-out data; None where neither the flag nor the model's module has any.

    Args:
      model: "pkg.module:factory".
    """
    if _EVALUATION.value:
        return cast(Evaluation, function(_EVALUATION.value)())
    module, _, _ = model.rpartition(":")
    beside = f"{module}:evaluation"
    return cast(Evaluation, function(beside)()) if is_defined(beside) else None


def without_limits(held_out: Evaluation | None) -> Measure:
    """Return settings that accept every result, with held-out data and the metric."""
    return Measure(evaluation=held_out, min_sqnr=-math.inf, min_agreement=0.0, metric=_metric())


def _metric() -> Metric | None:
    return None if _METRIC.value is None else function(_METRIC.value, given=2)


def limits(held_out: Evaluation | None) -> Measure:
    """Return the settings of the flags, with held-out data."""
    return Measure(
        evaluation=held_out,
        min_sqnr=_MIN_SQNR.value,
        min_agreement=_MIN_AGREEMENT.value,
        min_part_sqnr=_MIN_PART_SQNR.value,
        min_sample_sqnr=_MIN_SAMPLE_SQNR.value,
        min_sequence_sqnr=_MIN_SEQUENCE_SQNR.value,
        metric=_metric(),
        min_metric=_MIN_METRIC.value,
        per_op=_PER_OP.value,
    )
