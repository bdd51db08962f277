# SPDX-License-Identifier: Apache-2.0
"""Warnings about ranges unsuited to the samples of the measurement."""

from __future__ import annotations

from collections.abc import Sequence

from aot.quality.finding import FEW_STEPS, Finding, finding_at, interval, name_of, of_many
from aot.quality.outputs import Output
from aot.quality.value import MeasuredValue


def of_values(
    values: Sequence[MeasuredValue], outputs: Sequence[Output], samples: str
) -> list[Finding]:
    """Return warnings about saturating inputs and outputs, and inputs using few steps.

    If outputs are rough, saturating values inside the model are included.

    Args:
      values: measured.
      outputs: of the model.
      samples: description of the measured samples, for messages.
    """
    names = {output.name for output in outputs}
    border = [v for v in values if v.saturates and (v.is_input or v.value.name in names)]
    found = [_saturated(value, samples) for value in border]
    if any(output.is_rough for output in outputs):
        said = {v.quantization for v in border}  # also for ops that only move them
        inside = [v for v in values if v.saturates and v.quantization not in said]
        inside = [v for v in inside if not v.is_filled]
        found += [of_many([_saturated(value, samples) for value in inside])] if inside else []
    return found + [
        finding_at(
            "coarse_range",
            value.value,
            f"{name_of(value.value)} is in {interval(value.low, value.high)} on {samples}: only "
            f"{(value.high - value.low) / value.quantization.scale:.1f} steps of "
            f"{value.quantization.type}, whose range from calibration is "
            f"{interval(*value.limits)}. Normalise both as on the device",
        )
        for value in values
        if value.is_input and 0.0 < value.high - value.low < FEW_STEPS * value.quantization.scale
    ]


def _saturated(value: MeasuredValue, samples: str) -> Finding:
    return finding_at(
        "saturation",
        value.value,
        f"{value.clipped_share:.1%} of {name_of(value.value)} saturates on {samples}: it is in "
        f"{interval(value.low, value.high)}, but {value.quantization.type} holds "
        f"{interval(*value.limits)}. Calibrate with samples that cover the device's inputs",
    )
