# SPDX-License-Identifier: Apache-2.0
"""Detects random numbers from torch among samples."""

from __future__ import annotations

import math

import torch

_ELEMENTS = 256
"""Minimum number of elements to detect noise, except the values of torch.rand."""

_NORMAL_ELEMENTS = 1000
"""Minimum number of elements to detect torch.randn. Features whitened by a principal component
analysis look similar.
"""

_COMPARED = 64
"""Upper limit for the elements of a sample compared with each other."""

_SAMPLES = 16
"""Minimum number of samples for that comparison."""

_RARITY = 8.0
"""Spectral peaks count as tones if noise has them only once in exp(8) inputs."""

_RAND_BITS = 24
"""torch.rand returns multiples of 2^-24."""

_SMALL = 32
"""Required count of numbers below one half. Those of a sensor would have more bits."""


def noise_maker(samples: torch.Tensor) -> str:
    """Return the torch function that makes such values, or "" if they are not white noise.

    A value looks like noise under two conditions. Its mean, its kurtosis, the product with its
    neighbour and the correlations between elements are as expected, within four standard
    deviations. Its spectrum is flat.

    Args:
      samples: of an input, one after another, [samples, *shape].
    """
    values = samples.flatten()
    for maker, drawn in (("torch.rand", values), ("2 * torch.rand - 1", (values + 1.0) / 2.0)):
        if _is_of_rand(drawn):
            return maker
    count, deviation = values.numel(), values.std(correction=0)
    if count < _ELEMENTS or not bool(deviation > 0.0) or _are_correlated(samples):
        return ""
    if _has_tones(values[None]) or _has_tones(samples.flatten(1)):
        return ""
    mean = values.mean() / deviation
    centred = values / deviation - mean
    neighbours = (centred[1:] * centred[:-1]).mean().item()
    kurtosis = centred.pow(4).mean().item()
    # A sine's ends are at sqrt(2) deviations, those of a uniform distribution at sqrt(3).
    least_end = math.sqrt(3.0) * (1.0 - 20.0 / count) * (1.0 - 4.0 * math.sqrt(0.2 / count))
    is_short = bool(centred.max() - centred.min() < 2.0 * least_end)
    for maker, least, expected, fourth, eighth in (
        ("torch.randn", _NORMAL_ELEMENTS, 0.0, 3.0, 105.0),
        ("torch.rand", _ELEMENTS, math.sqrt(3.0), 1.8, 9.0),
        ("2 * torch.rand - 1", _ELEMENTS, 0.0, 1.8, 9.0),
    ):
        error = 4.0 / math.sqrt(count)
        is_mean = abs(mean.item() - expected) < error
        is_tail = abs(kurtosis - fourth) < error * math.sqrt(eighth - fourth**2)
        is_wide = maker == "torch.randn" or not is_short
        if count >= least and is_mean and is_tail and is_wide and abs(neighbours) < error:
            return maker
    return ""


def _is_of_rand(values: torch.Tensor) -> bool:
    """Return True if all numbers are in [0, 1) and have torch.rand's bits.

    Smaller numbers from other sources have more bits, and those of a converter have fewer.
    """
    if not bool(((values >= 0.0) & (values < 1.0)).all()):
        return False
    small = values[values < 0.5].double() * 2.0**_RAND_BITS
    if len(small) < _SMALL or bool((small != small.round()).any()):
        return False
    return bool((small.remainder(2.0) == 1.0).double().mean() > 0.25)


def _has_tones(rows: torch.Tensor) -> bool:
    """Return True if the mean spectrum of the rows has a peak. White noise has none.

    Powers of white noise are exponential. The mean of n exceeds the expected value by a factor of 1
    + sqrt(2 u / n) + u / n with a probability of at most exp(-u).
    """
    count, length = rows.shape
    if length < 4:
        return False
    powers = torch.fft.rfft(rows.double() - rows.double().mean(), dim=1).abs().square()
    powers = powers[:, 1 : (length + 1) // 2].mean(0)
    rarity = math.log(len(powers)) + _RARITY
    bound = 1.0 + math.sqrt(2.0 * rarity / count) + rarity / count
    return bool(powers.max() > bound * powers.mean())


def _are_correlated(samples: torch.Tensor) -> bool:
    """Return True if the first elements of a sample are correlated beyond chance."""
    count = len(samples)
    rows = samples.reshape(count, -1)[:, :_COMPARED].double()
    rows = rows[:, rows.std(0) > 0.0] if count >= _SAMPLES else rows[:, :0]
    size = rows.shape[1]
    if size < 2:
        return False
    pairs = size * (size - 1) / 2
    together = (torch.corrcoef(rows.T).square().sum().item() - size) / 2
    return together / pairs > (1.0 + 4.0 * math.sqrt(2.0 / pairs)) / (count - 1)
