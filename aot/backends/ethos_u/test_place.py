# SPDX-License-Identifier: Apache-2.0
"""Placement op by op: parts of a region go to the core, where that takes fewer cycles in all."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule

from aot.backends.ethos_u.cost import CALL, border_cycles, core_cycles
from aot.backends.ethos_u.place import MOST_PARTS, ops_left
from aot.dialect.delegate import delegate_of
from aot.dialect.graph import border_nodes, dialect_op
from aot.partition.cut import extract
from aot.partition.partition import partition
from aot.partition.testing import calls, everything, rewritten, unplaced
from aot.targets import target_named
from aot.testing.fixtures import int8_inputs

PIXELS, CHANNELS = 12, 32


class Attention(nn.Module):
    """A step of a diffusion network: convolutions, a group norm, and attention over all pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(4, CHANNELS, 3, padding=1)
        self.norm = nn.GroupNorm(8, CHANNELS)
        self.qkv = nn.Conv2d(CHANNELS, 3 * CHANNELS, 1)
        self.out = nn.Conv2d(CHANNELS, CHANNELS, 1)
        self.last = nn.Conv2d(CHANNELS, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        q, k, v = self.qkv(self.norm(x)).flatten(2).chunk(3, 1)
        weights = torch.softmax(q.transpose(1, 2) @ k * CHANNELS**-0.5, -1)
        y = (v @ weights.transpose(1, 2)).view(x.shape)
        return torch.as_tensor(self.last(F.silu(x + self.out(y))))


@cache
def _attention() -> GraphModule:
    torch.manual_seed(0)
    return rewritten(lambda net, x: net(x), Attention(), shapes=[(1, 4, PIXELS, PIXELS)])


def cycles(module: GraphModule) -> float:
    """Return the estimate for a network: calls, programs, and ops of the core."""
    total = 0.0
    for node in module.graph.nodes:
        if delegate := delegate_of(module, node):
            layers: Any = delegate.payload.report["layers"]
            inputs, outputs = border_nodes(delegate.region)
            total += CALL + sum(map(border_cycles, (*inputs, *outputs)))
            total += sum(layer["cycles"] for layer in layers)
        elif dialect_op(node):
            total += core_cycles(node)
    return total


def _placed(configuration: str, whole: bool) -> GraphModule:
    module = copy.deepcopy(_attention())
    partition(module, unplaced(configuration) if whole else target_named(configuration))
    return module


def test_a_slow_product_runs_on_the_core() -> None:
    module, whole = (_placed("ethos-u65-256", whole) for whole in (False, True))
    inputs = int8_inputs(module)
    assert all(map(torch.equal, module(*inputs), whole(*inputs)))
    found = calls(module)
    assert "bmm" in found.cpu and len(found.delegates) > 1
    assert "conv2d" not in found.cpu
    told = {r for n, _ in everything(module) for r in n.meta["not_on"].values()}
    assert any("for a call of the NPU, 14" in reason for reason in told), told
    assert cycles(module) < 0.85 * cycles(whole)


def test_a_region_that_no_cut_improves_is_whole() -> None:
    for configuration in ("ethos-u55-128", "ethos-u85-256"):
        assert len(calls(_placed(configuration, whole=False)).delegates) == 1


def test_weights_cost_the_core_a_read_too() -> None:
    """The NPU waits for the flash with a large matrix, and the core would."""

    def forward(a: nn.Conv2d, b: nn.Conv2d, linear: nn.Linear, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(b(F.relu(a(x)))), 2)
        return torch.as_tensor(linear(x.flatten(1)))

    convs = nn.Conv2d(8, 16, 3, padding=1), nn.Conv2d(16, 16, 3, padding=1)
    module = rewritten(forward, *convs, nn.Linear(1024, 256), shapes=[(1, 8, 16, 16)])
    partition(module, target_named("ethos-u55-128"))
    assert "linear" not in calls(module).cpu
    assert len(calls(module).delegates) == 1


def test_placement_is_the_same_each_time() -> None:
    first, second = (_placed("ethos-u65-256", whole=False) for _ in range(2))
    assert [str(n) for n in first.graph.nodes] == [str(n) for n in second.graph.nodes]


def test_parts_that_turn_out_slower_are_not_taken() -> None:
    """The whole seems slow in one op, and so does that of each of its parts."""
    compiled: list[int] = []

    def cycles_of(part: GraphModule) -> dict[str, int]:
        ops = [n.name for n in part.graph.nodes if dialect_op(n)]
        compiled.append(len(ops))
        return {**dict.fromkeys(ops, 10), ops[len(ops) // 2]: 10**7}

    assert ops_left(_attention_region(), cycles_of) == {}
    assert 1 < len(compiled) <= 1 + MOST_PARTS


def test_a_part_without_a_program_leaves_the_region_whole() -> None:
    def cycles_of(part: GraphModule) -> dict[str, int] | None:
        ops = [n.name for n in part.graph.nodes if dialect_op(n)]
        slow = {n: 10**7 for n in ops if n.startswith("bmm")}
        return {**dict.fromkeys(ops, 10), **slow} if slow else None

    assert ops_left(_attention_region(), cycles_of) == {}


def test_an_op_that_is_slow_in_every_program_is_left() -> None:
    def cycles_of(part: GraphModule) -> dict[str, int]:
        ops = [n.name for n in part.graph.nodes if dialect_op(n)]
        return {n: 10**7 if n.startswith("softmax") else 10 for n in ops}

    left = ops_left(_attention_region(), cycles_of)
    assert [name for name in left if name.startswith("softmax")]
    assert not [name for name in left if name.startswith(("conv", "bmm"))]
    assert all("cycles" in reason for reason in left.values())


def _attention_region() -> GraphModule:
    module = copy.deepcopy(_attention())
    return extract(module, [n for n in module.graph.nodes if n.op == "call_function"])
