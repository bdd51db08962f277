# SPDX-License-Identifier: Apache-2.0
"""Small networks of common shapes, with seeded weights. Each contains a difficulty for plans with
little memory.
"""

import torch
from torch import nn
from torch.nn import functional

from aot.models import seeded
from aot.models.zoo.blocks import InvertedResidual, conv
from aot.models.zoo.mobilenet_v3_small import Squeeze


def with_weights(module: nn.Module, *inputs: torch.Tensor) -> nn.Module:
    return seeded.seed_weights(module, *inputs, seed=0)


def of_48(module: nn.Module) -> nn.Module:
    return with_weights(module, seeded.images(2, 48, seed=0))


def mobilenet_v3_large() -> nn.Module:
    """Return a network with the blocks of MobileNetV3-large: ReLU or Hardswish, 3x3 or 5x5, with or
    without squeeze.
    """
    hard = nn.Hardswish
    return of_48(
        nn.Sequential(
            conv(3, 16, 3, stride=2, activation=hard),
            InvertedResidual(16, 16, 16, 3, 1, nn.ReLU),
            InvertedResidual(16, 64, 24, 3, 2, nn.ReLU),
            InvertedResidual(24, 72, 24, 3, 1, nn.ReLU),
            InvertedResidual(24, 72, 40, 5, 2, nn.ReLU, Squeeze),
            InvertedResidual(40, 120, 40, 5, 1, nn.ReLU, Squeeze),
            InvertedResidual(40, 200, 80, 3, 2, hard),
            InvertedResidual(80, 184, 80, 3, 1, hard),
            conv(80, 160, 1, activation=hard),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(160, 10),
        )
    )


def efficientnet_lite() -> nn.Module:
    """Return a network with 5x5 windows with a stride, right after the first layers."""
    return of_48(
        nn.Sequential(
            conv(3, 24, 3, stride=2, activation=nn.ReLU6),
            InvertedResidual(24, 144, 16, 5, 2),
            InvertedResidual(16, 96, 16, 5, 1),
            InvertedResidual(16, 96, 40, 5, 2),
            InvertedResidual(40, 240, 40, 3, 1),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(40, 10),
        )
    )


class _Shuffled(nn.Module):
    """ShuffleNetV2's block: half of the channels pass, then they are shuffled."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = channels // 2
        self.layers = nn.Sequential(
            conv(half, half, 1),
            conv(half, half, 3, groups=half, activation=nn.Identity),
            conv(half, half, 1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept, y = x.chunk(2, dim=1)
        joined = torch.cat([kept, self.layers(y)], dim=1)
        return functional.channel_shuffle(joined, 2)


def shufflenet() -> nn.Module:
    """Return a ShuffleNet, with a convolution in groups."""
    return of_48(
        nn.Sequential(
            conv(3, 24, 3, stride=2),
            nn.MaxPool2d(3, 2, 1),
            _Shuffled(24),
            conv(24, 48, 3, stride=2, groups=3),
            _Shuffled(48),
            _Shuffled(48),
            nn.AdaptiveMaxPool2d(1),
            nn.Flatten(),
            nn.Linear(48, 10),
        )
    )


class _Dense(nn.Module):
    """Each layer reads the results of all earlier layers."""

    def __init__(self, inputs: int, growth: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(conv(inputs + i * growth, 4 * growth, 1), conv(4 * growth, growth, 3))
            for i in range(layers)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.cat([x, layer(x)], dim=1)
        return x


def densenet() -> nn.Module:
    return of_48(
        nn.Sequential(
            conv(3, 16, 7, stride=2),
            nn.MaxPool2d(3, 2, 1),
            _Dense(16, 8, 3),
            conv(40, 20, 1),
            nn.AvgPool2d(2),
            _Dense(20, 8, 2),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(36, 10),
        )
    )


class _Pan(nn.Module):
    """A detector's neck: down, up and down again, and three heads."""

    def __init__(self) -> None:
        super().__init__()
        silu = nn.SiLU
        self.stem = conv(3, 8, 3, 2, activation=silu)
        self.c3, self.c4, self.c5 = (
            conv(i, o, 3, 2, activation=silu) for i, o in ((8, 16), (16, 32), (32, 64))
        )
        self.top = conv(64, 32, 1, activation=silu)
        self.mid = conv(64, 16, 1, activation=silu)
        self.fine = conv(32, 16, 3, activation=silu)
        self.down4 = conv(16, 16, 3, 2, activation=silu)
        self.join4 = conv(32, 32, 3, activation=silu)
        self.down5 = conv(32, 32, 3, 2, activation=silu)
        self.join5 = conv(64, 64, 1, activation=silu)
        self.heads = nn.ModuleList(nn.Conv2d(c, 9, 1) for c in (16, 32, 64))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        c3 = self.c3(self.stem(x))
        c4 = self.c4(c3)
        p5 = self.top(self.c5(c4))
        p4 = self.mid(torch.cat([functional.interpolate(p5, scale_factor=2.0), c4], 1))
        n3 = self.fine(torch.cat([functional.interpolate(p4, scale_factor=2.0), c3], 1))
        n4 = self.join4(torch.cat([self.down4(n3), p4], 1))
        n5 = self.join5(torch.cat([self.down5(n4), p5], 1))
        return tuple(head(n) for head, n in zip(self.heads, (n3, n4, n5), strict=True))


def pan() -> nn.Module:
    return of_48(_Pan())


class _TransposedUNet(nn.Module):
    """Two levels with transposed convolutions for upsampling, 2x2 and 4x4."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([conv(3, 8, 3), conv(8, 16, 3)])
        self.middle = conv(16, 32, 3)
        self.up = nn.ModuleList(
            [nn.ConvTranspose2d(32, 16, 2, 2), nn.ConvTranspose2d(16, 8, 4, 2, 1)]
        )
        self.join = nn.ModuleList([conv(32, 16, 3), conv(16, 8, 3)])
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = []
        for level in self.down:
            kept.append(level(x))
            x = functional.max_pool2d(kept[-1], 2)
        x = self.middle(x)
        for up, join in zip(self.up, self.join, strict=True):
            x = join(torch.cat([up(x), kept.pop()], dim=1))
        logits: torch.Tensor = self.head(x)
        return logits


def transposed_unet() -> nn.Module:
    return of_48(_TransposedUNet())


class _Aspp(nn.Module):
    """Dilated branches and one of the whole image, joined, and upsampled bilinearly."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(conv(3, 16, 3, 2), conv(16, 24, 3, 2))
        self.branches = nn.ModuleList(
            nn.Conv2d(24, 16, 3, padding=rate, dilation=rate) for rate in (1, 2, 4)
        )
        self.whole = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(24, 16, 1), nn.ReLU())
        self.project = conv(64, 24, 1)
        self.head = nn.Conv2d(24, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.stem(x)
        whole = functional.interpolate(self.whole(y), y.shape[2:])
        joined = torch.cat([*(torch.relu(branch(y)) for branch in self.branches), whole], 1)
        logits = self.head(self.project(joined))
        return functional.interpolate(logits, scale_factor=4.0, mode="bilinear")


def aspp() -> nn.Module:
    return of_48(_Aspp())


class _Inception(nn.Module):
    """Branches of several windows, one of an average pool, joined."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.branches = nn.ModuleList(
            [
                conv(inputs, 8, 1),
                nn.Sequential(conv(inputs, 8, 1), conv(8, 12, 3)),
                nn.Sequential(conv(inputs, 4, 1), conv(4, 8, 5)),
                nn.Sequential(nn.AvgPool2d(3, 1, 1), conv(inputs, 4, 1)),
            ]
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([branch(x) for branch in self.branches], 1)


def inception() -> nn.Module:
    return of_48(
        nn.Sequential(
            conv(3, 12, 3, 2),
            _Inception(12),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            _Inception(32),
            nn.AvgPool2d(12),
            nn.Flatten(),
            nn.Linear(32, 10),
        )
    )


class _Segmenter(nn.Module):
    """Classes of pixels, as probabilities."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            conv(3, 8, 3), InvertedResidual(8, 48, 12, 3, 2), InvertedResidual(12, 72, 12, 3, 1)
        )
        self.head = nn.Conv2d(12, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.interpolate(self.layers(x), scale_factor=2.0, mode="bilinear")
        return torch.softmax(self.head(y), dim=1)


def segmenter() -> nn.Module:
    return of_48(_Segmenter())
