# SPDX-License-Identifier: Apache-2.0
"""Memory from torch.empty and similar functions, without values, becomes zeros.

Such memory holds old values of other tensors; these must not enter any range. Zeros replace them. A
model must write each element before it reads it. The graph therefore runs with zeros and with other
values here, and its results must be equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch.fx import GraphModule, Interpreter, Node

from aot.dialect.graph import initial_state
from aot.errors import LoweringError, problem_at
from aot.passes.aten.build import constant
from aot.upstream.torch import tree_leaves

_aten = torch.ops.aten
_UNWRITTEN = {
    _aten.empty,
    _aten.empty_like,
    _aten.empty_permuted,
    _aten.empty_strided,
    _aten.new_empty,
    _aten.new_empty_strided,
}


def zero_uninitialized_memory(module: GraphModule, inputs: Sequence[torch.Tensor]) -> int:
    """Rewrite the graph in place; return the number of tensors without values.

    Args:
      module: without effects; its states are inputs.
      inputs: a sample.

    Raises:
      LoweringError: a result depends on an element that was never written.
    """
    found = [n for n in module.graph.nodes if getattr(n.target, "overloadpacket", 0) in _UNWRITTEN]
    if not found:
        return 0
    zeros: dict[Node, Node] = {}
    for node in found:
        with module.graph.inserting_before(node):
            value = node.meta["val"]
            zero = torch.zeros(value.shape, dtype=value.dtype)
            zeros[node] = constant(module, node, "unwritten", zero)
        node.replace_all_uses_with(zeros[node])
        module.graph.erase_node(node)
    module.recompile()
    if any(map(_is_random, module.graph.nodes)):
        return len(found)  # it is refused for its own reason
    given = [*(x.contiguous() for x in inputs), *initial_state(module)]
    expected = _results(module, given, None)
    read = [n for n, zero in zeros.items() if _differ(expected, _results(module, given, zero))]
    if read:
        raise LoweringError(
            f"{len(read)} op{'s' if len(read) > 1 else ''} of the model cannot be lowered:",
            [
                problem_at(
                    node,
                    "the model reads elements of it that were never written",
                    "torch.zeros, or write to each element first",
                )
                for node in read
            ],
        )
    return len(found)


def _is_random(node: Node) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


class _Filled(Interpreter):
    """Runs the graph with other values in the place of some zeros."""

    def __init__(self, module: GraphModule, zero: Node | None) -> None:
        super().__init__(module)
        self._zero = zero

    def run_node(self, n: Node) -> object:
        result = super().run_node(n)
        if n is not self._zero or not isinstance(result, torch.Tensor):
            return result
        return torch.full_like(result, math.nan if result.is_floating_point() else 1)


def _results(
    module: GraphModule, given: Sequence[torch.Tensor], zero: Node | None
) -> list[torch.Tensor]:
    with torch.no_grad():
        results = tree_leaves(_Filled(module, zero).run(*given))
    return [x.clone() for x in results if isinstance(x, torch.Tensor)]


def _differ(expected: Sequence[torch.Tensor], actual: Sequence[torch.Tensor]) -> bool:
    pairs = zip(expected, actual, strict=True)
    return not all(torch.allclose(a, b, rtol=0.0, atol=0.0, equal_nan=True) for a, b in pairs)
