# SPDX-License-Identifier: Apache-2.0
"""DS-CNN of MLPerf Tiny's keyword spotting, seeded weights.

Input float32 [1, 1, 49, 10]: 49 frames of 10 MFCC features; output float32 [1, 12], probabilities.
Layers as in the reference (mlcommons/tiny, keyword_spotting/keras_model.py, "ds_cnn"): biases
before BatchNorm, TensorFlow's SAME padding, 4 above and 5 below for the 10x4 filter of stride 2.
"""

from collections.abc import Iterator

import torch
from torch import nn

from aot.models.seeded import seed_weights, spectrograms

CHANNELS = 64
BATCH_NORM_EPS = 1e-3  # Keras' default.


def separable() -> list[nn.Module]:
    """Return a depthwise 3x3 and a pointwise convolution, each with BatchNorm and ReLU."""
    return [
        nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, groups=CHANNELS),
        nn.BatchNorm2d(CHANNELS, eps=BATCH_NORM_EPS),
        nn.ReLU(),
        nn.Conv2d(CHANNELS, CHANNELS, 1),
        nn.BatchNorm2d(CHANNELS, eps=BATCH_NORM_EPS),
        nn.ReLU(),
    ]


class DsCnn(nn.Module):
    """24,908 parameters with the moving statistics, 2,656,768 MACs."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.ZeroPad2d((1, 1, 4, 5)),
            nn.Conv2d(1, CHANNELS, (10, 4), stride=2),
            nn.BatchNorm2d(CHANNELS, eps=BATCH_NORM_EPS),
            nn.ReLU(),
            nn.Dropout(0.2),
            *(layer for _ in range(4) for layer in separable()),
            nn.Dropout(0.4),
            nn.AvgPool2d((25, 5)),
            nn.Flatten(),
        )
        self.classifier = nn.Linear(CHANNELS, 12)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        probabilities: torch.Tensor = self.softmax(self.classifier(self.features(features)))
        return probabilities


def mfcc(count: int, seed: int) -> torch.Tensor:
    """Return inputs, float32 [count, 1, 49, 10]."""
    return spectrograms(count, 49, 10, mean=-10.0, deviation=20.0, seed=seed).unsqueeze(1)


def factory() -> nn.Module:
    """Return the network with seeded weights, in eval mode."""
    return seed_weights(DsCnn(), mfcc(32, seed=0), seed=0)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield 64 inputs as tuples."""
    return ((features,) for features in torch.split(mfcc(64, seed=1), 1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield 8 inputs that calibration does not use."""
    return ((features,) for features in torch.split(mfcc(8, seed=2), 1))
