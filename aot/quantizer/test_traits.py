# SPDX-License-Identifier: Apache-2.0
"""Requests of engines on values are met where the quantizer can choose, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule, Node

from aot.backends.traits import Traits
from aot.dialect.graph import Edge, arguments, edge_of, quantization_of, tensor_constant
from aot.dialect.quantization import Quantization
from aot.dialect.verifier import verify
from aot.passes.fold_qdq import fold_qdq
from aot.testing.fixtures import int8_inputs, model, quantized, samples

IMAGE = (1, 3, 6, 5)
CONV, WIDE = nn.Conv2d(3, 4, 3), nn.Conv2d(3, 6, 3, groups=3)


def only(graph: GraphModule, op: str) -> Node:
    nodes: list[Node] = [n for n in graph.graph.nodes if str(n.target) == f"pl.{op}.default"]
    assert len(nodes) == 1
    return nodes[0]


def shaped(traits: dict[str, Traits], function: Any, *parts: nn.Module) -> GraphModule:
    graph = fold_qdq(quantized(model(function, *parts), samples(IMAGE), traits))
    verify(graph, "fold_qdq")
    return graph


def values_around(graph: GraphModule, op: str) -> list[Edge]:
    node = only(graph, op)
    return [edge_of(n) for n in (*node.all_input_nodes, node)]


SUMS: dict[str, Any] = {
    "sum": lambda x: x + x.mean(1, keepdim=True) * 2.0,
    "clamped sum": lambda x: F.relu(x + x.mean(1, keepdim=True) * 2.0),
    "sum of a constant": lambda x: x + torch.linspace(0.0, 5.0, 5),
}


@pytest.mark.parametrize("name", SUMS)
def test_engines_may_ask_for_one_quantization(name: str) -> None:
    graph = shaped({"add": Traits(shares_quantization=True)}, SUMS[name])
    assert len({e.quantization for e in values_around(graph, "add")}) == 1
    graph = shaped({}, SUMS[name])
    assert len({e.quantization for e in values_around(graph, "add")}) > 1


@pytest.mark.parametrize("name", SUMS)
def test_engines_may_ask_for_zero_point_0(name: str) -> None:
    graph = shaped({"add": Traits(zero_point_0=True)}, SUMS[name])
    assert {e.zero_point for e in values_around(graph, "add")} == {0}
    graph = shaped({}, SUMS[name])
    assert {e.zero_point for e in values_around(graph, "add")} != {0}


def test_zero_point_0_holds_for_all_that_shares() -> None:
    def function(a: nn.Module, x: torch.Tensor) -> torch.Tensor:
        return F.max_pool2d(torch.cat([a(x), x[:, :, 2:, 2:]], 1), 2)

    graph = shaped({"conv2d": Traits(zero_point_0=True)}, function, CONV)
    assert edge_of(only(graph, "max_pool2d")).zero_point == 0
    assert edge_of(only(graph, "conv2d")).quantization == edge_of(only(graph, "cat")).quantization


def test_a_fixed_range_is_against_a_trait() -> None:
    """The value keeps its range. Partition reports that the engine does not take the op."""
    asked = Traits(zero_point_0=True, shares_quantization=True)
    graph = shaped({"mul": asked}, lambda x: x * x.sigmoid()[:, :1])
    x, gate = only(graph, "mul").all_input_nodes
    assert quantization_of(gate) == Quantization(1 / 256, -128)
    assert edge_of(x).zero_point == 0 and quantization_of(x) == quantization_of(only(graph, "mul"))
    graph = shaped({"softmax": asked}, lambda x: F.softmax(x, -1))
    assert edge_of(only(graph, "softmax")).quantization == Quantization(1 / 256, -128)


def test_of_several_results_those_that_are_quantized_follow() -> None:
    asked = {"max_with_indices": Traits(zero_point_0=True, shares_quantization=True)}
    graph = shaped(asked, lambda x: x.max(2)[1])
    (source,) = only(graph, "max_with_indices").all_input_nodes
    assert edge_of(source).zero_point == 0


def scales(graph: GraphModule, op: str) -> int:
    """Return the number of weight scales of an op."""
    values = arguments(only(graph, op))
    constants = [tensor_constant(graph, values[n]) for n in ("multiplier", "shift")]
    pairs = zip(*(c.tolist() for c in constants if c is not None), strict=True)
    return len(set(pairs))


def test_engines_may_ask_for_one_scale_of_weights() -> None:
    def function(a: nn.Module, b: nn.Module, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return a(x), b(x)

    asked = {"conv2d": Traits(weights_per_tensor=True)}
    graph = shaped(asked, function, CONV, WIDE)
    assert (scales(graph, "conv2d"), scales(graph, "depthwise_conv2d")) == (1, 6)
    assert (scales(plain := shaped({}, function, CONV, WIDE), "conv2d")) == 4
    a, b = (dequantized(g) for g in (graph, plain))
    assert float((a - b).abs().max()) < 0.05 * float(b.abs().max()), "a coarser weight"


def dequantized(graph: GraphModule) -> torch.Tensor:
    quantization = quantization_of(only(graph, "conv2d"))
    return quantization.dequantize(graph(*int8_inputs(graph))[0])
