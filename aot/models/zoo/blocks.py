# SPDX-License-Identifier: Apache-2.0
"""Common building blocks of several networks."""

from collections.abc import Callable

import torch
from torch import nn


def conv(
    inputs: int,
    outputs: int,
    kernel: int,
    stride: int = 1,
    groups: int = 1,
    activation: Callable[[], nn.Module] = nn.ReLU,
) -> nn.Sequential:
    """Return a padded convolution with BatchNorm and an activation."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        activation(),
    )


class InvertedResidual(nn.Module):
    """A block of MobileNetV2 and its successors: widen, depthwise, optional squeeze, narrow.

    Args:
      inputs: channels.
      inner: channels of the depthwise convolution.
      outputs: channels. If they equal the inputs' and the stride is 1, the block is added
        to its input.
      kernel: of the depthwise convolution.
      stride: likewise.
      activation: after the first two convolutions.
      squeeze: makes the module before the last convolution, for a number of channels.
    """

    def __init__(
        self,
        inputs: int,
        inner: int,
        outputs: int,
        kernel: int,
        stride: int,
        activation: Callable[[], nn.Module] = nn.ReLU6,
        squeeze: Callable[[int], nn.Module] | None = None,
    ) -> None:
        super().__init__()
        widen = [conv(inputs, inner, 1, activation=activation)] if inner != inputs else []
        self.layers = nn.Sequential(
            *widen,
            conv(inner, inner, kernel, stride, groups=inner, activation=activation),
            *([squeeze(inner)] if squeeze is not None else []),
            conv(inner, outputs, 1, activation=nn.Identity),
        )
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.layers(x)
        return x + y if self.is_residual else y


class Residual(nn.Module):
    """A block of ResNet: two 3x3 convolutions with a shortcut.

    Args:
      inputs: channels.
      outputs: channels.
      stride: of the first convolution, and of the shortcut. The shortcut is a convolution
        if the shape changes.
      norm: makes a norm for a number of channels.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        stride: int = 1,
        norm: Callable[[int], nn.Module] = nn.BatchNorm2d,
    ) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.first_norm = norm(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.second_norm = norm(outputs)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            narrow = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.shortcut = nn.Sequential(narrow, norm(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.first_norm(self.first(x)))
        return torch.relu(self.second_norm(self.second(y)) + self.shortcut(x))
