# SPDX-License-Identifier: Apache-2.0
"""transpose(op(x)), beside transpose(x) -> op(transpose(x)), where one transpose serves both.

Matches a chain of ops of one computed value each (others are constants), read by nobody else,
between a value that is transposed anyway and a transpose by the same permutation: what a normalised
branch beside a residual becomes. Leaves ops that say no way through for transposes, and chains that
something else reads.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    Builder,
    arguments,
    calls,
    dialect_op,
    drop_dead_code,
    edge_of,
    tensor_constant,
    with_layout,
)
from aot.dialect.results import gives_one
from aot.dialect.transposes import Perm, inverse


def share_transposes(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many transposes are saved."""
    count = 0
    for node in list(module.graph.nodes):
        if not calls(node, "transpose") or _is_result(module, node):
            continue
        perm: Perm = list(arguments(node)["perm"])
        chain, value = _chain(module, node, perm)
        if value is None:
            continue
        if chain[-1][0] < value:
            chain[-1][0].prepend(value)
        for op, changed in reversed(chain):
            with module.graph.inserting_before(op):
                value = _behind(module, op, changed, value, perm)
        node.replace_all_uses_with(value)
        drop_dead_code(module.graph)
        count += 1
    if count:
        module.recompile()
    return count


def _is_result(module: GraphModule, node: Node) -> bool:
    """Whether the model gives it: such a transpose goes where the caller takes another order."""
    return module.graph.output_node() in node.users


_Step = tuple[Node, dict[str, object]]
"""An op, and the arguments that differ when it works on what is transposed."""


def _chain(module: GraphModule, node: Node, perm: Perm) -> tuple[list[_Step], Node | None]:
    """The ops from a transpose up to a value with another such transpose, and that transpose."""
    chain: list[_Step] = []
    value: Node = arguments(node)["input"]
    while len(value.users) == 1:
        changed = _when_behind(module, value, perm)
        if changed is None:
            break
        chain.append((value, changed))
        value = value.all_input_nodes[0]
        for user in value.users:
            is_same = calls(user, "transpose") and list(arguments(user)["perm"]) == perm
            if is_same and not _is_result(module, user):
                return chain, user
    return [], None


def _when_behind(module: GraphModule, node: Node, perm: Perm) -> dict[str, object] | None:
    """The arguments with which an op of transpose(x, perm) gives transpose(op(x), perm)."""
    op = dialect_op(node)
    if op is None or op.transposes is None or not gives_one(node):
        return None
    values = arguments(node)
    first, *others = op.transposes.tensors
    if not isinstance(values[first], Node) or values[first].meta["val"].dim() != len(perm):
        return None
    if any(tensor_constant(module, values[name]) is None for name in others):
        return None
    moved = op.transposes.move(values, inverse(perm))
    if moved is None or moved.perm != inverse(perm):
        return None
    shape = [values[first].meta["val"].shape[d] for d in perm]
    return dict(moved.arguments) if _is_along_last(moved.arguments, shape) else None


def _is_along_last(changed: Mapping[str, object], shape: list[int]) -> bool:
    """Whether an op with such arguments computes every element by itself, or along the last
    dimension, which is what kernels are fast for.
    """
    if not changed:
        return True
    last = len(shape) - 1
    if changed.keys() == {"dim"}:
        return changed["dim"] in (last, [last])
    return changed.keys() == {"parts"} and changed["parts"] == [*shape[:-1], 1]


def _behind(
    module: GraphModule, node: Node, changed: dict[str, object], transposed: Node, perm: Perm
) -> Node:
    """The same op on what is transposed."""
    op = dialect_op(node)
    assert op is not None and op.transposes is not None
    builder = Builder(module, module.graph)
    values = {**arguments(node), **changed}
    first, *others = op.transposes.tensors
    values[first] = transposed
    for name in others:
        constant = tensor_constant(module, values[name])
        assert constant is not None
        shape = [1] * (len(perm) - constant.dim()) + list(constant.shape)
        turned = constant.reshape(shape).permute(perm)
        values[name] = builder.constant(values[name].target, turned, edge_of(values[name]))
    names = [a.name for a in node.target._schema.arguments]  # type: ignore[union-attr]
    edge = with_layout(edge_of(node), edge_of(transposed).layout)
    return builder.call(op, *(values[n] for n in names), edge=edge, origin=node.meta["origin"])
