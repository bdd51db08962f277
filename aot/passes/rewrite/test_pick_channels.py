# SPDX-License-Identifier: Apache-2.0
"""Channels are copied by their readers, not by each unit on the way; the bits stay, and copies
never take more.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from aot.artefact.artefact import rewrite
from aot.passes.rewrite.pick_channels import pick_channels
from aot.testing.fixtures import folded, int8_inputs, op_counts

IMAGE, BATCH, LINE = (1, 3, 6, 5), (2, 3, 6, 5), (2, 3, 9)
MOVING = ("transpose", "slice", "cat", "gather")


def conv(i: int, o: int, k: int = 1) -> nn.Module:
    return nn.Conv2d(i, o, k, padding=k // 2)


def depthwise(c: int) -> nn.Module:
    return nn.Conv2d(c, c, 3, padding=1, groups=c)


def shuffled(x: Tensor, groups: int = 2) -> Tensor:
    n, c, *pixels = x.shape
    return x.view(n, groups, c // groups, *pixels).transpose(1, 2).reshape(n, c, *pixels)


def unit(x: Tensor, layer: nn.Module) -> Tensor:
    """Return ShuffleNet V2's unit: one half passes on, the other goes through a layer."""
    kept, taken = x.chunk(2, 1)
    return shuffled(torch.cat([kept, layer(taken)], 1))


def units(*given: object) -> object:
    first, *layers, last, x = given
    assert isinstance(first, nn.Module)
    assert isinstance(last, nn.Module)
    assert isinstance(x, Tensor)
    x = first(x)
    for layer in layers:
        assert isinstance(layer, nn.Module)
        x = unit(x, layer)
    return last(x)


def branch(c: int) -> nn.Module:
    return nn.Sequential(conv(c, c), nn.ReLU(), depthwise(c), conv(c, c), nn.ReLU())


def line(i: int, o: int) -> nn.Module:
    return nn.Conv1d(i, o, 1)


Case = tuple[Callable[..., object], list[nn.Module], tuple[int, ...], dict[str, int]]
# function, children, input's shape, movements in the end; the input and the output are transposed
CASES: dict[str, Case] = {
    # the second unit reads two parts, its reader three
    "two units": (
        units,
        [conv(3, 16), branch(8), branch(8), conv(16, 4)],
        IMAGE,
        {"transpose": 2, "cat": 2},
    ),
    "two units, batch": (
        units,
        [conv(3, 16), branch(8), branch(8), conv(16, 4)],
        BATCH,
        {"transpose": 2, "cat": 2},
    ),
    "three units": (
        units,
        [conv(3, 32), branch(16), branch(16), branch(16), conv(32, 4)],
        IMAGE,
        {"transpose": 2, "cat": 3},
    ),
    "of lines": (
        units,
        [line(3, 16), line(8, 8), line(8, 8), line(16, 4)],
        LINE,
        {"transpose": 2, "cat": 2},
    ),
    # halves of 12 channels are computed apart, quarters of 6 are not
    "parts of odd sizes": (
        units,
        [conv(3, 24), branch(12), branch(12), conv(24, 4)],
        IMAGE,
        {"transpose": 2, "cat": 2, "slice": 4},
    ),
    "a depthwise convolution and a layer read it": (
        lambda a, b, d, e, f, x: (y := unit(unit(a(x), b), b), f(d(y)) + e(y))[1],
        [conv(3, 16), branch(8), depthwise(16), conv(16, 4), conv(16, 4)],
        IMAGE,
        {"transpose": 2, "cat": 2},
    ),
    "a pool and a classifier": (
        lambda a, b, d, c, x: c(F.relu(d(unit(unit(a(x), b), b))).mean((2, 3))),
        [conv(3, 16), branch(8), conv(16, 8), nn.Linear(8, 3)],
        IMAGE,
        {"transpose": 1, "cat": 2},
    ),
    "groups of three": (
        lambda a, b, c, x: c(shuffled(torch.cat([a(x), b(x), F.relu(a(x))], 1), 3)[:, 8:]),
        [conv(3, 8), conv(3, 8), conv(16, 4)],
        IMAGE,
        {"transpose": 2, "cat": 1},  # dead channels are not computed, so whole parts are left
    ),
    # a shuffle and the op after it, each with channels at the other end
    "shuffled for a sum": (
        lambda a, b, c, x: c(unit(a(x), b) * x.mean(1, keepdim=True) + a(x)),
        [conv(3, 16), branch(8), conv(16, 4)],
        IMAGE,
        {"transpose": 4, "cat": 1},
    ),
    "cut of what is joined": (
        lambda a, b, c, d, x: (y := torch.cat([a(x), b(x)], 1), c(y[:, :8]) + d(y[:, 8:]))[1],
        [conv(3, 8), conv(3, 8), conv(8, 4), conv(8, 4)],
        IMAGE,
        {"transpose": 2},
    ),
    "joined twice": (
        lambda a, b, c, x: c(torch.cat([torch.cat([a(x), b(x)], 1), x], 1)),
        [conv(3, 8), conv(3, 8), conv(19, 4)],
        IMAGE,
        {"transpose": 2, "cat": 1},
    ),
    "joined twice, and read between": (
        lambda a, b, c, d, x: c(torch.cat([y := torch.cat([a(x), b(x)], 1), d(y)], 1)),
        [conv(3, 8), conv(3, 8), conv(20, 4), conv(16, 4)],
        IMAGE,
        {"transpose": 2, "cat": 2},
    ),
    "a value twice": (
        lambda a, b, c, x: c(torch.cat([torch.cat([y := a(x), b(x)], 1), y], 1)),
        [conv(3, 8), conv(3, 8), conv(24, 4)],
        IMAGE,
        {"transpose": 2, "cat": 1},
    ),
    "pixels": (
        lambda a, b, c, x: c(torch.cat([y := torch.cat([a(x), b(x)], 2), y[:, :, :3]], 2)),
        [conv(3, 8), conv(3, 8), conv(8, 4)],
        BATCH,
        {"transpose": 2, "cat": 2, "slice": 1},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_pick_channels(name: str) -> None:
    function, children, shape, expected = CASES[name]
    graph = folded(function, *children, shapes=[shape])
    inputs = int8_inputs(graph)
    before = graph(*inputs)
    rewrite(graph)
    for a, b in zip(before, graph(*inputs), strict=True):
        assert torch.equal(a, b)
    counts = {name[3:]: n for name, n in op_counts(graph).items()}
    assert {n: c for n, c in counts.items() if n in MOVING} == expected


def test_a_graph_that_cannot_change_stays() -> None:
    graph = folded(
        lambda a, b, x: torch.cat([a(x), b(x)], 1), conv(3, 4), conv(3, 4), shapes=[IMAGE]
    )
    before = [(node.target, node.args) for node in graph.graph.nodes]
    assert pick_channels(graph) == 0
    assert [(node.target, node.args) for node in graph.graph.nodes] == before
