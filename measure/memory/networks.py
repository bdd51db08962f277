# SPDX-License-Identifier: Apache-2.0
"""Networks with large activations and seeded weights."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from aot.models import seeded
from aot.models.ds_cnn import model as ds_cnn
from aot.models.mobilenet_v1 import model as mobilenet_v1
from aot.models.resnet8 import model as resnet8
from aot.models.zoo.blocks import InvertedResidual, conv
from aot.models.zoo.mobilenet_v2 import STAGES
from aot.models.zoo.mobilenet_v3_small import MobileNetV3Small, Squeeze


def rounded(channels: float) -> int:
    """Return a multiple of eight, at most a tenth less."""
    near = max(8, int(channels + 4) // 8 * 8)
    return near if near >= 0.9 * channels else near + 8


class MobileNetV2(nn.Sequential):
    """MobileNetV2 with a width multiplier for its channels."""

    def __init__(self, width: float, classes: int) -> None:
        channels = rounded(32 * width)
        layers: list[nn.Module] = [conv(3, channels, 3, stride=2, activation=nn.ReLU6)]
        for widening, outputs, blocks, stride in STAGES:
            for index in range(blocks):
                step, to = stride if index == 0 else 1, rounded(outputs * width)
                layers.append(InvertedResidual(channels, channels * widening, to, 3, step))
                channels = to
        last = max(1280, rounded(1280 * width))
        layers += [conv(channels, last, 1, activation=nn.ReLU6), nn.AdaptiveAvgPool2d(1)]
        super().__init__(*layers, nn.Flatten(), nn.Linear(last, classes))


class EfficientNet(nn.Sequential):
    """EfficientNet-B0's stages with half of its channels; all blocks squeeze."""

    # Widening, kernel, stride of the first, output channels, blocks.
    STAGES = (
        (1, 3, 1, 16, 1),
        (6, 3, 2, 24, 2),
        (6, 5, 2, 40, 2),
        (6, 3, 2, 80, 3),
        (6, 5, 1, 112, 3),
        (6, 5, 2, 192, 4),
        (6, 3, 1, 320, 1),
    )

    def __init__(self) -> None:
        channels = 16
        layers: list[nn.Module] = [conv(3, channels, 3, stride=2, activation=nn.SiLU)]
        for widening, kernel, stride, outputs, blocks in self.STAGES:
            for index in range(blocks):
                step, to, inner = stride if index == 0 else 1, rounded(outputs / 2), channels
                inner *= widening
                block = InvertedResidual(channels, inner, to, kernel, step, nn.SiLU, Squeeze)
                layers.append(block)
                channels = to
        layers += [conv(channels, 640, 1, activation=nn.SiLU), nn.AdaptiveAvgPool2d(1)]
        super().__init__(*layers, nn.Flatten(), nn.Linear(640, 100))


class UNet(nn.Module):
    """Three levels, upsampled and joined with the earlier features."""

    def __init__(self) -> None:
        super().__init__()

        def twice(inputs: int, outputs: int) -> nn.Module:
            return nn.Sequential(conv(inputs, outputs, 3), conv(outputs, outputs, 3))

        self.down = nn.ModuleList([twice(3, 8), twice(8, 16), twice(16, 32)])
        self.middle = twice(32, 64)
        self.up = nn.ModuleList([twice(96, 32), twice(48, 16), twice(24, 8)])
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = []
        for level in self.down:
            kept.append(level(x))
            x = functional.max_pool2d(kept[-1], 2)
        x = self.middle(x)
        for level in self.up:
            upsampled = functional.interpolate(x, scale_factor=2, mode="nearest")
            x = level(torch.cat([upsampled, kept.pop()], dim=1))
        logits: torch.Tensor = self.head(x)
        return logits


class Tcn(nn.Module):
    """Five causal blocks of two dilated convolutions each, on 128 steps of 40 features."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(40, 32, 1)
        self.a, self.b = (
            nn.ModuleList(nn.Conv1d(32, 32, 3, dilation=1 << i) for i in range(5)) for _ in range(2)
        )
        self.head = nn.Linear(32, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(x))
        for i, (a, b) in enumerate(zip(self.a, self.b, strict=True)):
            past = 2 << i, 0
            y = torch.relu(a(functional.pad(x, past)))
            x = torch.relu(x + torch.relu(b(functional.pad(y, past))))
        logits: torch.Tensor = self.head(x.mean(-1))
        return logits


@dataclass(frozen=True)
class Network:
    """A network and its inputs, a tensor each."""

    factory: Callable[[], nn.Module]
    calibration: Callable[[], Iterator[tuple[torch.Tensor, ...]]]


def _of_images(make: Callable[[], nn.Module], size: int) -> Network:
    return Network(
        lambda: seeded.seed_weights(make(), seeded.images(2, size, seed=0), seed=0),
        lambda: seeded.one_by_one(seeded.images(2, size, seed=1)),
    )


def _features(seed: int) -> torch.Tensor:
    return torch.randn(2, 40, 128, generator=torch.Generator().manual_seed(seed))


NETWORKS: Mapping[str, Network] = {
    "VWW (MobileNetV1-0.25) at 96": Network(mobilenet_v1.factory, mobilenet_v1.calibration),
    "MobileNetV2-0.35 at 96": _of_images(lambda: MobileNetV2(0.35, 2), 96),
    "MobileNetV2-0.35 at 144": _of_images(lambda: MobileNetV2(0.35, 1000), 144),
    "MobileNetV2-1.0 at 224": _of_images(lambda: MobileNetV2(1.0, 1000), 224),
    "ResNet-8 at 32": Network(resnet8.factory, resnet8.calibration),
    "MobileNetV3-small at 224": _of_images(MobileNetV3Small, 224),
    "U-Net at 96": _of_images(UNet, 96),
    "EfficientNet-like at 96": _of_images(EfficientNet, 96),
    "DS-CNN": Network(ds_cnn.factory, ds_cnn.calibration),
    "TCN": Network(
        lambda: seeded.seed_weights(Tcn(), _features(0), seed=0),
        lambda: ((x,) for x in torch.split(_features(1), 1)),
    ),
}


def person() -> nn.Module:
    """Return MobileNetV2-0.35 at 96, as a factory for pte_model."""
    return NETWORKS["MobileNetV2-0.35 at 96"].factory()


def person_of_144() -> nn.Module:
    """Return MobileNetV2-0.35 at 144."""
    return NETWORKS["MobileNetV2-0.35 at 144"].factory()


def mobilenet_v2() -> nn.Module:
    """Return MobileNetV2-1.0 at 224."""
    return NETWORKS["MobileNetV2-1.0 at 224"].factory()


def mobilenet_v3() -> nn.Module:
    """Return MobileNetV3-small at 224."""
    return NETWORKS["MobileNetV3-small at 224"].factory()


def unet() -> nn.Module:
    """Return a U-Net at 96."""
    return NETWORKS["U-Net at 96"].factory()


def efficientnet() -> nn.Module:
    """Return an EfficientNet-like network at 96."""
    return NETWORKS["EfficientNet-like at 96"].factory()


def causal() -> nn.Module:
    """Return a TCN."""
    return NETWORKS["TCN"].factory()


def images_of_96() -> Iterator[tuple[torch.Tensor, ...]]:
    return seeded.one_by_one(seeded.images(16, 96, seed=1))


def images_of_144() -> Iterator[tuple[torch.Tensor, ...]]:
    return seeded.one_by_one(seeded.images(4, 144, seed=1))


def images_of_224() -> Iterator[tuple[torch.Tensor, ...]]:
    return seeded.one_by_one(seeded.images(4, 224, seed=1))


def sequences() -> Iterator[tuple[torch.Tensor, ...]]:
    return NETWORKS["TCN"].calibration()
