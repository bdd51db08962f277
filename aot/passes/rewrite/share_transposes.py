# SPDX-License-Identifier: Apache-2.0
"""One transpose of a value for several: transpose(op(x)) beside transpose(x), or beside
transpose(other(x)) by the same permutation, becomes op(transpose(x)).

Matches chains of ops of one computed value each (others are constants), read by nobody else,
between a value and its transposes: what a normalised branch beside a residual becomes, or several
branches that normalise a value each in its own way. Where the value itself is not transposed yet,
its transpose must be of fewer bytes than those that it saves.

Leaves ops that say no way through for transposes, those that would not work along the last
dimension behind the transpose, what kernels are fast for (elementwise ops may), chains that
something else reads, and transposes that are the model's results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    NHWC,
    ROW_MAJOR,
    Builder,
    arguments,
    calls,
    dialect_op,
    drop_dead_code,
    edge_of,
    shape_of,
    tensor_constant,
    with_layout,
)
from aot.dialect.results import gives_one
from aot.dialect.transposes import Perm, inverse
from aot.passes.rewrite.sink_transposes import moves_nothing
from kernels.strided_copy.op_transpose import transpose


def share_transposes(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many transposes are saved."""
    count = 0
    while (found := _shared(module)) is not None:
        count += _share(module, found)
    if count:
        module.recompile()
    return count


_Step = tuple[Node, dict[str, object]]
"""An op, and the arguments that differ when it works on what is transposed."""


@dataclass(frozen=True)
class _Branch:
    """What leads from a value of several readers to a transpose.

    Attributes:
      end: the transpose.
      chain: the ops between, the last one first; none if the value itself is transposed.
    """

    end: Node
    chain: list[_Step]


@dataclass(frozen=True)
class _Shared:
    """Branches of one value whose transposes one of that value can stand for.

    Attributes:
      value: that all start from.
      perm: that all transpose by.
      branches: all of them.
    """

    value: Node
    perm: Perm
    branches: list[_Branch]

    @property
    def whole(self) -> list[Node]:
        """The transposes of the value itself."""
        return [branch.end for branch in self.branches if not branch.chain]

    @property
    def saves(self) -> bool:
        """Whether less is copied with one transpose."""
        if len(self.branches) < 2:
            return False
        added = 0 if self.whole else _copied(self.value, self.perm)
        ends = (branch.end for branch in self.branches if branch.chain)
        saved = sum(_copied(arguments(end)["input"], self.perm) for end in ends)
        return saved > added or len(self.whole) > 1


def _copied(value: Node, perm: Perm) -> int:
    """Bytes that a transpose copies."""
    return 0 if moves_nothing(shape_of(value), perm) else int(value.meta["val"].nbytes)


def _shared(module: GraphModule) -> _Shared | None:
    """The first in the graph's order whose transposes are to be one."""
    found: dict[tuple[Node, tuple[int, ...]], list[_Branch]] = {}
    for node in module.graph.nodes:
        if calls(node, "transpose") and not _is_result(module, node):
            perm: Perm = list(arguments(node)["perm"])
            value, chain = _chain(module, node, perm)
            found.setdefault((value, tuple(perm)), []).append(_Branch(node, chain))
    groups = (_Shared(value, list(perm), branches) for (value, perm), branches in found.items())
    return next((group for group in groups if group.saves), None)


def _is_result(module: GraphModule, node: Node) -> bool:
    """Whether the model gives it: such a transpose goes where the caller takes another order."""
    return module.graph.output_node() in node.users


def _chain(module: GraphModule, node: Node, perm: Perm) -> tuple[Node, list[_Step]]:
    """The ops from a transpose, the last one first, up to a value that several nodes read or that
    no transpose gets in front of, and that value.
    """
    chain: list[_Step] = []
    value: Node = arguments(node)["input"]
    while len(value.users) == 1:
        changed = _when_behind(module, value, perm)
        if changed is None:
            break
        chain.append((value, changed))
        value = value.all_input_nodes[0]
    return value, chain


def _share(module: GraphModule, shared: _Shared) -> int:
    """Makes the transposes of all branches one; returns how many there were more."""
    first = min(branch.chain[-1][0] if branch.chain else branch.end for branch in shared.branches)
    with module.graph.inserting_before(first):
        transposed = _transposed(module, shared)
    for branch in shared.branches:
        value = transposed
        for op, changed in reversed(branch.chain):
            with module.graph.inserting_before(op):
                value = _behind(module, op, changed, value, shared.perm)
        branch.end.replace_all_uses_with(value)
    drop_dead_code(module.graph)
    return len(shared.branches) - 1


def _transposed(module: GraphModule, shared: _Shared) -> Node:
    """The transpose of the value that all start from."""
    ends = [branch.end for branch in shared.branches]
    # What is known of one of them holds for all.
    is_image = any(edge_of(end).layout == NHWC for end in ends)
    edge = with_layout(edge_of(shared.value), NHWC if is_image else ROW_MAJOR)
    builder, origin = Builder(module, module.graph), (shared.whole or ends)[0].meta["origin"]
    return builder.call(transpose, shared.value, shared.perm, edge=edge, origin=origin)


def _when_behind(module: GraphModule, node: Node, perm: Perm) -> dict[str, object] | None:
    """The arguments with which an op of transpose(x, perm) gives transpose(op(x), perm)."""
    op = dialect_op(node)
    if op is None or op.transposes is None or op.spatial or not gives_one(node):
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
