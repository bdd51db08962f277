# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import default_decompositions

from aot.passes.aten.run_decompositions import run_decompositions
from aot.rules import KEPT


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.sum: Tensor
        self.register_buffer("sum", torch.zeros(1, 4, 8, 8))

    def forward(self, x: Tensor) -> Tensor:
        self.sum.add_(x)
        return self.sum.clone().add_(1.0)


class Function(nn.Module):
    def __init__(self, function: Callable[[Tensor], object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> object:
        return self.function(x)


class Rows(nn.Module):
    """Attention and recurrence over the rows of an image."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
        self.lstm = nn.LSTM(8, 4, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        rows = self.layer(x.flatten(1, 2))
        return rows, self.lstm(rows)[0]


CONV = nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.Hardswish(), nn.MaxPool2d(2))
PROGRAMS: dict[str, nn.Module] = {
    "conv": nn.Sequential(CONV, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)),
    "norms": nn.Sequential(nn.LayerNorm(8), nn.GroupNorm(2, 4), nn.RMSNorm(8), nn.Softmax(1)),
    "upsample": nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"), nn.Upsample(20)),
    "functions": Function(lambda x: (F.selu(x) + F.silu(x), F.mish(x), x.square().std((2, 3)))),
    "views": Function(lambda x: (x.chunk(2, 1)[1].reshape(2, -1), x.flip(2)[:, :, ::3], x.T)),
    "edges": Function(lambda x: F.pad(x, (1, 1, 1, 1), mode="circular") @ torch.ones(10, 3)),
    "state": Counting(),
    "rows": Rows(),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("kept", [(), KEPT], ids=["all", "kept"])
@pytest.mark.filterwarnings("ignore:The use of `x.T`")
def test_as_the_default_table_does(name: str, kept: tuple[object, ...]) -> None:
    program = torch.export.export(PROGRAMS[name].eval(), (torch.ones(1, 4, 8, 8),))
    table = default_decompositions()
    for op in kept:
        table.pop(op)
    expected = program.run_decompositions(dict(table))
    ours = run_decompositions(program, kept)
    assert str(ours.graph) == str(expected.graph)
    assert str(ours.graph_signature) == str(expected.graph_signature)


def test_kept_ops_stay() -> None:
    program = torch.export.export(nn.Hardswish().eval(), (torch.ones(2, 3),))
    hardswish = torch.ops.aten.hardswish.default
    assert hardswish not in [n.target for n in run_decompositions(program).graph.nodes]
    assert hardswish in [n.target for n in run_decompositions(program, [hardswish]).graph.nodes]
