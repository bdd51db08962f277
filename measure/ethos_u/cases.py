# SPDX-License-Identifier: Apache-2.0
"""Models lowered by both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

import torch
from torch import nn

from aot.models.mobilenet_v1 import model as mobilenet_v1
from aot.models.resnet8 import model as resnet8
from aot.models.zoo import mobilenet_v2, mobilenet_v3_small, whisper_layer

_SAMPLES = 8
Given = Callable[[], Iterable[tuple[torch.Tensor, ...]]]


@dataclass(frozen=True)
class NpuCase:
    """A model in eval mode, with weights from a fixed seed.

    Attributes:
      make: the model.
      shape: of its only input, of normal values.
      given: inputs instead, for a model with other usual inputs.
    """

    make: Callable[[], nn.Module]
    shape: tuple[int, ...] = ()
    given: Given | None = None

    def module(self) -> nn.Module:
        torch.manual_seed(0)
        return self.make().eval()

    def samples(self) -> list[tuple[torch.Tensor, ...]]:
        """Return samples from a fixed seed."""
        if self.given is not None:
            return list(islice(self.given(), _SAMPLES))
        generator = torch.Generator().manual_seed(1)
        return [(torch.randn(self.shape, generator=generator),) for _ in range(_SAMPLES)]


def _encoder(width: int, heads: int) -> nn.Module:
    return nn.TransformerEncoderLayer(
        width, heads, 4 * width, activation="gelu", batch_first=True, dropout=0.0
    )


def _affine_norm() -> nn.Module:
    norm = nn.LayerNorm(384)
    with torch.no_grad():
        norm.weight.uniform_(0.5, 1.5)
        norm.bias.normal_(0, 0.2)
    return norm


def _separable(channels: int) -> list[nn.Module]:
    depthwise = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
    return [depthwise, nn.ReLU(), nn.Conv2d(channels, channels, 1), nn.ReLU()]


def _ds_cnn() -> nn.Module:
    first = nn.Conv2d(1, 64, (10, 4), 2, padding=(5, 1))
    middle = [layer for _ in range(4) for layer in _separable(64)]
    return nn.Sequential(
        first, nn.ReLU(), *middle, nn.AvgPool2d((25, 5)), nn.Flatten(), nn.Linear(64, 12)
    )


class _UNet(nn.Module):
    """Two levels, with a skip."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.middle = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)
        self.up, self.out = nn.ConvTranspose2d(32, 16, 2, 2), nn.Conv2d(32, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skip = torch.relu(self.down(x))
        inner = torch.relu(self.middle(nn.functional.max_pool2d(skip, 2, 2)))
        result: torch.Tensor = self.out(torch.cat([skip, torch.relu(self.up(inner))], 1))
        return result


def _tcn() -> nn.Module:
    return nn.Sequential(
        nn.Conv1d(8, 32, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool1d(4),
        nn.Conv1d(32, 32, 3, padding=2, dilation=2),
        nn.ReLU(),
        nn.Conv1d(32, 8, 1),
    )


def _last(given: Given) -> Given:
    """Return the same inputs in torch's channels_last memory format."""
    return lambda: ((x.contiguous(memory_format=torch.channels_last),) for (x,) in given())


CASES: dict[str, NpuCase] = {
    "layer norm": NpuCase(lambda: nn.LayerNorm(384), (1, 1500, 384)),
    "layer norm, affine": NpuCase(_affine_norm, (1, 1500, 384)),
    "layer norm, linear": NpuCase(
        lambda: nn.Sequential(_affine_norm(), nn.Linear(384, 384)), (1, 1500, 384)
    ),
    "softmax": NpuCase(lambda: nn.Softmax(-1), (4, 128, 128)),
    "group norm": NpuCase(lambda: nn.GroupNorm(8, 32), (1, 32, 28, 28)),
    "feed forward": NpuCase(
        lambda: nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)), (1, 49, 64)
    ),
    "encoder layer 16x64": NpuCase(lambda: _encoder(64, 4), (1, 16, 64)),
    "encoder layer 49x64": NpuCase(lambda: _encoder(64, 4), (1, 49, 64)),
    "ds-cnn": NpuCase(_ds_cnn, (1, 1, 49, 10)),
    "u-net": NpuCase(_UNet, (1, 3, 32, 32)),
    "tcn": NpuCase(_tcn, (1, 8, 256)),
    "gelu": NpuCase(nn.GELU, (1, 128, 384)),
    "resnet-8": NpuCase(resnet8.factory, given=resnet8.calibration),
    "resnet-8, channels last": NpuCase(resnet8.factory, given=_last(resnet8.calibration)),
    "mobilenet v1": NpuCase(mobilenet_v1.factory, given=mobilenet_v1.calibration),
    "mobilenet v1, channels last": NpuCase(
        mobilenet_v1.factory, given=_last(mobilenet_v1.calibration)
    ),
    "mobilenet v2": NpuCase(mobilenet_v2.factory, given=mobilenet_v2.calibration),
    "mobilenet v3": NpuCase(mobilenet_v3_small.factory, given=mobilenet_v3_small.calibration),
    "whisper layer": NpuCase(whisper_layer.factory, given=whisper_layer.calibration),
}
