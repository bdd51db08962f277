# SPDX-License-Identifier: Apache-2.0
"""A small classifier without errors in float, and calibration data of good or bad
quality for it.
"""

from __future__ import annotations

import functools
import math

import torch
from torch import nn

from aot.testing.fixtures import samples

Samples = list[tuple[torch.Tensor, ...]]


def recordings(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return recordings of four gestures, waves of different frequency along different axes, and
    their classes.
    """
    generator = torch.Generator().manual_seed(seed)
    classes = torch.randint(0, 4, (count,), generator=generator)
    frequency = torch.tensor([1.0, 2.0, 3.0, 5.0])[classes][:, None, None]
    phase, size = (torch.rand(count, 1, 1, generator=generator) for _ in range(2))
    wave = torch.sin(2 * math.pi * (frequency * torch.arange(64) / 64 + phase))
    axes = (0.3 + torch.eye(3)[classes % 3])[:, :, None]
    noise = 0.1 * torch.randn(count, 3, 64, generator=generator)
    return 4 * ((0.5 + size) * axes * wave + noise), classes


@functools.cache
def gesture() -> nn.Module:
    """Return the network of examples/gesture, trained until it makes no mistake."""
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv1d(3, 16, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv1d(16, 24, 3, stride=2, padding=1),
        nn.Hardswish(),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(24, 4),
    )
    inputs, classes = recordings(256, seed=0)
    optimizer = torch.optim.Adam(network.parameters(), 0.02)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(inputs), classes).backward()
        optimizer.step()
    return nn.Sequential(*network, nn.Softmax(dim=-1)).eval()


def good() -> Samples:
    return [(x,) for x in torch.split(recordings(64, seed=1)[0], 1)]


def one_outlier() -> Samples:
    data = good()
    data[17][0][0, 1, 30] = 2000.0
    return data


def noise() -> Samples:
    return [(0.1 * x,) for (x,) in samples((1, 3, 64), count=64)]


def zeros() -> Samples:
    return [(torch.zeros(1, 3, 64),)] * 64


def mostly_zeros() -> Samples:
    return [*good()[:3], *zeros()[:61]]


def with_a_far_floor() -> Samples:
    """Return samples. Every eighth value is the logarithm of nearly zero."""
    data = good()
    for (x,) in data:
        x[..., ::8] = -87.5
    return data


def with_a_dead_channel() -> Samples:
    """Return samples with an unconnected sensor."""
    return [(x * torch.tensor([1.0, 0.0, 1.0])[:, None],) for (x,) in good()]


def of_different_scale() -> Samples:
    return [(x * torch.tensor([1e-3, 1.0, 1e3])[:, None],) for (x,) in good()]
