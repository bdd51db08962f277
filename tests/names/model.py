# SPDX-License-Identifier: Apache-2.0
"""A small model."""

from collections.abc import Iterator

import torch
from torch import nn


def factory() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 4), nn.ReLU()).eval()


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    for _ in range(8):
        yield (torch.randn(1, 8, generator=generator),)
