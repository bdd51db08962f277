# SPDX-License-Identifier: Apache-2.0
"""MobileNetV1-0.25 of MLPerf Tiny's visual wake words, seeded weights.

Input float32 [1, 3, 96, 96], pixel / 255 in [0, 1]; output float32 [1, 2], probabilities. Layers
are those of the reference (mlcommons/tiny, visual_wake_words/vww_model.py): biases before BatchNorm
and TensorFlow's SAME padding. With stride 2 it adds one row below and one column to the right.
"""

from collections.abc import Iterator

import torch
from torch import nn

from aot.models.seeded import images, seed_weights

SIZE = 96
BATCH_NORM_EPS = 1e-3  # Keras' default.
# Output channels and strides of the 13 depthwise separable blocks.
CHANNELS = (16, 32, 32, 64, 64, 128, 128, 128, 128, 128, 128, 256, 256)
STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)


def conv(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Return a SAME-padded convolution with BatchNorm and ReLU."""
    return nn.Sequential(
        nn.ZeroPad2d((0, 1, 0, 1)) if stride == 2 else nn.Identity(),
        nn.Conv2d(
            inputs,
            outputs,
            kernel,
            stride,
            padding=kernel // 2 if stride == 1 else 0,
            groups=groups,
        ),
        nn.BatchNorm2d(outputs, eps=BATCH_NORM_EPS),
        nn.ReLU(),
    )


class MobileNetV1(nn.Module):
    """221,794 parameters with the moving statistics, 7,489,664 MACs."""

    def __init__(self) -> None:
        super().__init__()
        channels = 8
        layers = [conv(3, channels, 3, stride=2)]
        for outputs, stride in zip(CHANNELS, STRIDES, strict=True):
            layers += [conv(channels, channels, 3, stride, groups=channels)]
            layers += [conv(channels, outputs, 1)]
            channels = outputs
        self.features = nn.Sequential(*layers, nn.AvgPool2d(3), nn.Flatten())
        self.classifier = nn.Linear(channels, 2)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        probabilities: torch.Tensor = self.softmax(self.classifier(self.features(image)))
        return probabilities


def factory() -> nn.Module:
    """Return the network with seeded weights, in eval mode."""
    return seed_weights(MobileNetV1(), images(16, SIZE, seed=0), seed=0)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield 32 inputs as tuples."""
    return ((image,) for image in torch.split(images(32, SIZE, seed=1), 1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield 8 inputs that calibration does not use."""
    return ((image,) for image in torch.split(images(8, SIZE, seed=2), 1))
