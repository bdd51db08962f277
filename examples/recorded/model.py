# SPDX-License-Identifier: Apache-2.0
"""Motions from recordings of a board: lines `REC x y z` of its console in recordings.txt."""

from collections.abc import Iterator
from pathlib import Path

import torch
from torch import nn

WINDOW, HELD_OUT = 64, 2


def factory() -> nn.Module:
    torch.manual_seed(0)  # load_state_dict(...) of your training run goes here
    return nn.Sequential(
        nn.Conv1d(3, 16, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(16, 4),
    ).eval()


def windows() -> torch.Tensor:
    text = (Path(__file__).parent / "recordings.txt").read_text()
    rows = [line.split()[1:] for line in text.splitlines() if line.startswith("REC ")]
    samples = torch.tensor([[float(number) for number in row] for row in rows]) / 64
    return samples.reshape(-1, WINDOW, 3).transpose(1, 2)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    yield from ((window[None],) for window in windows()[:-HELD_OUT])


def evaluation() -> Iterator[tuple[torch.Tensor, ...]]:
    yield from ((window[None],) for window in windows()[-HELD_OUT:])
