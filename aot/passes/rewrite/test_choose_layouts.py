# SPDX-License-Identifier: Apache-2.0
"""No copies avoidable by another order of some values; the bits stay, also for states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.fx import GraphModule

from aot.artefact.artefact import rewrite
from aot.dialect.graph import copied, dialect_op, initial_state, state_nodes
from aot.dialect.verifier import verify
from aot.passes.rewrite.choose_layouts import Asks, choose_layouts, copies
from aot.passes.rewrite.sink_transposes import sink_transposes
from aot.testing.fixtures import folded, int8_inputs
from aot.upstream.torch import tree_leaves


def conv(i: int = 3, o: int = 4, k: int = 3) -> nn.Module:
    return nn.Conv2d(i, o, k, padding=k // 2)


class Frames(nn.Module):
    """A convolution over this frame and the last results."""

    last: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.mixed = conv(), conv(8)
        self.register_buffer("last", torch.linspace(-1.0, 1.0, 120).reshape(1, 4, 6, 5))

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.conv(x))
        self.last = torch.tanh(self.mixed(torch.cat([y, self.last], 1)))
        return self.last + y


class Stream(nn.Module):
    """A causal convolution over the new input and the end of the earlier one."""

    past: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(4, 4, 3)
        self.register_buffer("past", torch.linspace(-1.0, 1.0, 8).reshape(1, 4, 2))

    def forward(self, x: Tensor) -> Tensor:
        signal = torch.cat([self.past, x], 2)
        self.past = signal[:, :, -2:].clone()
        return torch.tanh(self.conv(signal))


class Levels(nn.Module):
    """States without a gain from another order."""

    level: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(5, 5)
        self.register_buffer("level", torch.zeros(1, 4, 5))

    def forward(self, x: Tensor) -> Tensor:
        self.level = self.linear(x) * 0.5 + self.level * 0.5
        return self.level * 2.0


class Delay(nn.Module):
    """A state whose new value is an input, and one with the first state as its new value."""

    last: Tensor
    before: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(12, 4, 1)
        self.register_buffer("last", torch.linspace(-1.0, 1.0, 20).reshape(1, 4, 5))
        self.register_buffer("before", torch.linspace(1.0, -1.0, 20).reshape(1, 4, 5))

    def forward(self, x: Tensor) -> Tensor:
        y = torch.tanh(self.conv(torch.cat([x, self.last, self.before], 1)))
        self.before = self.last.clone()
        self.last = x.clone()
        return y


IMAGE, BATCH, LINE = (1, 3, 6, 5), (2, 3, 6, 5), (1, 4, 5)
BORDER = {"transpose": 2}  # an image comes and goes with its channels first
# name: function, children, input shapes, copies
CASES: dict[
    str, tuple[Callable[..., object], list[nn.Module], list[tuple[int, ...]], dict[str, int]]
] = {
    "sum with the input": (lambda a, b, x: b(x + a(x)), [conv(3, 3), conv()], [IMAGE], BORDER),
    "sum with the input, last": (lambda a, x: x + a(x), [conv(3, 3)], [IMAGE], BORDER),
    "product with the input": (
        lambda a, b, x: b(x * torch.sigmoid(a(x))),
        [conv(3, 1), conv()],
        [BATCH],
        BORDER,
    ),
    "joined to the input": (
        lambda a, b, x: b(torch.cat([a(x), x], 1)),
        [conv(), conv(7)],
        [IMAGE],
        {**BORDER, "cat": 1},
    ),
    "joined to another input": (
        lambda a, b, x, z: b(torch.cat([a(x), z], 1)),
        [conv(), conv(6)],
        [IMAGE, (1, 2, 6, 5)],
        {"transpose": 3, "cat": 1},
    ),
    "joined, and joined again": (
        lambda a, b, c, x: c(torch.cat([y := torch.cat([a(x), x], 1), b(y)], 1)),
        [conv(), conv(7), conv(11)],
        [IMAGE],
        {**BORDER, "cat": 2},
    ),
    "a mask of three inputs": (
        lambda a, b, x, m, z: b(torch.where(m > 0.0, a(x), z)),
        [conv(), conv(4)],
        [IMAGE, (1, 1, 6, 5), (1, 4, 6, 5)],
        {"transpose": 3},
    ),
    "joined for who reads channels first": (
        lambda a, x, z: torch.cat([a(x), z], 1),
        [conv()],
        [IMAGE, (1, 8, 6, 5)],
        {**BORDER, "cat": 1},
    ),
    "both orders are read": (
        lambda a, c, b, x: (b(y := x + a(x)), c(y)),
        [conv(3, 3), nn.Linear(5, 2), conv()],
        [IMAGE],
        {"transpose": 3},
    ),
    "lines": (
        lambda a, b, x: b(torch.cat([x, a(x)], 1)),
        [nn.Conv1d(4, 4, 1), nn.Conv1d(8, 2, 2)],
        [LINE],
        {**BORDER, "cat": 1},
    ),
    "frames": (lambda m, x: m(x), [Frames()], [IMAGE], {**BORDER, "cat": 1}),
    "a stream": (lambda m, x: m(x), [Stream()], [LINE], {**BORDER, "cat": 1}),
    "a delay": (lambda m, x: m(x), [Delay()], [LINE], {**BORDER, "cat": 2}),
    "levels": (lambda m, x: m(x), [Levels()], [LINE], {}),
}


@pytest.mark.parametrize("name", CASES)
def test_copies(name: str) -> None:
    function, children, shapes, expected = CASES[name]
    graph = folded(function, *children, shapes=shapes)
    before = copied(graph)
    rewrite(graph)
    verify(graph, "rewrite")
    counts = Counter(op.name for n in graph.graph.nodes if copies(n) and (op := dialect_op(n)))
    assert dict(counts) == expected
    states = [initial_state(g) for g in (before, graph)]
    count = len(int8_inputs(before)) - len(states[0])
    for seed in range(3):
        inputs = int8_inputs(before, seed)[:count]
        results = [
            tree_leaves(g(*inputs, *s)) for g, s in zip((before, graph), states, strict=True)
        ]
        outputs = len(results[0]) - len(states[0])
        for a, b in zip(*(r[:outputs] for r in results), strict=True):
            assert torch.equal(a, b)
        states = [tuple(r[outputs:]) for r in results]


@pytest.mark.parametrize(("name", "shape"), [("frames", (1, 6, 5, 4)), ("levels", (1, 4, 5))])
def test_states_are_as_they_are_read(name: str, shape: tuple[int, ...]) -> None:
    function, children, shapes, _ = CASES[name]
    graph = folded(function, *children, shapes=shapes)
    rewrite(graph)
    ((state, _),) = state_nodes(graph)
    assert tuple(state.meta["val"].shape) == shape


def test_only_choices_that_are_open_are_tried() -> None:
    """If the first sum of a chain has its channels last, no later one has a choice."""
    children = [conv(3, 3) for _ in range(8)]

    def chain(*args: object) -> object:
        *layers, x = args
        for layer in layers:
            x = x + layer(x)  # type: ignore[operator]
        return x

    graph = folded(chain, *children, shapes=[IMAGE])
    tried = 0

    def run(module: GraphModule, meets: Asks, _: Asks) -> None:
        nonlocal tried
        tried += 1
        sink_transposes(module, meets)

    layouts = choose_layouts(graph, run)
    assert (len(layouts.meeting), layouts.states, tried) == (1, frozenset(), 2)
