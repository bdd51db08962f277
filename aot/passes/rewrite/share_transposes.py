# SPDX-License-Identifier: Apache-2.0
"""transpose(op(x)) next to transpose(x), or to transpose(other(x)) by the same permutation ->
op(transpose(x)): one transpose of a value for several.

Matches chains of ops with one computed input each (others are constants), without other readers,
between a value and its transposes. Examples are a normalised branch next to a residual, and
branches with different norms of a value. If the value itself is not transposed yet, its transpose
must move fewer bytes than the replaced ones.

Leaves ops without a rule for transposes, and ops that would work along another than the last
dimension afterwards, because kernels are fast there (elementwise ops may). Also leaves chains with
other readers, and transposes in the model's results.
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
    """Rewrite the graph in place; return how many transposes are saved."""
    count = 0
    while (found := _shared(module)) is not None:
        count += _share(module, found)
    if count:
        module.recompile()
    return count


_Step = tuple[Node, dict[str, object]]
"""An op, and the arguments differing if it works on the transposed value."""


@dataclass(frozen=True)
class _Branch:
    """Path from a value with several readers to a transpose.

    Attributes:
      end: the transpose.
      chain: the ops between, the last one first; empty if the value itself is transposed.
    """

    end: Node
    chain: list[_Step]


@dataclass(frozen=True)
class _Shared:
    """Branches of one value whose transposes can be replaced by one transpose of the value.

    Attributes:
      value: the common start.
      perm: the common permutation.
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
        """Return True if one transpose copies less."""
        if len(self.branches) < 2:
            return False
        added = 0 if self.whole else _copied(self.value, self.perm)
        ends = (branch.end for branch in self.branches if branch.chain)
        saved = sum(_copied(arguments(end)["input"], self.perm) for end in ends)
        return saved > added or len(self.whole) > 1


def _copied(value: Node, perm: Perm) -> int:
    """Return the bytes copied by a transpose."""
    return 0 if moves_nothing(shape_of(value), perm) else int(value.meta["val"].nbytes)


def _shared(module: GraphModule) -> _Shared | None:
    """Return the first branches in graph order whose transposes become one."""
    found: dict[tuple[Node, tuple[int, ...]], list[_Branch]] = {}
    for node in module.graph.nodes:
        if calls(node, "transpose") and not _is_result(module, node):
            perm: Perm = list(arguments(node)["perm"])
            value, chain = _chain(module, node, perm)
            found.setdefault((value, tuple(perm)), []).append(_Branch(node, chain))
    groups = (_Shared(value, list(perm), branches) for (value, perm), branches in found.items())
    return next((group for group in groups if group.saves), None)


def _is_result(module: GraphModule, node: Node) -> bool:
    """Return True for a result of the model: its transpose is removed if the caller accepts another
    order.
    """
    return module.graph.output_node() in node.users


def _chain(module: GraphModule, node: Node, perm: Perm) -> tuple[Node, list[_Step]]:
    """Return the ops before a transpose, the last one first, and their source.

    The source has several readers, or no transpose can move before it.
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
    """Make the transposes of all branches one; return how many there were more."""
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
    """Return the transpose of the common start."""
    ends = [branch.end for branch in shared.branches]
    # The layout of one of them holds for all.
    is_image = any(edge_of(end).layout == NHWC for end in ends)
    edge = with_layout(edge_of(shared.value), NHWC if is_image else ROW_MAJOR)
    builder, origin = Builder(module, module.graph), (shared.whole or ends)[0].meta["origin"]
    return builder.call(transpose, shared.value, shared.perm, edge=edge, origin=origin)


def _when_behind(module: GraphModule, node: Node, perm: Perm) -> dict[str, object] | None:
    """Return the arguments of an op with which op(transpose(x, perm)) gives
    transpose(op(x), perm).
    """
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
    """Return True if an op with such arguments is elementwise, or works along the last dimension.

    Kernels are fast for these cases.
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
    """Return the same op on the transposed value."""
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
