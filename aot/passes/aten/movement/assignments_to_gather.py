# SPDX-License-Identifier: Apache-2.0
"""Writes an assignment to constant positions of a tensor (`y[:, ::2] = x`, `y[:, [0, 3]] = x`) as
an index_select from both.

Matches slice_scatter, index_put and scatter with constant indices. The op itself, run on an index
map instead of values, gives the source of each element. Sums (index_add, fold) match if they add at
most one value to each zero; others are left.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant

_aten = torch.ops.aten
_ASSIGNED = {
    _aten.index_put.default: "values",
    _aten.scatter.src: "src",
    _aten.slice_scatter.default: "src",
}


def assignments_to_gather(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many assignments were replaced."""
    count = 0
    for node in list(module.graph.nodes):
        name = _ASSIGNED.get(node.target)
        if name is None:
            continue
        base, part = node.args[0], argument(node, name)
        assert isinstance(base, Node) and isinstance(part, Node)
        places = _places(module, node, base, part)
        if places is None:
            continue
        with module.graph.inserting_before(node):
            index = constant(module, node, "places", places.reshape(-1))
            both = [call(node, _aten.reshape.default, n, [-1]) for n in (base, part)]
            joined = call(node, _aten.cat.default, both, 0)
            taken = call(node, _aten.index_select.default, joined, 0, index)
            result = call(node, _aten.reshape.default, taken, list(node.meta["val"].shape))
        node.replace_all_uses_with(result)
        module.graph.erase_node(node)
        count += 1
    return count


def _places(module: GraphModule, node: Node, base: Node, part: Node) -> torch.Tensor | None:
    """Return the index map of the result: indices of the base's elements, then of the part's.

    Return None if it is unknown, or if elements are added.
    """

    def run(of_base: torch.Tensor, of_part: torch.Tensor) -> torch.Tensor:
        given = {base: of_base, part: of_part}
        arguments: Any = map_arg(node.args, lambda n: given.get(n, tensor_constant(module, n)))
        result: torch.Tensor = node.target(*arguments)  # type: ignore[operator]
        return result

    indices = [n for n in node.all_input_nodes if n not in (base, part)]
    if base is part or any(tensor_constant(module, n) is None for n in indices):
        return None
    size = base.meta["val"].numel()
    places = _numbered(base, 0)
    if node.target is _aten.index_put.default and argument(node, "accumulate"):
        zeros = tensor_constant(module, base)
        times = run(torch.zeros_like(places), torch.ones_like(_numbered(part, 0)))
        if zeros is None or bool(zeros.any()) or bool((times > 1).any()):
            return None
        places = torch.zeros_like(places)  # one 0 of the base is as good as another
    return run(places, _numbered(part, size)).to(torch.int64)


def _numbered(node: Node, start: int) -> torch.Tensor:
    value = node.meta["val"]
    places = torch.arange(start, start + value.numel(), dtype=torch.float64)
    return places.reshape(value.shape)
