# SPDX-License-Identifier: Apache-2.0
"""ResNet-8 of MLPerf Tiny's image classification, seeded weights.

Input float32 [1, 3, 32, 32], pixels in [0, 255]; output float32 [1, 10], probabilities. Layers are
those of the reference (mlcommons/tiny, image_classification/keras_model.py): biases before
BatchNorm and TensorFlow's SAME padding. With stride 2 it adds one row below and one column to the
right.
"""

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional

from aot.models.seeded import images, seed_weights

SIZE = 32
BATCH_NORM_EPS = 1e-3  # Keras' default.


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions with a skip connection, a 1x1 convolution if the stride is 2."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1 if stride == 1 else 0)
        self.norm1 = nn.BatchNorm2d(outputs, eps=BATCH_NORM_EPS)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(outputs, eps=BATCH_NORM_EPS)
        self.skip = nn.Identity() if stride == 1 else nn.Conv2d(inputs, outputs, 1, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x if self.stride == 1 else functional.pad(x, (0, 1, 0, 1))
        y = functional.relu(self.norm1(self.conv1(y)))
        y = self.norm2(self.conv2(y))
        return functional.relu(self.skip(x) + y)


class ResNet8(nn.Module):
    """78,666 parameters with the moving statistics, 12,501,632 MACs."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1),
            nn.BatchNorm2d(16, eps=BATCH_NORM_EPS),
            nn.ReLU(),
            ResidualBlock(16, 16, stride=1),
            ResidualBlock(16, 32, stride=2),
            ResidualBlock(32, 64, stride=2),
            nn.AvgPool2d(8),
            nn.Flatten(),
        )
        self.classifier = nn.Linear(64, 10)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        probabilities: torch.Tensor = self.softmax(self.classifier(self.features(image)))
        return probabilities


def pictures(count: int, seed: int) -> torch.Tensor:
    """Return inputs, float32 [count, 3, 32, 32]."""
    return images(count, SIZE, seed) * 255.0


def factory() -> nn.Module:
    """Return the network with seeded weights, in eval mode."""
    return seed_weights(ResNet8(), pictures(32, seed=0), seed=0)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield 64 inputs as tuples."""
    return ((image,) for image in torch.split(pictures(64, seed=1), 1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield 8 inputs that calibration does not use."""
    return ((image,) for image in torch.split(pictures(8, seed=2), 1))
