# SPDX-License-Identifier: Apache-2.0
"""The small passes over the ATen graph: what each takes, what it leaves, and the values stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule

from aot.export import decompose
from aot.passes.aten.hoist_clamps import hoist_clamps
from aot.passes.aten.remove_identities import remove_identities
from aot.passes.fold_qdq import op_counts
from aot.passes.rewrite.drop_dead_constants import drop_dead_constants
from aot.testing.fixtures import model

IMAGE = (1, 3, 4, 6)
Function = Callable[..., object]


def check(
    rewrite: Callable[[GraphModule], int], function: Function, *children: nn.Module
) -> tuple[int, GraphModule]:
    """Runs a pass on an exported function; the values stay."""
    x = torch.arange(72, dtype=torch.float32).reshape(IMAGE)
    program = decompose(torch.export.export(model(function, *children), (x,)))
    graph = program.module(check_guards=False)
    assert isinstance(graph, GraphModule)
    before = graph(x)
    changes = rewrite(graph)
    graph.graph.lint()
    graph.recompile()
    assert torch.equal(graph(x), before)
    return changes, graph


# Ops whose result has, or nearly has, the shape of their input, and what is left of them.
SAME_SHAPE: dict[str, tuple[Function, dict[str, int]]] = {
    "expand": (lambda x: x.expand(IMAGE), {}),
    "slice of all": (lambda x: x[:, 0:3], {}),
    "reshape": (lambda x: x.reshape(IMAGE), {}),
    "pad by nothing": (lambda x: F.pad(x, (0, 0)), {}),
    "adaptive pool": (lambda x: F.adaptive_avg_pool2d(x, (4, 6)), {}),
    "pad that shifts right": (lambda x: F.pad(x, (1, -1)), {"aten.constant_pad_nd": 1}),
    "pad that shifts down": (lambda x: F.pad(x, (0, 0, 2, -2)), {"aten.constant_pad_nd": 1}),
    "pad that shifts channels": (
        lambda x: F.pad(x, (0, 0, 0, 0, -1, 1)),
        {"aten.constant_pad_nd": 1},
    ),
    "another value": (lambda x: F.pad(x, (-2, 2), value=3.0), {"aten.constant_pad_nd": 1}),
    "crop": (lambda x: F.pad(x, (0, -1)), {"aten.constant_pad_nd": 1}),
    "flip": (lambda x: x.flip(-1), {"aten.flip": 1}),
    "pool": (lambda x: F.avg_pool2d(x, 3, 1, 1), {"aten.avg_pool2d": 1}),
    "square transposed": (
        lambda x: x[:, :, :, :4].transpose(2, 3),
        {"aten.slice": 1, "aten.permute": 1},
    ),
}


@pytest.mark.parametrize("name", SAME_SHAPE)
def test_the_same_shape_is_not_the_same_value(name: str) -> None:
    function, left = SAME_SHAPE[name]
    _, graph = check(remove_identities, lambda x: torch.neg(function(x)))  # type: ignore[arg-type]
    assert op_counts(graph) == {"aten.neg": 1, **left}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.float().neg(),
        lambda x: x.to(torch.float32).neg(),
        lambda x: x.to("cpu").neg(),
        lambda x: x.to(memory_format=torch.channels_last).neg(),
    ],
)
def test_casts_to_what_a_value_is(function: Function) -> None:
    changes, graph = check(remove_identities, function)
    assert changes > 0 and op_counts(graph) == {"aten.neg": 1}
    value = next(n for n in graph.graph.nodes if n.op == "call_function").meta["val"]
    assert value.is_contiguous()


# What stands between an op and its clamp, and how many clamps move.
CLAMPS: dict[str, tuple[Function, list[nn.Module], int]] = {
    "reshape": (lambda a, x: F.relu(a(x).reshape(2, -1)), [nn.Conv2d(3, 2, 1)], 1),
    "two of them": (
        lambda a, x: F.relu6(a(x).flatten(1).unsqueeze(0)),
        [nn.Conv2d(3, 2, 1)],
        1,
    ),
    "permute": (lambda a, x: a(x).permute(0, 2, 3, 1).clamp(-1, 2), [nn.Conv2d(3, 2, 1)], 1),
    "a sum": (lambda x: F.relu((x + x.mean(1, keepdim=True)).reshape(3, -1)), [], 1),
    "nothing": (lambda a, x: F.relu(a(x)), [nn.Conv2d(3, 2, 1)], 0),
    "a reader in between": (
        lambda a, x: F.relu(y := a(x).reshape(2, -1)) + y,
        [nn.Conv2d(3, 2, 1)],
        0,
    ),
    "a reader of the op": (
        lambda a, x: F.relu((y := a(x)).reshape(2, -1)) + y.reshape(2, -1),
        [nn.Conv2d(3, 2, 1)],
        0,
    ),
    "an op that takes no clamp in": (lambda x: F.relu(x.mean(1).reshape(4, 6)), [], 0),
    "no op": (lambda x: F.relu(x.reshape(3, -1)), [], 0),
}


@pytest.mark.parametrize("name", CLAMPS)
def test_hoist_clamps(name: str) -> None:
    function, children, moved = CLAMPS[name]
    changes, graph = check(hoist_clamps, function, *children)
    assert changes == moved
    clamps = [n for n in graph.graph.nodes if str(n.target).startswith(("aten.relu", "aten.clamp"))]
    if moved:
        targets = {str(c.args[0].target) for c in clamps if isinstance(c.args[0], torch.fx.Node)}
        assert targets <= {"aten.convolution.default", "aten.add.Tensor"}


def test_drop_dead_constants() -> None:
    graph = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(3, 2)))
    graph.register_buffer("dead", torch.ones(1000))
    graph.register_buffer("read", torch.ones(2))
    output = next(n for n in graph.graph.nodes if n.op == "output")
    with graph.graph.inserting_before(output):
        read = graph.graph.get_attr("read")
    output.args = ((output.args[0], read),)
    assert drop_dead_constants(graph) == 1
    assert [name for name, _ in graph.named_buffers()] == ["read"]
    assert drop_dead_constants(graph) == 0
