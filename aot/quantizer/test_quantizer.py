# SPDX-License-Identifier: Apache-2.0
"""Shared quantizations, fixed ones, and the places of requantization."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule, Node

from aot.dialect.graph import edge_of, quantization_of
from aot.dialect.quantization import Quantization
from aot.testing.fixtures import folded, int8_inputs, op_counts

IMAGE = (1, 3, 6, 5)


def only(graph: GraphModule, op: str) -> Node:
    nodes: list[Node] = [n for n in graph.graph.nodes if str(n.target) == f"pl.{op}.default"]
    assert len(nodes) == 1
    return nodes[0]


def quantizations(graph: GraphModule) -> set[Quantization]:
    nodes = [n for n in graph.graph.nodes if n.op in ("placeholder", "call_function")]
    return {quantization_of(n) for n in nodes}


def test_movement_shares_one_quantization() -> None:
    graph = folded(
        lambda x: F.max_pool2d(x.permute(0, 1, 3, 2)[:, 1:], 2).reshape(2, 6), shapes=[IMAGE]
    )
    assert len(quantizations(graph)) == 1


def test_cat_shares_with_its_sources() -> None:
    graph = folded(
        lambda a, b, x: torch.cat([a(x), b(x)], 1),
        nn.Conv2d(3, 2, 3),
        nn.Conv2d(3, 4, 3),
        shapes=[IMAGE],
    )
    assert op_counts(graph)["pl.conv2d"] == 2 and "pl.lut" not in op_counts(graph)
    assert len(quantizations(graph)) == 2  # the input's and the cat's


def test_known_ranges_are_fixed_and_travel_with_movement() -> None:
    graph = folded(lambda x: x.sigmoid().reshape(6, 15).t(), shapes=[IMAGE])
    assert quantization_of(only(graph, "transpose")) == Quantization(1 / 256, -128)
    graph = folded(lambda x: x.tanh(), shapes=[IMAGE])
    assert quantization_of(only(graph, "lut")) == Quantization(1 / 128)
    graph = folded(lambda x: F.softmax(x, -1), shapes=[IMAGE])
    assert quantization_of(only(graph, "softmax")) == Quantization(1 / 256, -128)


def test_a_cat_of_two_fixed_ranges_is_observed() -> None:
    graph = folded(lambda x: torch.cat([x.sigmoid(), x.tanh()], 1), shapes=[IMAGE])
    # Each function's table, and the requantization of each into the cat's range.
    assert op_counts(graph) == {"pl.lut": 4, "pl.cat": 1}
    edge = edge_of(only(graph, "cat"))
    assert edge.scale * (-128 - edge.zero_point) < -0.9, "tanh's negative values must fit"


def test_a_cat_of_one_fixed_range_keeps_it() -> None:
    graph = folded(lambda x: torch.cat([x.sigmoid(), (x + 1).sigmoid()], 1), shapes=[IMAGE])
    assert op_counts(graph) == {"pl.lut": 2, "pl.cat": 1}


def test_a_constant_operand_is_quantized_by_itself() -> None:
    graph = folded(lambda x: x * torch.linspace(0.0, 5.0, 5), shapes=[IMAGE])
    constant = only(graph, "mul").args[1]
    assert isinstance(constant, Node) and constant.op == "get_attr"
    steps = 1.25 / edge_of(constant).scale  # values are multiples of 1.25, and float32 holds them
    assert abs(steps - round(steps)) < 1e-4 and 61 < steps < 64
    assert round(4 * steps) <= 255


def test_relu_of_a_layer_uses_the_whole_range() -> None:
    graph = folded(lambda a, x: F.relu(a(x)), nn.Linear(5, 7), shapes=[IMAGE])
    linear = only(graph, "linear")
    assert edge_of(linear).zero_point == -128
    assert linear.args[-2:] == (-128, 127)


def test_relu_into_a_signed_cat_clamps_at_zero_point() -> None:
    """The clamp is part of the layer's op, so a range reaching below zero changes nothing."""
    graph = folded(
        lambda a, x: torch.cat([F.relu(a(x)), x[..., :4] - 3.0], 1),
        nn.Conv2d(3, 3, (1, 2)),
        shapes=[IMAGE],
    )
    conv = only(graph, "conv2d")
    assert edge_of(conv).zero_point > -128
    assert conv.args[-2] == edge_of(conv).zero_point
    (out,) = graph(*int8_inputs(graph))
    assert int(out[:, :3].min()) == edge_of(conv).zero_point, "0.0, and nothing below it"
