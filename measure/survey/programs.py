# SPDX-License-Identifier: Apache-2.0
"""Programs of one op, or of few, as people write them. A program's name describes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

_IMAGE, _LINE, _ROWS = (1, 4, 8, 8), (1, 4, 16), (2, 8)
_TOKENS, _VOLUME = (1, 6, 8), (1, 2, 4, 6, 6)


@dataclass(frozen=True)
class SurveyProgram:
    """One row of the survey.

    Attributes:
      name: unique.
      make: gives the module, in eval mode, with the same weights every time.
      samples: inputs; the first is the example.
    """

    name: str
    make: Callable[[], nn.Module]
    samples: Callable[[], list[tuple[Any, ...]]]


# Modules of x and expressions, by the shape of x, and of y if there is one.
_WRITTEN: dict[tuple[int, ...], tuple[str, ...]] = {
    _IMAGE: (
        "nn.Conv2d(4, 6, 3)",
        "nn.Conv2d(4, 6, 3, stride=2, padding=1, bias=False)",
        "nn.Conv2d(4, 6, 3, padding='same', dilation=2)",
        "nn.Conv2d(4, 4, 3, groups=4)",
        "nn.Conv2d(4, 6, 3, groups=2)",
        "nn.Conv2d(4, 6, 3, padding=1, padding_mode='reflect')",
        "nn.Sequential(nn.Conv2d(4, 6, 3), nn.BatchNorm2d(6), nn.ReLU())",
        "nn.ConvTranspose2d(4, 6, 2, stride=2)",
        "nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1)",
        "nn.BatchNorm2d(4)",
        "nn.GroupNorm(2, 4)",
        "nn.InstanceNorm2d(4)",
        "nn.LocalResponseNorm(2)",
        "nn.MaxPool2d(2)",
        "nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True)",
        "nn.AvgPool2d(2)",
        "nn.AvgPool2d(3, padding=1, count_include_pad=False)",
        "nn.AdaptiveAvgPool2d(1)",
        "nn.AdaptiveAvgPool2d(3)",
        "nn.AdaptiveMaxPool2d(1)",
        "nn.LPPool2d(2, 2)",
        "nn.PReLU()",
        "nn.PReLU(4)",
        "nn.Upsample(scale_factor=2)",
        "nn.Upsample(scale_factor=2, mode='bilinear')",
        "nn.Upsample(scale_factor=1.5, mode='bilinear', align_corners=True)",
        "nn.PixelShuffle(2)",
        "nn.PixelUnshuffle(2)",
        "nn.ChannelShuffle(2)",
        "nn.ReflectionPad2d(1)",
        "nn.ReplicationPad2d(1)",
        "nn.ZeroPad2d(1)",
        "nn.CircularPad2d(1)",
        "nn.Unfold(3)",
        "nn.Softmax2d()",
        "nn.Sequential(nn.Conv2d(4, 6, 3), nn.Dropout2d())",
        "F.pad(x, (1, 1), value=0.5)",
        "F.grid_sample(x, torch.zeros(1, 2, 2, 2), align_corners=False)",
        "x.mean((2, 3))",
        "x.amax((2, 3))",
        "x.flatten(1)",
        "x.permute(0, 2, 3, 1)",
        "torch.cat((x, x * 0.5), 1)",
        "torch.stack((x, -x))",
        "x.chunk(2, 1)[1]",
        "x[:, ::2, 1:-1]",
        "torch.flip(x, (2,))",
        "torch.roll(x, 1, 3)",
        "nn.Sequential(nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 6, 3))",
        "nn.Sequential(nn.Conv2d(4, 6, 3), nn.GroupNorm(3, 6), nn.SiLU())",
        "nn.Sequential(nn.Conv2d(4, 4, 3, groups=4), nn.Conv2d(4, 8, 1), nn.Hardswish())",
        "nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3), nn.Softmax(-1))",
        "nn.utils.parametrizations.weight_norm(nn.Conv2d(4, 6, 3))",
        "nn.MaxPool2d(2, return_indices=True)",
        "nn.Upsample(scale_factor=2, mode='bicubic')",
        "nn.Fold((8, 8), 2)(F.unfold(x, 2))",
        "x.std((2, 3))",
        "x.flatten(2).transpose(1, 2)",
        "x[..., 1:, :-1] - x[..., :-1, 1:]",
        "torch.cat([x, F.avg_pool2d(x, 3, 1, 1)], 1)",
        "F.grid_sample(x, y[:, :2].permute(0, 2, 3, 1).tanh(), align_corners=False)",
    ),
    _LINE: (
        "nn.Conv1d(4, 6, 3)",
        "nn.Sequential(nn.Conv1d(4, 6, 3), nn.ReLU())",
        "nn.ConvTranspose1d(4, 6, 2, stride=2)",
        "nn.BatchNorm1d(4)",
        "nn.MaxPool1d(2)",
        "nn.AvgPool1d(2)",
        "nn.AdaptiveAvgPool1d(1)",
        "torch.fft.rfft(x).abs()",
        "x.unfold(2, 4, 2)",
    ),
    _ROWS: (
        "nn.Linear(8, 5)",
        "nn.Linear(8, 5, bias=False)",
        "nn.ReLU()",
        "nn.ReLU6()",
        "nn.LeakyReLU()",
        "nn.ELU()",
        "nn.GELU()",
        "nn.SiLU()",
        "nn.Mish()",
        "nn.Sigmoid()",
        "nn.Tanh()",
        "nn.Hardswish()",
        "nn.Hardsigmoid()",
        "nn.Hardtanh()",
        "nn.Softplus()",
        "nn.GLU()",
        "nn.Softmax(1)",
        "nn.LogSoftmax(1)",
        "nn.Sequential(nn.Linear(8, 5), nn.Dropout(), nn.Identity())",
        "nn.CosineSimilarity()(x, y)",
        "F.normalize(x)",
        "x + y",
        "x - y",
        "x * y",
        "x / (y.abs() + 1.0)",
        "torch.maximum(x, y)",
        "torch.minimum(x, y)",
        "torch.where(x > y, x, y)",
        "torch.clamp(x, -0.5, 0.5)",
        "torch.exp(x)",
        "torch.log(x.abs() + 1.0)",
        "torch.sqrt(x.abs())",
        "torch.pow(x, 2)",
        "torch.sin(x)",
        "1.0 / (x.abs() + 1.0)",
        "x.abs()",
        "x.sum(1)",
        "x.prod(1)",
        "x.cumsum(1)",
        "x.std(1)",
        "x.var(1)",
        "x.norm(dim=1)",
        "x.logsumexp(1)",
        "x.argmax(1)",
        "x.max(1)",
        "x.min(1)",
        "x.topk(1)",
        "x.topk(3)",
        "x.sort(1)[0]",
        "x @ y.T",
        "x.expand(3, 2, 8)",
        "x.repeat(1, 2)",
        "x.gather(1, torch.tensor([[0, 1], [2, 3]]))",
        "x.masked_fill(x > 0, 0.0)",
        "x * (x > 0).float()",
        "torch.zeros_like(x) + x",
        "x.float().detach().contiguous() * 2.0",
        "x[x > 0]",
        "x.nonzero()",
        "nn.Identity()",
        "nn.PairwiseDistance()(x, y)",
        "nn.Bilinear(8, 8, 3)(x, y)",
        "(x, y)",
        "{'a': x * 2.0, 'b': [y, x + y]}",
        "(x @ y.T).softmax(-1) @ y",
        "(x > y).all()",
        "(x > 0).sum(1)",
        "x.median(1)",
        "x.kthvalue(2, 1)",
        "x.cumprod(1)",
        "x.tril()",
        "x.nan_to_num()",
        "x[:, x.argmax(1)]",
        "x.gather(1, x.topk(2).indices)",
        "x.index_put((x > 0,), torch.tensor(0.0))",
        "x.scatter(1, torch.tensor([[0], [1]]), 1.0)",
        "F.one_hot(x.argmax(1), 8)",
        "torch.outer(x[0], y[0])",
        "torch.diff(x)",
        "torch.logaddexp(x, y)",
        "torch.floor_divide(x, y.abs() + 1.0)",
        "torch.remainder(x, y.abs() + 1.0)",
        "torch.hypot(x, y)",
        "torch.atan2(x, y)",
        "torch.cdist(x, y)",
        "x.logcumsumexp(1)",
        "(x * 3.0).long()",
        "torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0]))",
        "(x * 3.0).long() | (y * 3.0).long()",
        "F.pad(torch.sigmoid(x), (1, 1), value=-1.0)",
    ),
    _TOKENS: (
        "nn.LayerNorm(8)",
        "nn.RMSNorm(8)",
        "nn.LSTM(8, 5, batch_first=True)",
        "nn.LSTM(8, 5, bidirectional=True)",
        "nn.GRU(8, 5, batch_first=True)",
        "nn.RNN(8, 5)",
        "nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)",
        "nn.MultiheadAttention(8, 2)(x, x, x)[0]",
        "F.scaled_dot_product_attention(x, x, x)",
        "F.scaled_dot_product_attention(x, y, y, is_causal=True)",
        "torch.bmm(x, y.transpose(1, 2))",
        "torch.matmul(x, torch.ones(8, 3))",
        "torch.einsum('bij,bkj->bik', x, y)",
        "nn.LSTM(8, 5, 2, batch_first=True)",
        "nn.LSTM(8, 5, proj_size=3)",
        "nn.LSTM(8, 5, proj_size=3)(x, (y[:, :, :3], y[:, :, 3:]))[0]",
        "nn.GRU(8, 5)(x, torch.tanh(y[:, :, :5]))[0]",
        "nn.LSTM(8, 5, batch_first=True)(x)[1][1] * 2.0",
        "nn.GRUCell(8, 5)(x[0])",
        "nn.LSTMCell(8, 8)((x[0] @ y[0].mT).softmax(1) @ x[0], (y[0], y[0]))[0]",
        "nn.Transformer(8, 2, 1, 1, 16, batch_first=True)(x, y)",
        "nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)(x, y)",
        "nn.MultiheadAttention(8, 2, batch_first=True)(x, y, y)",
        "F.scaled_dot_product_attention(x, y, y, attn_mask=torch.ones(6, 6).tril().bool())",
        "torch.stft(x[0, 0], 4, return_complex=True).abs()",
        "(x @ y.mT).topk(3)",
        "torch.linalg.inv(x[:, :3, :3] + 5.0 * torch.eye(3))",
        "torch.linalg.det(x[:, :2, :2])",
    ),
    _VOLUME: (
        "nn.Conv3d(2, 3, (1, 3, 3))",
        "nn.Conv3d(2, 3, 3)",
        "nn.MaxPool3d(2)",
        "nn.BatchNorm3d(2)",
        "nn.InstanceNorm3d(2)",
        "nn.AvgPool3d(2)",
        "nn.AdaptiveAvgPool3d(1)",
        "nn.ConvTranspose3d(2, 3, 2)",
        "nn.Upsample(scale_factor=2, mode='trilinear')",
    ),
}  # fmt: skip

_SAMPLES = 8


class _Written(nn.Module):
    """An expression of x and y; the module before it is its part."""

    def __init__(self, text: str) -> None:
        super().__init__()
        names = {"torch": torch, "nn": nn, "F": F}
        self.part = nn.Identity()
        if text.startswith("nn."):
            module, call, rest = text.partition(")(")
            self.part = eval(module + ")" if call else module, names)
            text = f"part({rest}" if call else "part(x)"
        self.function = eval(f"lambda part, x, y=None: {text}", names)

    def forward(self, *inputs: torch.Tensor) -> object:
        return self.function(self.part, *inputs)


def _written(text: str, shape: tuple[int, ...]) -> SurveyProgram:
    count = 2 if re.search(r"\by\b", text) else 1

    def make() -> nn.Module:
        torch.manual_seed(0)
        return _Written(text).eval()

    def samples() -> list[tuple[torch.Tensor, ...]]:
        generator = torch.Generator().manual_seed(1)
        return [
            tuple(torch.randn(shape, generator=generator) for _ in range(count))
            for _ in range(_SAMPLES)
        ]

    return SurveyProgram(text, make, samples)


def written() -> Iterator[SurveyProgram]:
    """Yield the programs of the table above."""
    for shape, texts in _WRITTEN.items():
        for text in texts:
            yield _written(text, shape)
