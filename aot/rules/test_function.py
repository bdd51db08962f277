# SPDX-License-Identifier: Apache-2.0
"""Functions of one value become one table, whatever they are written with."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.dialect.quantization import Quantization
from aot.passes.fold_qdq import fold_qdq
from aot.testing.fixtures import folded, forget_rules, model, op_counts, quantized, samples
from aot.upstream.torch import tree_leaves
from kernels.lut.op import table_of

SHAPE = (2, 3, 5)

ONE_TABLE: dict[str, Callable[..., object]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "swish by hand": lambda x: x * torch.sigmoid(x),
    "hardswish by hand": lambda x: x * F.relu6(x + 3) / 6,
    "softsign": F.softsign,
    "where": lambda x: torch.where(x > 0.5, x, 0.1 * x),
    "scalar on the left": lambda x: 1.0 - x,
    "reciprocal": lambda x: 2.0 / (1.0 + x.abs()),
    "polynomial": lambda x: 0.5 * x**3 - x**2 + 0.25,
    "one-element constant": lambda x: x * torch.full((1, 1), 0.7) + torch.tensor(0.1),
    "chain": lambda x: torch.exp(torch.tanh(torch.relu(x))),
    "maximum": lambda x: torch.maximum(x, torch.tanh(x)),
    "mask": lambda x: x * (x > 0),
    "masks": lambda x: ((x > -0.5) & ~(x > 1)).float() - torch.signbit(x),
    "what no list names": lambda x: torch.special.log_ndtr(x) * torch.heaviside(x, torch.ones(())),
}


@pytest.fixture
def short_stack() -> Iterator[None]:
    """Shorten Python's stack, so chains longer than it take no time."""
    frames, most = len(inspect.stack(0)), sys.getrecursionlimit()
    sys.setrecursionlimit(frames + 300)
    yield
    sys.setrecursionlimit(most)


def test_a_long_chain_is_one_table(short_stack: None) -> None:
    """Longer than Python's stack, and each clamp might belong to the op before it."""

    def chain(x: torch.Tensor) -> torch.Tensor:
        for _ in range(70):
            x = F.relu6(x * 1.001 + 0.01)
        return x

    assert op_counts(folded(chain, shapes=[SHAPE])) == {"pl.lut": 1}


def test_a_long_chain_of_float_ops(monkeypatch: pytest.MonkeyPatch, short_stack: None) -> None:
    """Longer than Python's stack."""
    forget_rules(monkeypatch, torch.ops.aten.amax.default, torch.ops.aten.div.Tensor)

    def chain(x: torch.Tensor) -> torch.Tensor:
        for _ in range(40):
            x = x / (x.amax(-1, keepdim=True) + 7.0)
        return x

    assert op_counts(folded(chain, shapes=[SHAPE]))["aten.div"] == 40


def test_a_long_chain_of_masks(short_stack: None) -> None:
    """Longer than Python's stack."""

    def chain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        mask = x > y
        for i in range(100):
            mask = mask & (y > i / 40 - 1.25)
        return torch.where(mask, x, y)

    assert op_counts(folded(chain, shapes=[SHAPE, SHAPE]))["pl.where"] == 101


@pytest.mark.parametrize("name", ONE_TABLE)
def test_one_table(name: str) -> None:
    graph = folded(ONE_TABLE[name], shapes=[SHAPE])
    assert op_counts(graph) == {"pl.lut": 1}


def test_the_table_is_torchs_own_arithmetic() -> None:
    """Exact: the same float32 function of the same dequantized values, quantized the same way."""
    source = quantized(model(ONE_TABLE["hardswish by hand"]), samples(SHAPE))
    float_io = fold_qdq(source, float_io=True)
    for (x,) in samples(SHAPE, count=4):
        for actual, expected in zip(*(tree_leaves(g(x)) for g in (float_io, source)), strict=True):
            assert torch.equal(actual, expected)


SEVERAL: dict[str, tuple[Callable[..., object], list[nn.Module], dict[str, int]]] = {
    "two values": (lambda x: x * x.mean(-1, keepdim=True), [], {"pl.mean": 1, "pl.mul": 1}),
    "a value others read": (
        lambda x: (y := torch.tanh(x)) * x + y.mean(-1, keepdim=True),
        [],
        {"pl.lut": 1, "pl.mul": 1, "pl.mean": 1, "pl.add": 1},
    ),
    "clamp of a layer": (lambda a, x: F.relu(a(x)), [nn.Linear(5, 4)], {"pl.linear": 1}),
    "function of a clamped layer": (
        lambda a, x: F.relu(a(x)) + 1.0,
        [nn.Linear(5, 4)],
        {"pl.linear": 1, "pl.lut": 1},
    ),
    "clamp of a layer that others read": (
        lambda a, x: F.relu(y := a(x)).mean(-1, keepdim=True) + y,
        [nn.Linear(5, 4)],
        {"pl.linear": 1, "pl.lut": 1, "pl.mean": 1, "pl.add": 1},
    ),
    "a mask that others read": (
        lambda x: (x * (mask := x > 0.5), mask.any(-1)),
        [],
        {"pl.lut": 1, "pl.where": 1, "pl.amax": 1},
    ),
    "a mask of two values": (
        lambda x: 2.0 * (x > x.mean(-1, keepdim=True)).float() - 1.0,
        [],
        {"pl.mean": 1, "pl.less": 1, "pl.where": 1},
    ),
    "constant of every element": (lambda x: x + torch.arange(5.0), [], {"pl.add": 1}),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_what_is_not_one_function(name: str) -> None:
    function, children, expected = SEVERAL[name]
    assert op_counts(folded(function, *children, shapes=[SHAPE])) == expected


def test_undefined_entries_are_zero_and_infinite_ones_saturate() -> None:
    table = table_of(torch.log, Quantization(0.1), Quantization(0.05, 5))
    assert table[:128].tolist() == [5] * 128  # log of negative numbers
    assert table[128] == -128  # log of zero
    assert table[138] == 5  # log of one
