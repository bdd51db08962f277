# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Iterable
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import ExportedProgram, default_decompositions

from aot.passes.aten.decompositions import run_decompositions as module
from aot.passes.aten.decompositions.run_decompositions import run_decompositions
from aot.rules import KEPT
from aot.upstream.torch import tree_leaves


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
    """Attention over the pixels of an image, and recurrence over a few."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
        self.lstm = nn.LSTM(8, 4, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        rows = self.layer(x.flatten(1, 2))
        return rows, self.lstm(rows[:, :3])[0]


class InPlace(nn.Module):
    """Writes into its own values, into one of them twice."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.conv(x)
        before = y * 2.0
        y.relu_().add_(before).mul_(0.5)
        return y, F.hardtanh_(before) + F.relu6(before - 1.0, inplace=True)


def viewed(x: Tensor) -> Tensor:
    y = x * 2.0
    row = y[:, :, 0]
    y.relu_()
    return row


def through_a_view(x: Tensor) -> Tensor:
    y = x * 2.0
    F.dropout(y, training=False).relu_()  # this is y itself
    y[:, :, 0] = 1.0
    return y


CONV = nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.Hardswish(), nn.MaxPool2d(2))
PROGRAMS: dict[str, nn.Module] = {
    "conv": nn.Sequential(CONV, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)),
    "norms": nn.Sequential(nn.LayerNorm(8), nn.GroupNorm(2, 4), nn.RMSNorm(8), nn.Softmax(1)),
    "upsample": nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"), nn.Upsample(20)),
    "functions": Function(lambda x: (F.selu(x) + F.silu(x), F.mish(x), x.square().std((2, 3)))),
    "views": Function(lambda x: (x.chunk(2, 1)[1].reshape(2, -1), x.flip(2)[:, :, ::3], x.T)),
    "edges": Function(lambda x: F.pad(x, (1, 1, 1, 1), mode="circular") @ torch.ones(10, 3)),
    "constants": Function(lambda x: x[:, torch.tensor([2, 0])] + torch.tensor([1.0])),
    "in place": InPlace(),
    "viewed": Function(viewed),
    "through a view": Function(through_a_view),
    "input": Function(lambda x: x.relu_() + 1.0),
    "complex": Function(lambda x: torch.view_as_real(torch.fft.rfft(x) * torch.fft.rfft(x).conj())),
    "state": Counting(),
    "rows": Rows(),
}


WHOLE = {"viewed", "through a view", "input", "complex", "state", "rows"}
"""The programs traced as a whole."""


class Together(nn.Module):
    """Programs in one, each with its own input: the setup of torch's table takes longer than most
    of them.
    """

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__()
        self.programs = nn.ModuleList(PROGRAMS[name] for name in names)

    def forward(self, *inputs: Tensor) -> list[object]:
        return [program(x) for program, x in zip(self.programs, inputs, strict=True)]


TOGETHER = {"whole": WHOLE, "by node": PROGRAMS.keys() - WHOLE}


def example() -> Tensor:
    return torch.ones(1, 4, 8, 8)


@cache
def exported(names: str) -> ExportedProgram:
    module = Together(sorted(TOGETHER[names])).eval()
    return torch.export.export(module, tuple(example() for _ in module.programs))


@cache
def by_the_default_table(names: str, kept: tuple[object, ...]) -> ExportedProgram:
    table = default_decompositions()
    for op in kept:
        table.pop(op)
    program: ExportedProgram = exported(names).run_decompositions(dict(table))
    return program


@cache
def by_ours(names: str, kept: tuple[object, ...]) -> ExportedProgram:
    return run_decompositions(exported(names), kept)


@pytest.mark.parametrize("names", TOGETHER)
@pytest.mark.parametrize("kept", [(), KEPT], ids=["all", "kept"])
@pytest.mark.filterwarnings("ignore:The use of `x.T`")
def test_as_the_default_table_does(names: str, kept: tuple[object, ...]) -> None:
    expected = by_the_default_table(names, kept)
    before = str(exported(names).graph)
    ours = by_ours(names, kept)
    assert str(exported(names).graph) == before
    assert str(ours.graph) == str(expected.graph)
    assert str(ours.graph_signature) == str(expected.graph_signature)


@pytest.mark.parametrize("name", [*PROGRAMS, *TOGETHER])
@pytest.mark.filterwarnings("ignore:The use of `x.T`")
def test_only_some_programs_are_traced_anew(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    traced = []
    monkeypatch.setattr(module, "decompose_exported_program", lambda *_, **__: traced.append(name))
    if name in TOGETHER:
        program = exported(name)
    else:
        program = torch.export.export(PROGRAMS[name].eval(), (example(),))
    run_decompositions(program, KEPT)
    assert (name in traced) == (name in WHOLE or name == "whole")


@pytest.mark.parametrize("names", TOGETHER)
@pytest.mark.filterwarnings("ignore:The use of `x.T`")
def test_nodes_keep_where_they_come_from(names: str) -> None:
    nodes = (
        [n for n in p.graph.nodes if n.op == "call_function"]
        for p in (by_ours(names, ()), by_the_default_table(names, ()))
    )
    for ours, expected in zip(*nodes, strict=True):
        for key in ("stack_trace", "nn_module_stack", "torch_fn"):
            assert ours.meta.get(key) == expected.meta.get(key), (ours, key)
        values = (tree_leaves(n.meta["val"]) for n in (ours, expected))
        for value, other in zip(*values, strict=True):
            assert (value.shape, value.dtype) == (other.shape, other.dtype), ours
            assert value.stride() == other.stride(), ours


def test_kept_ops_stay() -> None:
    program = torch.export.export(nn.Hardswish().eval(), (torch.ones(2, 3),))
    hardswish = torch.ops.aten.hardswish.default
    assert hardswish not in [n.target for n in run_decompositions(program).graph.nodes]
    assert hardswish in [n.target for n in run_decompositions(program, [hardswish]).graph.nodes]
