# SPDX-License-Identifier: Apache-2.0
"""Small models, quantized and folded, for tests of passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.fx import GraphModule

from aot.accept.calibration import calibrate
from aot.accept.export import decompose, export_aten
from aot.backends.traits import Traits
from aot.dialect.results import is_result
from aot.dialect.verifier import verify
from aot.lower import Lowered, lower
from aot.options import grouped
from aot.passes.aten.constants.merge_dequantizes import merge_dequantizes
from aot.passes.aten.recurrent.recurrent_states import convert_states
from aot.passes.fold_qdq import fold_qdq
from aot.quantizer.quantizer import Int8Quantizer
from aot.rules import _TABLE
from aot.upstream.torch import tree_leaves
from aot.upstream.torchao import convert_pt2e, prepare_pt2e

if TYPE_CHECKING:
    import pytest

Function = Callable[..., object]


class Calls(nn.Module):
    """A module whose forward is a function; the modules it uses are its children."""

    def __init__(self, function: Function, *children: nn.Module) -> None:
        super().__init__()
        self.parts = nn.ModuleList(children)
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> object:
        return self.function(*self.parts, *inputs)


def model(function: Function, *children: nn.Module) -> nn.Module:
    """Return the model in eval mode, with weights from a fixed seed."""
    generator = torch.Generator().manual_seed(1)
    module = Calls(function, *children).eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)
        for name, buffer in module.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_(torch.randn(buffer.shape, generator=generator) * 0.2)
            if name.endswith("running_var"):
                buffer.copy_(torch.rand(buffer.shape, generator=generator) + 0.5)
    return module


def samples(*shapes: Sequence[int], count: int = 8) -> list[tuple[torch.Tensor, ...]]:
    """Return normally distributed inputs from a fixed seed."""
    generator = torch.Generator().manual_seed(2)
    return [tuple(torch.randn(tuple(s), generator=generator) for s in shapes) for _ in range(count)]


def quantized(
    module: nn.Module,
    data: Sequence[tuple[torch.Tensor, ...]],
    traits: Mapping[str, Traits] | None = None,
) -> GraphModule:
    """Return torchao's converted graph, as fold_qdq takes it."""
    aten = export_aten(module, data[0])
    convert_states(aten, lambda node: False)
    prepared = prepare_pt2e(aten, Int8Quantizer(traits))
    calibrate(prepared, data, data[0])
    converted = convert_pt2e(prepared)
    merge_dequantizes(converted)
    assert isinstance(converted, GraphModule)
    return converted


def folded(
    function: Function, *children: nn.Module, shapes: Sequence[Sequence[int]]
) -> GraphModule:
    """Return the dialect graph of a function, before the layout passes."""
    graph = fold_qdq(quantized(model(function, *children), samples(*shapes)))
    verify(graph, "fold_qdq")
    return graph


def int8_inputs(graph: GraphModule, seed: int = 3) -> tuple[torch.Tensor, ...]:
    """Return random inputs of a dialect graph."""
    generator = torch.Generator().manual_seed(seed)
    shapes = [n.meta["val"].shape for n in graph.graph.nodes if n.op == "placeholder"]
    return tuple(torch.randint(-128, 128, s, generator=generator).to(torch.int8) for s in shapes)


def check_pass(
    graph: GraphModule, rewrite: Callable[[GraphModule], int], changes: bool = True
) -> None:
    """Run a pass: the graph still verifies, gives the same bits, and was changed (or not)."""
    inputs = int8_inputs(graph)
    before = tree_leaves(graph(*inputs))
    assert (rewrite(graph) > 0) == changes
    verify(graph, rewrite.__name__)
    after = tree_leaves(graph(*inputs))
    for a, b in zip(before, after, strict=True):
        assert torch.equal(a, b)


def check_aten_pass(
    rewrite: Callable[[GraphModule], int],
    function: Function,
    *children: nn.Module,
    inputs: Sequence[torch.Tensor],
    atol: float = 0.0,
) -> tuple[int, GraphModule]:
    """Run a pass on an exported function. Values and shapes must not change.

    Args:
      rewrite: the pass.
      function: see `model`.
      *children: see `model`.
      inputs: of the function.
      atol: allowed difference of values, if the pass computes in another order.

    Returns:
      The number of changes reported by the pass, and the graph.
    """
    program = decompose(torch.export.export(model(function, *children), tuple(inputs)))
    graph = program.module(check_guards=False)
    assert isinstance(graph, GraphModule)
    before = tree_leaves(graph(*inputs))
    changes = rewrite(graph)
    graph.graph.lint()
    graph.recompile()
    for a, b in zip(before, tree_leaves(graph(*inputs)), strict=True):
        torch.testing.assert_close(b, a, rtol=0.0, atol=atol)
    return changes, graph


def forget_rules(monkeypatch: pytest.MonkeyPatch, *targets: object) -> None:
    """Remove the int8 form of ATen ops, for tests of float32 execution."""
    rules = {target: rule for target, rule in _TABLE.items() if target not in targets}
    monkeypatch.setattr("aot.rules._TABLE", rules)


def op_counts(graph: GraphModule) -> dict[str, int]:
    """Return how many nodes call each op: {"pl.conv2d": 3, ...}."""
    calls = [n for n in graph.graph.nodes if n.op == "call_function" and not is_result(n)]
    return dict(Counter(str(node.target).rsplit(".", 1)[0] for node in calls))


def lower_with(*given: Any, **settings: Any) -> Lowered:
    """Call `lower`, with settings by their own names: tests keep them in dicts."""
    return lower(*given, **grouped(settings))
