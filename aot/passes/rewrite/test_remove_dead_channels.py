# SPDX-License-Identifier: Apache-2.0
"""Dead channels go; the outputs keep their bits, also with garbage in the dead channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.fx import GraphModule, Interpreter, Node

from aot.artefact.artefact import rewrite
from aot.dialect.graph import copied, shape_of
from aot.dialect.verifier import verify
from aot.passes.fold_qdq import fold_qdq
from aot.passes.rewrite.live_channels import live_channels
from aot.passes.rewrite.remove_dead_channels import Shrunk, remove_dead_channels
from aot.testing.fixtures import Calls, int8_inputs, quantized, samples
from aot.upstream.torch import tree_leaves

IMAGE = (1, 4, 7, 6)


def zeroed(layer: nn.Module, rows: list[int], bias: float = 0.3) -> nn.Module:
    """A layer with outputs that are constant; their value is not 0 before the activation."""
    assert isinstance(layer, nn.Conv2d | nn.Linear | nn.ConvTranspose2d)
    assert layer.bias is not None
    with torch.no_grad():
        weight = (
            layer.weight.transpose(0, 1) if isinstance(layer, nn.ConvTranspose2d) else layer.weight
        )
        weight[rows] = 0.0
        layer.bias[rows] = bias
    return layer


def unread(layer: nn.Module, columns: list[int]) -> nn.Module:
    """A layer that does not read some of its inputs."""
    assert isinstance(layer, nn.Conv2d | nn.Linear)
    with torch.no_grad():
        layer.weight[:, columns] = 0.0
    return layer


def conv(i: int, o: int, k: int = 1, **more: Any) -> nn.Conv2d:
    return nn.Conv2d(i, o, k, padding=k // 2, **more)


def depthwise(c: int, m: int = 1, **more: Any) -> nn.Conv2d:
    return nn.Conv2d(c, c * m, 3, padding=1, groups=c, **more)


def seeded(make: Callable[[], list[nn.Module]]) -> list[nn.Module]:
    torch.manual_seed(0)
    return make()


def graph_of(
    function: Callable[..., object], *children: nn.Module, shape: Any = IMAGE
) -> GraphModule:
    """The dialect graph of a function after all rewrites but the one under test."""
    graph = fold_qdq(quantized(Calls(function, *children).eval(), samples(shape)))
    verify(graph, "fold_qdq")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aot.artefact.artefact.remove_dead_channels", lambda _: [])
        rewrite(graph)
    return graph


class _Garbage(Interpreter):
    """A run with random integers in dead channels; those that a bias takes in are constants."""

    def __init__(self, graph: GraphModule) -> None:
        super().__init__(graph)
        self._live = live_channels(graph)
        self._constants: dict[Node, Tensor] = {}
        for reader in self._live.readers.values():
            read = reader.layer.inside.read | reader.layer.border.read
            taken_in = (read & ~reader.needs).any(0)
            known = self._constants.get(reader.input, torch.full(taken_in.shape, 999))
            self._constants[reader.input] = torch.where(taken_in, reader.constants, known)

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        channels = self._live.channels.get(n)
        if channels is None or not isinstance(result, Tensor) or n.op == "placeholder":
            return result
        known = self._constants.get(n, torch.full(channels.shape, 999))
        garbage = torch.randint(-128, 128, result.shape)
        dead = torch.where(known == 999, garbage, known).to(result.dtype)
        return torch.where(channels, result, dead)


def check(graph: GraphModule) -> list[Shrunk]:
    """Remove the dead channels; compare with the graph before, with garbage in them, too."""
    before = copied(graph)
    shrunk = remove_dead_channels(graph)
    verify(graph, "remove_dead_channels")
    for seed in range(3):
        inputs = int8_inputs(graph, seed)
        expected = tree_leaves(before(*inputs))
        for found in (graph(*inputs), _Garbage(before).run(*inputs)):
            for a, b in zip(expected, tree_leaves(found), strict=True):
                assert torch.equal(a, b)
    assert not remove_dead_channels(graph)
    return shrunk


def widths(shrunk: list[Shrunk]) -> list[tuple[int, int]]:
    return [(layer.after.inputs, layer.after.outputs) for layer in shrunk]


Case = tuple[Callable[..., object], Callable[[], list[nn.Module]], list[tuple[int, int]]]
CASES: dict[str, Case] = {
    "constant, for a 1x1 layer": (
        lambda a, b, x: b(a(x)),
        lambda: [zeroed(conv(4, 8, 3), [0, 5]), conv(8, 3)],
        [(4, 6), (6, 3)],
    ),
    "the zero point, for a padded layer": (
        lambda a, b, x: b(F.relu(a(x))),
        lambda: [zeroed(conv(4, 8), [1, 2, 7], -0.5), conv(8, 3, 3)],
        [(4, 5), (5, 3)],
    ),
    "constant, beside the zeros of padding": (
        lambda a, b, x: b(a(x)),
        lambda: [zeroed(conv(4, 8), [1]), conv(8, 3, 3)],
        [],
    ),
    "nobody reads it": (
        lambda a, b, x: b(F.relu(a(x))),
        lambda: [conv(4, 8), unread(conv(8, 3, 3), [3, 4])],
        [(4, 6), (6, 3)],
    ),
    "through a depthwise layer": (
        lambda a, d, b, x: b(F.relu(d(F.relu(a(x))))),
        lambda: [conv(4, 8), zeroed(depthwise(8), [2, 3]), conv(8, 5)],
        [(4, 6), (6, 6), (6, 5)],
    ),
    "through a depthwise layer with two outputs of each input": (
        lambda a, d, b, x: b(d(a(x))),
        lambda: [conv(4, 4), zeroed(depthwise(4, 2), [2, 3, 6]), conv(8, 5)],
        [(4, 3), (3, 6), (6, 5)],
    ),
    "through a sum": (
        lambda a, b, c, x: c(F.relu(a(x) + b(x))),
        lambda: [conv(4, 8), conv(4, 8), unread(conv(8, 3), [0, 7])],
        [(4, 6), (4, 6), (6, 3)],
    ),
    "one of a sum": (
        lambda a, b, c, x: c(a(x) + b(x)),
        lambda: [zeroed(conv(4, 8), [1]), conv(4, 8), conv(8, 3)],
        [],
    ),
    "both of a sum": (
        lambda a, b, c, x: c(a(x) + b(x)),
        lambda: [zeroed(conv(4, 8), [1, 2]), zeroed(conv(4, 8), [2, 3]), conv(8, 3)],
        [(4, 7), (4, 7), (7, 3)],
    ),
    "a residual block": (
        lambda a, b, c, e, x: e(F.relu(c(F.relu(b(y := F.relu(a(x))))) + y)),
        lambda: [conv(4, 8), zeroed(conv(8, 8, 3), [3], -1.0), conv(8, 8), unread(conv(8, 2), [6])],
        [(8, 7), (7, 8)],
    ),
    "concatenation": (
        lambda a, b, c, x: c(torch.cat([a(x), b(x)], 1)),
        lambda: [zeroed(conv(4, 6), [0]), conv(4, 4), unread(conv(10, 3), [7, 9])],
        [(4, 5), (4, 2), (7, 3)],
    ),
    "a whole part of a concatenation": (
        lambda a, b, c, x: c(torch.cat([a(x), F.relu(b(x))], 1)),
        lambda: [conv(4, 6), zeroed(conv(4, 4, 3), [0, 1, 2, 3]), conv(10, 3)],
        [(0, 0), (6, 3)],
    ),
    "concatenations of one that lost channels": (
        lambda a, b, c, x: c(torch.cat([y := F.relu(a(x)), b(y), y], 1)),
        lambda: [zeroed(conv(4, 6), [0, 1], -0.5), conv(6, 4), unread(conv(16, 3), [4, 7, 14])],
        [(4, 4), (4, 3), (11, 3)],
    ),
    "pools": (
        lambda a, b, x: b(F.avg_pool2d(F.max_pool2d(F.relu(a(x)), 3, 1, 1), 2)),
        lambda: [zeroed(conv(4, 8), [0, 3]), unread(conv(8, 3), [1])],
        [(4, 5), (5, 3)],
    ),
    "a mean and a classifier": (
        lambda a, b, x: b(F.relu(a(x)).mean((2, 3))),
        lambda: [zeroed(conv(4, 8, 3), [4, 5]), unread(nn.Linear(8, 3), [0])],
        [(4, 5), (5, 3)],
    ),
    "pixels become columns": (
        lambda a, b, x: b(F.relu(a(x)).flatten(1)),
        lambda: [zeroed(conv(4, 8, 3), [4, 5]), nn.Linear(8 * 42, 3)],
        [(4, 6), (6 * 42, 3)],
    ),
    "squeeze and excitation": (
        lambda a, s, b, x: b((y := F.relu(a(x))) * torch.sigmoid(s(y.mean((2, 3), keepdim=True)))),
        lambda: [zeroed(conv(4, 8), [2], -1.0), conv(8, 8), unread(conv(8, 3, 3), [2])],
        [(4, 7), (7, 7), (7, 3)],
    ),
    "a product that is always 0": (
        lambda a, b, c, x: c(F.relu(a(x)) * F.hardswish(b(x))),
        lambda: [zeroed(conv(4, 8), [2], -1.0), conv(4, 8), conv(8, 3, 3)],
        [(4, 7), (4, 7), (7, 3)],
    ),
    "transposed convolution": (
        lambda a, t, b, x: b(F.relu(t(F.relu(a(x))))),
        lambda: [
            zeroed(conv(4, 8), [2], -1.0),
            zeroed(nn.ConvTranspose2d(8, 6, 2, 2), [1]),
            conv(6, 3),
        ],
        [(4, 7), (7, 5), (5, 3)],
    ),
    "slopes by channel": (
        lambda a, p, b, x: b(p(a(x))),
        lambda: [conv(4, 8), nn.PReLU(8), unread(conv(8, 3), [0, 4])],
        [(4, 6), (6, 3)],
    ),
    "halves": (
        lambda a, b, c, x: b((y := F.relu(a(x)))[:, :5]) + c(y[:, 5:]),
        lambda: [conv(4, 10, 3), unread(conv(5, 3, 3), [1]), unread(conv(5, 3, 3), [4])],
        [(4, 8), (4, 3), (4, 3)],
    ),
    "an output is kept": (lambda a, x: a(x), lambda: [zeroed(conv(4, 8), [1])], []),
    "an input is kept": (lambda a, x: a(x), lambda: [unread(conv(4, 8), [1])], []),
    "groups are kept": (
        lambda a, b, x: b(a(x)),
        lambda: [conv(4, 8), unread(nn.Conv2d(8, 8, 1, groups=2), [1])],
        [],
    ),
    "everything is constant": (
        lambda a, b, x: b(F.relu(a(x))),
        lambda: [zeroed(conv(4, 8), list(range(8))), conv(8, 3)],
        [(4, 1), (1, 3)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_positions(name: str) -> None:
    function, make, expected = CASES[name]
    assert widths(check(graph_of(function, *seeded(make)))) == expected


def test_a_range_is_proven_not_sampled() -> None:
    """A ReLU cuts a channel for every image of bytes, or for all but one that nobody has seen."""
    layer = conv(4, 2)
    with torch.no_grad():
        layer.weight.fill_(0.1)
        assert layer.bias is not None
        layer.bias.copy_(torch.tensor([-0.4, -4.0]))

    def graph(inputs: float) -> GraphModule:
        data = [
            (torch.full(IMAGE, -inputs),),
            (torch.full(IMAGE, inputs / 2),),
            (torch.full(IMAGE, inputs),),
        ]
        made = fold_qdq(
            quantized(Calls(lambda a, b, x: b(F.relu(a(x))), layer, conv(2, 3, 3)).eval(), data)
        )
        rewrite(made)
        return made

    layers = [n for n in graph(2.0).graph.nodes if "conv2d" in str(n.target)]
    assert shape_of(layers[0])[-1] == 1  # 0.1 * 4 * 2 - 0.4 > 0, but 0.1 * 4 * 2 - 4 < 0


def test_layers_with_one_weight_keep_one() -> None:
    """The second of two layers could lose a channel; the first one needs it."""
    layers = seeded(lambda: [conv(8, 8), unread(conv(8, 8), [3]), unread(conv(8, 3), [2, 3])])
    graph = graph_of(lambda a, b, c, x: c(b(F.relu(a(x)))), *layers, shape=(1, 8, 5, 5))
    first, second, _ = (n for n in graph.graph.nodes if "conv2d" in str(n.target))
    second.replace_input_with(second.args[1], first.args[1])
    graph.recompile()
    check(graph)
    first, second, _ = (n for n in graph.graph.nodes if "conv2d" in str(n.target))
    assert first.args[1] is second.args[1]


def test_the_pass_reports_sizes() -> None:
    function, make, _ = CASES["constant, for a 1x1 layer"]
    first, second = check(graph_of(function, *seeded(make)))
    assert (first.before.macs, first.after.macs) == (42 * 8 * 4 * 9, 42 * 6 * 4 * 9)
    assert (second.before.constant_bytes, second.after.constant_bytes) == (24 + 36, 18 + 36)


def test_a_bias_that_would_not_fit_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aot.passes.rewrite.live_channels.INT32_MAX", 1)
    function, make, _ = CASES["constant, for a 1x1 layer"]
    assert not check(graph_of(function, *seeded(make)))


def test_a_constant_zero_tap_never_meets_the_padding() -> None:
    """One pixel in a 3x3 window: only the centre reads it."""
    layers = seeded(lambda: [zeroed(nn.Conv2d(4, 8, (7, 6)), [1]), conv(8, 3, 3)])
    assert widths(check(graph_of(lambda a, b, x: b(a(x)), *layers))) == [(4, 7), (7, 3)]


def _layers(draw: st.DrawFn, channels: int) -> tuple[nn.Module, int]:
    kind = draw(st.sampled_from(["conv", "depthwise", "pool", "average", "relu", "hardswish"]))
    out = draw(st.integers(1, 7))

    def dead(channels: int) -> list[int]:
        return draw(st.lists(st.integers(0, channels - 1), unique=True, max_size=channels))

    bias = draw(st.sampled_from([-1.0, 0.0, 0.4]))
    if kind == "conv":
        made = conv(channels, out, draw(st.sampled_from([1, 3])))
        return unread(zeroed(made, dead(out), bias), dead(channels)), out
    if kind == "depthwise":
        times = draw(st.sampled_from([1, 1, 2]))
        return zeroed(depthwise(channels, times), dead(channels * times), bias), channels * times
    pools: dict[str, nn.Module] = {
        "pool": nn.MaxPool2d(3, 1, 1),
        "average": nn.AvgPool2d(3, 1, 1),
        "relu": nn.ReLU(),
        "hardswish": nn.Hardswish(),
    }
    return pools[kind], channels


class _Drawn(nn.Module):
    """Branches of layers, joined by sums, products and concatenations, and a head."""

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__()
        self.steps = nn.ModuleList()
        self.reads: list[tuple[str, list[int]]] = []
        widths = [4]
        for _ in range(draw(st.integers(2, 7))):
            at = draw(st.integers(0, len(widths) - 1))
            others = [i for i, width in enumerate(widths) if width == widths[at]]
            join = draw(st.sampled_from(["layer", "layer", "layer", "add", "mul", "cat"]))
            reads = [at]
            step: nn.Module = nn.Identity()
            width = widths[at]
            if join == "layer":
                step, width = _layers(draw, width)
            elif join == "cat":
                reads.append(draw(st.integers(0, len(widths) - 1)))
                width += widths[reads[1]]
            else:
                reads.append(draw(st.sampled_from(others)))
            self.steps.append(step)
            self.reads.append((join, reads))
            widths.append(width)
        dead = draw(st.lists(st.integers(0, widths[-1] - 1), unique=True))
        self.head = unread(conv(widths[-1], 3), dead)

    def forward(self, x: Tensor) -> Tensor:
        values = [x]
        for (join, reads), step in zip(self.reads, self.steps, strict=True):
            read = [values[i] for i in reads]
            if join == "cat":
                values.append(torch.cat(read, 1))
            elif join == "layer":
                values.append(step(read[0]))
            else:
                values.append(read[0] + read[1] if join == "add" else read[0] * read[1])
        result = self.head(values[-1])
        assert isinstance(result, Tensor)
        return result


@st.composite
def drawn(draw: st.DrawFn) -> nn.Module:
    torch.manual_seed(draw(st.integers(0, 1000)))
    return _Drawn(draw)


@settings(max_examples=12, deadline=None)
@given(drawn())
def test_random_graphs(model: nn.Module) -> None:
    graph = graph_of(lambda m, x: m(x), model)
    check(graph)
