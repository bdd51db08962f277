# SPDX-License-Identifier: Apache-2.0
"""Models through torch's exporter and back: the same int8 results as lowered directly."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

from aot.importers.onnx.graph import OnnxModule
from aot.importers.onnx.module import onnx_module
from aot.lower import lower
from aot.options import Measure


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.attention(x, x, x)[0]
        return result


class _Last(nn.Module):
    """The last step of a recurrent layer."""

    def __init__(self, kind: type[nn.LSTM] | type[nn.GRU]) -> None:
        super().__init__()
        self.cell = kind(6, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.head(self.cell(x)[0][:, -1])
        return result


def _convolutions() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(8, 8, 3, groups=8, stride=2), nn.ReLU6(), nn.AdaptiveAvgPool2d(1)),
        *(nn.Flatten(), nn.Linear(8, 5)),
    )


def _activations() -> nn.Module:
    kinds = (nn.GELU(), nn.SiLU(), nn.Hardswish(), nn.ELU(), nn.LeakyReLU(), nn.Softmax(-1))
    return nn.Sequential(*(part for kind in kinds for part in (nn.Linear(8, 8), kind)))


def _images() -> nn.Module:
    up = nn.Upsample(scale_factor=2, mode="bilinear")
    return nn.Sequential(nn.Conv2d(3, 4, 1), nn.PReLU(4), up, nn.ConvTranspose2d(4, 3, 2, 2))


def _norms() -> nn.Module:
    return nn.Sequential(nn.Conv2d(4, 8, 3), nn.GroupNorm(2, 8), nn.ReLU(), nn.Conv2d(8, 4, 1))


_MODELS = {
    "convolutions": (_convolutions(), (1, 3, 16, 16)),
    "activations": (_activations(), (1, 8)),
    "images": (_images(), (1, 3, 6, 6)),
    "group_norm": (_norms(), (1, 4, 8, 8)),
    "layer_norm": (nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 8)), (1, 5, 8)),
    "attention": (_Attention(), (1, 6, 16)),
    "lstm": (_Last(nn.LSTM), (1, 7, 6)),
    "gru": (_Last(nn.GRU), (1, 7, 6)),
    "signals": (nn.Sequential(nn.Conv1d(3, 4, 3), nn.AvgPool1d(2), nn.Tanh()), (1, 3, 20)),
}


def _imported(model: nn.Module, x: torch.Tensor, file: Path) -> OnnxModule:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, (x,), file, dynamo=False, opset_version=17)
    return onnx_module(file)


@pytest.mark.parametrize("name", _MODELS)
def test_same_bits(name: str, tmp_path: Path) -> None:
    model, shape = _MODELS[name]
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3, generator=generator)
    samples = [torch.randn(shape, generator=generator) for _ in range(16)]
    model.eval()
    measure = Measure(min_sqnr=-math.inf, min_agreement=0.0, per_op=False)
    direct, imported = (
        lower(m, samples[0], calibration=samples, measure=measure)
        for m in (model, _imported(model, samples[0], tmp_path / "m.onnx"))
    )
    for x in samples:
        assert torch.equal(direct.reference([x])[0], imported.reference([x])[0])
    # Names of nodes are longer, and a recurrent layer has a reshape more, which moves nothing.
    assert len(imported.report["ops"]) <= len(direct.report["ops"]) + 1
