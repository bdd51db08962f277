# SPDX-License-Identifier: Apache-2.0
"""Rules report the dialect op they make."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.accept.export import export_aten
from aot.passes.fold_qdq import fold_qdq
from aot.rules import _TABLE, fused_clamp, has_rule, register, rule_for
from aot.rules.function import function_roots, is_interior
from aot.rules.movement import Permute
from aot.testing.fixtures import model, op_counts, quantized, samples

IMAGE = (1, 6, 7, 5)

# function of [1, 6, 7, 5]: the op that computes its result
FUNCTIONS: dict[str, tuple[Callable[..., object], list[nn.Module], str]] = {
    "conv": (lambda a, x: a(x), [nn.Conv2d(6, 2, 3)], "conv2d"),
    "grouped": (lambda a, x: a(x), [nn.Conv2d(6, 6, 3, groups=3)], "conv2d"),
    "depthwise": (lambda a, x: a(x), [nn.Conv2d(6, 12, 3, groups=6)], "depthwise_conv2d"),
    "transposed": (lambda a, x: F.relu(a(x)), [nn.ConvTranspose2d(6, 4, 3, 2)], "transpose_conv2d"),
    "linear": (lambda a, x: F.relu(a(x)), [nn.Linear(5, 2)], "linear"),
    "sub": (lambda x: x - x.mean(1, keepdim=True), [], "add"),
    "mul": (lambda x: F.relu(x * x.mean(1, keepdim=True)), [], "mul"),
    "function": (lambda x: x * torch.sigmoid(x), [], "lut"),
    "product": (lambda x: F.relu(x @ x.mT), [], "bmm"),
    "div": (lambda x: F.relu(x / (x.mean(1, keepdim=True) + 9)), [], "div"),
    "lerp": (lambda x: torch.lerp(x, x.mean(1, keepdim=True), 0.5), [], "add"),
    "maximum": (lambda x: torch.maximum(x, x.mean(1, keepdim=True)), [], "maximum"),
    "clamp": (lambda x: x.clamp(min=x.mean(1, keepdim=True)), [], "maximum"),
    "prelu": (lambda a, x: a(x), [nn.PReLU(6)], "prelu"),
    "compare": (lambda x: x >= x.mean(1, keepdim=True), [], "less"),
    "not equal": (lambda x: x != x.mean(1, keepdim=True), [], "equal"),
    "mask": (lambda x: (x > 0) & (x.mean(1, keepdim=True) > 0), [], "where"),
    "choice": (lambda x: x * (x.mean(1, keepdim=True) > 0), [], "where"),
    "any": (lambda x: (x > 0).any(1), [], "amax"),
    "all": (lambda x: (x > 0).all(1), [], "amin"),
    "sum": (lambda x: x.sum((2, 3)), [], "mean"),
    "largest": (lambda x: x.amax((2, 3)), [], "amax"),
    "std": (lambda x: x.std(1), [], "second_moment"),
    "norm": (lambda x: x.norm(dim=1), [], "second_moment"),
    "sum of magnitudes": (lambda x: x.norm(1, 1), [], "mean"),
    "cumsum": (lambda x: x.cumsum(1), [], "cumsum"),
    "logsumexp": (lambda x: x.logsumexp((1, 2)), [], "logsumexp"),
    "min of a dimension": (lambda x: x.min(1)[1], [], "topk"),
    "mean": (lambda x: x.mean((2, 3)), [], "mean"),
    "softmax": (lambda x: F.softmax(x, 1), [], "softmax"),
    "log_softmax": (lambda x: F.log_softmax(x, 1), [], "log_softmax"),
    "max pool": (lambda x: F.max_pool2d(x, 2), [], "max_pool2d"),
    "avg pool": (lambda x: F.avg_pool2d(x, 2), [], "mean_pool2d"),
    "equal windows": (lambda x: F.adaptive_avg_pool2d(x[:, :, 1:], (3, 5)), [], "mean_pool2d"),
    "whole average": (lambda x: F.adaptive_avg_pool2d(x, (1, 5)), [], "mean"),
    "windows": (lambda x: F.adaptive_avg_pool2d(x, (3, 2)), [], "mean_pool2d"),
    "whole max": (lambda x: F.adaptive_max_pool2d(x, (7, 1)), [], "max_pool2d"),
    "max of windows": (lambda x: F.adaptive_max_pool2d(x, (3, 2)), [], "adaptive_max_pool2d"),
    "reshape": (lambda x: x.flatten(1), [], "reshape"),
    "transpose": (lambda x: x.transpose(1, 3), [], "transpose"),
    "max of a dimension": (lambda x: x.max(1)[0], [], "amax"),
    "argmax": (lambda x: x.argmax(1), [], "max_with_indices"),
    "slice": (lambda x: x[:, 1:3], [], "slice"),
    "select": (lambda x: x[:, 1], [], "slice"),
    "pad": (lambda x: F.pad(x, (1, -1)), [], "pad"),
    "cat": (lambda x: torch.cat([x, x.tanh()], 2), [], "cat"),
    "upsample": (lambda x: F.interpolate(x, scale_factor=2), [], "gather"),
    "bilinear": (
        lambda x: F.interpolate(x, size=(3, 9), mode="bilinear"),
        [],
        "resize_bilinear",
    ),
    "reflection": (lambda x: F.pad(x, (1, 2, 0, 1), mode="reflect"), [], "gather"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_rule_names_the_op_that_it_makes(name: str) -> None:
    function, parts, op = FUNCTIONS[name]
    network, data = model(function, *parts), samples(IMAGE)
    graph = export_aten(network, data[0]).graph
    roots = function_roots(graph)
    last = graph.output_node().all_input_nodes[0]
    assert not is_interior(last, roots)
    fused = fused_clamp(last, roots)
    node = last if fused is None else fused[0]
    rule = rule_for(node, roots)
    assert rule is not None and rule.op(node).name == op
    assert f"pl.{op}" in op_counts(fold_qdq(quantized(network, data)))


def test_which_aten_ops_have_a_rule() -> None:
    aten = torch.ops.aten
    for target in (aten.convolution.default, aten.silu.default, aten.adaptive_max_pool2d.default):
        assert has_rule(target)
    for target in (aten.pixel_shuffle.default, aten.native_batch_norm.default):
        assert not has_rule(target)


def test_a_rule_is_registered_for_an_op_that_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = torch.fx.Graph()
    node = graph.call_function(
        torch.ops.aten.grid_sampler_2d.default, (graph.placeholder("x"), [0])
    )
    assert rule_for(node) is None
    monkeypatch.setattr("aot.rules._TABLE", dict(_TABLE))
    rule = Permute()
    register(rule, node.target)
    assert rule_for(node) is rule
    with pytest.raises(ValueError, match="aten.grid_sampler_2d.default has a rule"):
        register(rule, node.target)
