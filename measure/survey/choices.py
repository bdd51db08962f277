# SPDX-License-Identifier: Apache-2.0
"""Choices of a model between nearly equal values: the largest ones, and their order.

A quantized model may make other, equally good choices, and thus give other results. Compared with
the float model under the same choices, it must be right again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from aot.dialect.rule import argument
from aot.upstream.torch import tree_leaves

_aten = torch.ops.aten

# Ops, and where their indices are among the results.
_CHOOSE: dict[object, int | None] = {
    _aten.topk.default: 1,
    _aten.sort.default: 1,
    _aten.sort.stable: 1,
    _aten.max.dim: 1,
    _aten.min.dim: 1,
    _aten.argmax.default: None,
    _aten.argmin.default: None,
}


class _Choosing(Interpreter):
    """Interpreter of a graph that records its choices, or replaces them.

    Args:
      module: an ATen graph, in float or with quantize and dequantize nodes.
      given: choices by node name. Without an entry the graph makes its own.
    """

    def __init__(self, module: GraphModule, given: Mapping[str, torch.Tensor] | None = None):
        super().__init__(module)
        self._given = given
        self.choices: dict[str, torch.Tensor] = {}
        self.values: list[tuple[torch.Tensor, torch.Tensor]] = []
        """Pairs of the value chosen by the graph itself, and the given one."""

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if n.target not in _CHOOSE:
            return result
        place = _CHOOSE[n.target]
        own = result if place is None else result[place]
        self.choices[n.name] = own
        if self._given is None:
            return result
        given = self._given[n.name]
        x = self.env[n.all_input_nodes[0]]
        best, taken = (_gathered(n, x, indices) for indices in (own, given))
        self.values.append((best, taken))
        return given if place is None else (taken, given)


def _gathered(node: Node, x: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    dim = argument(node, "dim")
    if dim is None:
        return x.flatten()[indices]
    if indices.dim() == x.dim():
        return x.gather(dim, indices)
    return x.gather(dim, indices.unsqueeze(dim)).squeeze(dim)


def chooses(module: GraphModule) -> bool:
    """Return True if an ATen graph contains a choice."""
    return any(node.target in _CHOOSE for node in module.graph.nodes)


def given_the_choices(
    floats: GraphModule, quantized: GraphModule, inputs: Sequence[torch.Tensor]
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield pairs of float and quantized results, with the quantized graph's choices in both.

    They include pairs of the float graph's own chosen values and the given ones.

    Args:
      floats: the graph before it was quantized.
      quantized: the same with quantize and dequantize nodes.
      inputs: of both.
    """
    chosen = _Choosing(quantized)
    actual = tree_leaves(chosen.run(*inputs))
    forced = _Choosing(floats, chosen.choices)
    yield from zip(tree_leaves(forced.run(*inputs)), actual, strict=True)
    yield from forced.values
