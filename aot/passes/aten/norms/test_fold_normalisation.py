# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.dialect.graph import drop_dead_code
from aot.lower import lower
from aot.options import Measure, Quantize
from aot.passes.aten.norms.fold_normalisation import fold_normalisation
from aot.testing.fixtures import check_aten_pass, model, op_counts, samples


class Layers(nn.Module):
    mean: torch.Tensor
    deviation: torch.Tensor
    last_mean: torch.Tensor
    last_deviation: torch.Tensor
    shifts: torch.Tensor
    gains: torch.Tensor
    uneven: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).reshape(1, 3, 1, 1))
        self.register_buffer("deviation", torch.tensor([0.229, 0.1, 0.225]).reshape(1, 3, 1, 1))
        self.register_buffer("last_mean", torch.tensor([0.485, 0.456, 0.406]))
        self.register_buffer("last_deviation", torch.tensor([0.229, 0.1, 0.225]))
        self.register_buffer("shifts", torch.arange(5.0))
        self.register_buffer("uneven", torch.tensor([1.0, 1.0, 9.0]).reshape(1, 3, 1, 1))
        self.register_buffer("gains", torch.linspace(0.5, 2.0, 5))
        self.bare, self.padded = nn.Conv2d(3, 4, 3), nn.Conv2d(3, 4, 3, padding=1)
        self.grouped = nn.Conv2d(3, 6, 3, groups=3, bias=False)
        self.line, self.linear = nn.Conv1d(3, 4, 2), nn.Linear(5, 4)
        self.row = nn.Linear(90, 4)

    def normalised(self, x: torch.Tensor) -> torch.Tensor:
        return (x / 255.0 - self.mean) / self.deviation


Function = Callable[..., torch.Tensor]
BLUE = torch.tensor([2, 1, 0])


def last(n: Layers, x: torch.Tensor) -> torch.Tensor:
    """Normalise a value with channels last."""
    return (x / 255.0 - n.last_mean) / n.last_deviation


LEFT = {"aten.convolution": 1}
ADDED = {"aten.add": 1, "aten.convolution": 1}
CASES: dict[str, tuple[Function, dict[str, int]]] = {
    "by channel": (lambda n, x: n.bare(n.normalised(x)), LEFT),
    "groups without a bias": (lambda n, x: n.grouped(n.normalised(x)), LEFT),
    "padded": (lambda n, x: n.padded(n.normalised(x)), ADDED),
    "padded, factors only": (lambda n, x: n.padded(x / n.deviation * 0.5), LEFT),
    "by number": (lambda n, x: n.bare(x / 127.5 - 1.0), LEFT),
    "from a number": (lambda n, x: n.bare(3.0 - 2.0 * x), LEFT),
    "one dimension": (lambda n, x: n.line(x.reshape(1, 3, 30) * 2.0 - 0.5), LEFT),
    "a linear layer": (
        lambda n, x: n.linear((x + n.shifts) * n.gains),
        {"aten.linear": 1},
    ),
    "another order": (lambda n, x: n.bare(n.normalised(x.transpose(2, 3))), LEFT),
    "channels were last": (
        lambda n, x: n.bare(last(n, x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)),
        LEFT,
    ),
    "channels were last, padded": (
        lambda n, x: n.padded(last(n, x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)),
        ADDED,
    ),
    "in a row": (lambda n, x: n.row(n.normalised(x).flatten(1)), {"aten.linear": 1}),
    "blue first": (lambda n, x: n.bare(n.normalised(x.flip(1))), {"aten.flip": 1, **LEFT}),
    "blue last": (
        lambda n, x: n.padded(n.normalised(x)[:, BLUE]),
        {"aten.index": 1, **ADDED},
    ),
    "mirrored": (lambda n, x: n.padded(n.normalised(x).flip(3)), {"aten.flip": 1, **ADDED}),
    "cropped": (lambda n, x: n.bare(n.normalised(x)[:, :, 1:5]), {"aten.slice": 1, **LEFT}),
    "padded by itself": (
        lambda n, x: n.bare(F.pad(n.normalised(x), (1, 0, 2, 0))),
        {"aten.constant_pad_nd": 1, **ADDED},
    ),
    "padded before": (
        lambda n, x: n.bare(n.normalised(F.pad(x, (1, 1), value=114.0))),
        {"aten.constant_pad_nd": 1, **LEFT},
    ),
    "resized": (
        lambda n, x: n.padded(n.normalised(F.interpolate(x, size=(4, 4), mode="bilinear"))),
        {"aten.upsample_bilinear2d": 1, **ADDED},
    ),
    "within limits": (
        lambda n, x: n.bare(n.normalised(x.clamp(0, 255))),
        {"aten.clamp": 1, **LEFT},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_fold_normalisation(name: str) -> None:
    function, left = CASES[name]
    changes, graph = check_aten_pass(
        fold_normalisation, function, Layers(), inputs=[image()], atol=1e-3
    )
    drop_dead_code(graph.graph)
    assert changes == 1
    moved = ("aten.view", "aten.reshape", "aten.transpose", "aten.permute")
    assert {op: n for op, n in op_counts(graph).items() if op not in moved} == left


def image() -> torch.Tensor:
    return torch.rand(1, 3, 6, 5, generator=torch.Generator().manual_seed(1)) * 255.0


KEPT: dict[str, Function] = {
    "padded, by number": lambda n, x: n.padded(x / 127.5 - 1.0),
    "padded by other than 0": lambda n, x: n.bare(F.pad(n.normalised(x), (1, 1), value=2.0)),
    "padded twice": lambda n, x: n.padded(F.pad(x / n.deviation - 1.0, (1, 1)) - n.mean),
    "another reader": lambda n, x: n.bare(y := x * 0.5) + y.sum(),
    "along the rows": lambda n, x: n.bare(x * n.gains),
    "of very different size": lambda n, x: n.bare(x * n.uneven),
    "computed": lambda n, x: n.bare(F.relu(x) * 0.5),
    "by zero": lambda n, x: n.bare(x * 0.0),
    "a number divided": lambda n, x: n.bare(2.0 / (x + 1.0)),
    "transposed": lambda n, x: F.conv_transpose2d(x * 0.5, n.padded.weight.transpose(0, 1)),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept(name: str) -> None:
    changes, _ = check_aten_pass(fold_normalisation, KEPT[name], Layers(), inputs=[image()])
    assert changes == 0


def test_what_is_folded_is_as_good_and_no_op() -> None:
    """Training does not fold: its weights would be a hundredth as large."""
    net = model(lambda n, x: n.bare(n.normalised(x.float())), Layers())
    data = [((x * 60.0 + 128.0).clamp(0, 255).to(torch.uint8),) for (x,) in pixels()]
    result = lower(net, data[0], calibration=data, measure=Measure(per_op=False))
    assert not {"pl.lut", "pl.add", "pl.mul"} & set(op_counts(result.module))
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 38.0
    sizes: list[float] = []

    def train(module: nn.Module) -> None:
        sizes.extend(float(p.abs().max()) for p in module.parameters() if p.dim() == 4)

    lower(
        net,
        data[0],
        calibration=data,
        quantize=Quantize(train=train),
        measure=Measure(per_op=False, min_sqnr=-math.inf),
    )
    assert sizes == [float(net.parts[0].bare.weight.abs().max())]  # type: ignore[index, union-attr]


def pixels() -> list[tuple[torch.Tensor, ...]]:
    return samples((1, 3, 6, 5), count=24)
