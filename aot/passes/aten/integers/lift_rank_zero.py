# SPDX-License-Identifier: Apache-2.0
"""x.softmax(0) -> x.reshape([1]).softmax(0).reshape([])

Tensors of rank 0 get a dimension of size 1 before ops along a dimension: torch accepts dimension 0
for them. Leaves elementwise ops and ops over all elements, because these have rank 0 in the
dialect, too.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.results import results_of, taken_from
from aot.dialect.rule import argument
from aot.passes.aten.build import call
from aot.passes.aten.decompositions.builders import Results, read_results, taken_result
from aot.upstream.torch import OpOverload

_aten = torch.ops.aten
_DIMENSIONS = {"dim", "dims", "dim0", "dimension"}
_LIKE_INPUT = {"index", "src", "source"}
"""Tensors of the input's rank, for ops with a tensor of indices."""

_IDENTITIES = (_aten.permute.default, _aten.t.default, _aten.transpose.int)
_RESHAPES = (_aten.unsqueeze.default, _aten.squeeze.dim, _aten.squeeze.dims)


def lift_rank_zero(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many ops it gave a dimension."""
    count = 0
    for node in list(module.graph.nodes):
        lifted = _lifted_arguments(node)
        if not lifted:
            continue
        if node.target in _IDENTITIES:
            results: Results = {0: lifted[0]}
        else:
            with module.graph.inserting_before(node):
                results = _with_dimension(node, lifted)
        for value in results_of(node):
            value.replace_all_uses_with(results[taken_from(value)[1]])
        for value in dict.fromkeys((*results_of(node), node)):
            module.graph.erase_node(value)
        count += 1
    return count


def _lifted_arguments(node: Node) -> list[Node]:
    """Return the arguments of rank 0 that an op treats as vectors; none for another op."""
    if node.op != "call_function" or not isinstance(node.target, OpOverload):
        return []
    schema = node.target._schema.arguments
    along = _DIMENSIONS & {entry.name for entry in schema}
    if node.target in _RESHAPES or not (along or node.target in _IDENTITIES):
        return []
    by_index = any(entry.name == "index" and str(entry.type) == "Tensor" for entry in schema)
    names = [schema[0].name, *(_LIKE_INPUT if by_index else ())]
    given = (argument(node, entry.name) for entry in schema if entry.name in names)
    return [n for n in given if isinstance(n, Node) and not n.meta["val"].dim()]


def _with_dimension(node: Node, lifted: list[Node]) -> Results:
    """Return the results of the op on vectors, in their original shape."""
    vectors = {n: call(node, _aten.reshape.default, n, [1]) for n in lifted}
    args, kwargs = map_arg((node.args, node.kwargs), lambda n: vectors.get(n, n))
    # No dimension of a number becomes the only dimension of the vector.
    args = tuple([0] if isinstance(a, list) and not a else a for a in args)
    made = node.graph.call_function(node.target, args, kwargs)  # type: ignore[arg-type]
    values, keywords = map_arg((args, kwargs), lambda n: n.meta["val"])
    made.meta = {**node.meta, "val": node.target(*values, **keywords)}  # type: ignore[operator]
    results = {}
    for index in read_results(node):
        result, value = made, node.meta["val"]
        if not isinstance(value, torch.Tensor):
            result, value = taken_result(node, made, index), value[index]
        results[index] = call(node, _aten.reshape.default, result, list(value.shape))
    return results
