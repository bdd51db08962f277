# SPDX-License-Identifier: Apache-2.0
"""Signal-to-noise ratios in dB."""

from __future__ import annotations

import math

import torch

MIN_SQNR_DB = 10.0
"""Required SQNR of an output by default."""

ROUGH_DB = 25.0
"""An output below this is rough. Warnings on any value are then possible reasons."""

EQUAL_DB = 150.0
"""SQNR of two signals without a difference, or with one below the float32 resolution."""


def decibels(signal: float, noise: float) -> float | None:
    """Return 10 log10(signal / noise), limited to +-EQUAL_DB; None without a signal."""
    if signal <= 0.0:
        return None
    if noise <= 0.0:
        return EQUAL_DB
    return max(-EQUAL_DB, min(EQUAL_DB, 10.0 * math.log10(signal / noise)))


def power(values: torch.Tensor) -> float:
    """Return the sum of squares."""
    return values.double().square().sum().item()


def in_decibels(value: float | None) -> str:
    """Return a text such as "34.4 dB"."""
    if value is None:
        return "no signal"
    return "equal" if value >= EQUAL_DB else f"{value:.1f} dB"
