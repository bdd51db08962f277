# SPDX-License-Identifier: Apache-2.0
"""Signal to noise."""

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
    """10 log10(signal / noise), within +-EQUAL_DB; None where there is no signal."""
    if signal <= 0.0:
        return None
    if noise <= 0.0:
        return EQUAL_DB
    return max(-EQUAL_DB, min(EQUAL_DB, 10.0 * math.log10(signal / noise)))


def power(values: torch.Tensor) -> float:
    """The sum of the squares."""
    return values.double().square().sum().item()


def in_decibels(value: float | None) -> str:
    """ "34.4 dB" for people."""
    if value is None:
        return "no signal"
    return "equal" if value >= EQUAL_DB else f"{value:.1f} dB"
