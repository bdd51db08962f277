# SPDX-License-Identifier: Apache-2.0
"""A ResNet with GroupNorm: image [1, 1, 8, 8] to 10 logits."""

from functools import partial

from torch import nn

from aot.models.zoo.blocks import Residual
from aot.models.zoo.on_digits import Trained

NORM = partial(nn.GroupNorm, 4)


class GroupNormResNet(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, 16, 3, padding=1, bias=False),
            NORM(16),
            nn.ReLU(),
            Residual(16, 16, norm=NORM),
            Residual(16, 32, stride=2, norm=NORM),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(32, 10),
        )


MODEL = Trained("group_norm_resnet", GroupNormResNet)
factory, calibration = MODEL.factory, MODEL.calibration
evaluation, test_inputs = MODEL.evaluation, MODEL.test_inputs
