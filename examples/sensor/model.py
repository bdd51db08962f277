# SPDX-License-Identifier: Apache-2.0
"""Classifier for a window of 64 samples of a 3-axis accelerometer."""

from collections.abc import Iterator

import torch
from torch import nn


def factory() -> nn.Module:
    torch.manual_seed(0)  # load_state_dict(...) of your training run goes here
    return nn.Sequential(
        nn.Conv1d(3, 12, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv1d(12, 16, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(16, 4),
    ).eval()


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    time = torch.arange(64) / 64
    for _ in range(32):  # recordings go here
        turns, phase, swing = torch.rand(3, 3, 1, generator=generator)
        yield (torch.sin(2 * torch.pi * (8 * turns * time + phase))[None] * swing,)
