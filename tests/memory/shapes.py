# SPDX-License-Identifier: Apache-2.0
"""Small networks of the shapes that people build, with seeded weights: each has something that
plans with little memory have to get right.
"""

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional

from aot.models import seeded
from aot.models.zoo.blocks import InvertedResidual, Residual, conv
from aot.models.zoo.mobilenet_v3_small import Squeeze

Samples = Iterator[tuple[torch.Tensor, ...]]


def _seeded(module: nn.Module, *inputs: torch.Tensor) -> nn.Module:
    return seeded.seed_weights(module, *inputs, seed=0)


def _images(count: int, channels: int, height: int, width: int, seed: int) -> torch.Tensor:
    size = max(height, width)
    found = seeded.images(count * -(-channels // 3), size, seed)
    return found.reshape(count, -1, size, size)[:, :channels, :height, :width].contiguous()


def _sequences(channels: int, steps: int, seed: int, count: int = 4) -> torch.Tensor:
    return torch.randn(count, channels, steps, generator=torch.Generator().manual_seed(seed))


def images_of_48() -> Samples:
    return seeded.one_by_one(seeded.images(4, 48, seed=1))


def channels_last_of_48() -> Samples:
    for (x,) in images_of_48():
        yield (x.to(memory_format=torch.channels_last),)


def pairs_of_32() -> Samples:
    """Two images a run."""
    return ((x,) for x in torch.split(seeded.images(8, 32, seed=1), 2))


def odd_images() -> Samples:
    return seeded.one_by_one(_images(4, 3, 37, 53, seed=1))


def sequences() -> Samples:
    return seeded.one_by_one(_sequences(16, 96, seed=1))


def pairs_of_sequences() -> Samples:
    return ((x,) for x in torch.split(_sequences(16, 96, seed=1, count=8), 2))


def lines_of_text() -> Samples:
    return seeded.one_by_one(_images(4, 1, 32, 80, seed=1))


def two_images() -> Samples:
    return seeded.one_by_one(seeded.images(4, 32, seed=1), seeded.images(4, 32, seed=2))


def _of_48(module: nn.Module) -> nn.Module:
    return _seeded(module, seeded.images(2, 48, seed=0))


def mobilenet_v3_large() -> nn.Module:
    """Its kinds of blocks: ReLU or Hardswish, 3x3 or 5x5, squeezed or not."""
    hard = nn.Hardswish
    return _of_48(
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
    """5x5 with a stride, right behind the first layers."""
    return _of_48(
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
    """Also a convolution in groups."""
    return _of_48(
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
    """Each layer reads what all before it made."""

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
    return _of_48(
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
    return _of_48(_Pan())


class _TransposedUNet(nn.Module):
    """Two levels that are upsampled by transposed convolutions, 2x2 and 4x4."""

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
    return _of_48(_TransposedUNet())


class _Causal(nn.Module):
    """A residual block of dilated convolutions that see the past only."""

    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.past = 2 * dilation, 0
        self.a, self.b = (nn.Conv1d(channels, channels, 3, dilation=dilation) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.a(functional.pad(x, self.past)))
        return torch.relu(x + self.b(functional.pad(y, self.past)))


def tcn() -> nn.Module:
    """Whose output is a sequence."""
    layers = [nn.Conv1d(16, 24, 1), *(_Causal(24, 1 << i) for i in range(4)), nn.Conv1d(24, 8, 1)]
    return _seeded(nn.Sequential(*layers))


def strided_1d() -> nn.Module:
    """Two sequences a run."""
    return _seeded(
        nn.Sequential(
            nn.Conv1d(16, 32, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Conv1d(32, 32, 3, padding=1, groups=32),
            nn.Conv1d(32, 24, 1),
            nn.ReLU(),
            nn.AvgPool1d(4),
            nn.Flatten(),
            nn.Linear(24 * 12, 10),
        )
    )


class _Crnn(nn.Module):
    """Convolutions over a line of text, columns of which an LSTM reads."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            conv(1, 16, 3),
            nn.MaxPool2d(2),
            conv(16, 32, 3),
            nn.MaxPool2d(2),
            conv(32, 32, 3),
            nn.MaxPool2d((4, 1)),
        )
        self.lstm = nn.LSTM(64, 24, batch_first=True)
        self.head = nn.Linear(24, 11)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, _ = self.lstm(self.layers(x).flatten(1, 2).transpose(1, 2))
        logits: torch.Tensor = self.head(y)
        return logits


def crnn() -> nn.Module:
    return _seeded(_Crnn(), _images(2, 1, 32, 80, seed=0))


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
    return _of_48(_Aspp())


class _Odd(nn.Module):
    """Padding on one side, a channel multiplier, windows that leave pixels over."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, stride=2)
        self.widen = nn.Conv2d(8, 24, 3, padding=1, groups=8)
        self.narrow = nn.Conv2d(24, 12, 1)
        self.tall = nn.Conv2d(12, 12, (5, 2), padding=(2, 0), groups=12)
        self.wide = nn.Conv2d(12, 12, (1, 7), padding=(0, 3), stride=(2, 1))
        self.head = nn.Linear(12 * 4 * 13, 7)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(functional.pad(x, (0, 1, 0, 1))))
        x = torch.relu(self.narrow(torch.relu(self.widen(x))))
        x = torch.relu(self.tall(functional.pad(x, (1, 0, 0, 0))))
        x = functional.avg_pool2d(torch.relu(self.wide(x)), 2)
        logits: torch.Tensor = self.head(x.flatten(1))
        return logits


def odd() -> nn.Module:
    return _seeded(_Odd())


class _Middle(nn.Module):
    """Features of all stages are outputs, as a detector's backbone has them."""

    def __init__(self) -> None:
        super().__init__()
        self.stages = nn.ModuleList(
            nn.Sequential(conv(i, o, 3, 2), InvertedResidual(o, 4 * o, o, 3, 1))
            for i, o in ((3, 8), (8, 16), (16, 24))
        )
        self.head = nn.Linear(24, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = []
        for stage in self.stages:
            x = stage(x)
            found.append(x)
        return *found[:2], self.head(x.mean((2, 3)))


def middle() -> nn.Module:
    return _of_48(_Middle())


def _small_residual(size: int) -> nn.Module:
    layers = conv(3, 16, 3, 2), Residual(16, 16), Residual(16, 32, 2), nn.AdaptiveAvgPool2d(1)
    module = nn.Sequential(*layers, nn.Flatten(), nn.Linear(32, 10))
    return _seeded(module, seeded.images(2, size, seed=0))


def pair_of_images() -> nn.Module:
    """A batch of two."""
    return _small_residual(32)


def wide() -> nn.Module:
    """In int16."""
    return _small_residual(48)


def wide_parts() -> nn.Module:
    """Whose first block is in int16."""
    return _small_residual(48)


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
    return _of_48(
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


class _Stream(nn.Module):
    """Convolutions over each image and an average over the images before it."""

    past: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(conv(3, 12, 3, 2), InvertedResidual(12, 48, 16, 3, 2))
        self.after = nn.Sequential(InvertedResidual(16, 64, 16, 3, 1), conv(16, 24, 3, 2))
        self.head = nn.Linear(24, 5)
        self.register_buffer("past", torch.zeros(1, 16, 12, 12))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.past = 0.5 * self.past + 0.5 * self.layers(x)
        logits: torch.Tensor = self.head(self.after(self.past).mean((2, 3)))
        return logits


def stream() -> nn.Module:
    """With state between its convolutions."""
    return _of_48(_Stream())


class _Siamese(nn.Module):
    """How far apart two images are."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            conv(3, 16, 3, 2),
            InvertedResidual(16, 64, 24, 3, 2),
            InvertedResidual(24, 96, 24, 3, 1),
        )
        self.head = nn.Linear(24, 2)

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        apart = torch.abs(self.layers(a) - self.layers(b))
        logits: torch.Tensor = self.head(apart.mean((2, 3)))
        return logits


def siamese() -> nn.Module:
    return _seeded(_Siamese(), seeded.images(2, 32, seed=0), seeded.images(2, 32, seed=3))


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
    return _of_48(_Segmenter())
