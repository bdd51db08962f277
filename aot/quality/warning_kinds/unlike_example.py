# SPDX-License-Identifier: Apache-2.0
"""Warning about calibration data that differ from the example, if the example is a real sample.

A typical error: images in 0..255 with an example in 0..1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from aot.dialect.graph import border_nodes
from aot.quality.finding import FEW_SAMPLES, Finding, finding_at, interval, name_of
from aot.quality.findings import NUMBERS
from aot.quality.subject import Subject

_BEYOND = 0.25
"""Warn if the example is outside of calibration's range by this share of it."""

_NARROW = 0.25
"""Warn if the example covers less than this share of the range of each calibration sample."""

_CHANCE = 1.63
"""Kolmogorov and Smirnov's limit, at 1 %, of the distance of distributions times the root of the
count."""


def find(subject: Subject) -> Iterator[Finding]:
    """Yield a finding for each input whose example is unlike every calibration sample.

    Constant or random examples are not compared.
    """
    seen = subject.seen
    if len(seen.inputs) < FEW_SAMPLES:
        return
    for i, node in enumerate(border_nodes(subject.quantized)[0]):
        values = subject.example[i]
        if values.dtype not in NUMBERS or _may_be_made_up(values):
            continue
        low, high = float(values.min()), float(values.max())
        ranges = [inputs[i] for inputs in seen.inputs]
        least, most = min(low for low, _ in ranges), max(high for _, high in ranges)
        beyond = max(least - low, high - most)
        narrowest = min(high - low for low, high in ranges)
        if beyond <= _BEYOND * (most - least) and high - low >= _NARROW * narrowest:
            continue
        yield finding_at(
            "unlike_example",
            node,
            f"{name_of(node)} is in {interval(low, high)} in the example, but in "
            f"{interval(least, most)} in the calibration samples. One of them differs from the "
            "device's input. Use the scale and normalisation of training for both",
        )


def _may_be_made_up(example: torch.Tensor) -> bool:
    """Return True if the example is constant, or may come from torch.randn or torch.rand."""
    values = example.flatten().double().sort().values
    if bool(values[0] == values[-1]):
        return True
    normal = 0.5 * (1.0 + torch.erf(values / math.sqrt(2.0)))
    limit = _CHANCE / math.sqrt(len(values))
    return any(_distance(share) < limit for share in (normal, values.clamp(0.0, 1.0)))


def _distance(shares: torch.Tensor) -> float:
    """Return the distance of sorted numbers from a distribution.

    `shares` are the distribution's shares below each of the numbers.
    """
    count = len(shares)
    steps = torch.arange(count + 1, dtype=shares.dtype) / count
    return float(torch.maximum(steps[1:] - shares, shares - steps[:-1]).max())
