# SPDX-License-Identifier: Apache-2.0
"""Mask sentinels such as -1e9 or torch.finfo(x.dtype).min become infinite. A range with such a
number has no room for other values. Infinity belongs to no range, and becomes the least or the
greatest step.

Matches where, constant_pad_nd and cat of a value and a fill that is at least `FARTHER` from 0.
additive_masks.py turns added masks into where. Patterns after the fill:

- A pointwise function, of any number of ops, applies to both: relu(where(m, x, -1e9))
  is where(m, relu(x), 0).
- maximum(where(m, x, -1e9), y) is where(m, maximum(x, y), y), because the least step
  of x may be more than y.
- A softmax along a pad or cat is over the values alone, with zeros around.

All other readers must be maximum, minimum or softmax. Leaves a fill with any other reader, and one
in the model's results.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import tensor_constant
from aot.dialect.results import is_result
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.passes.aten.masks.mask_nodes import FARTHER, LARGEST, LEAST, MOVEMENT
from aot.rules.function import is_elementwise, is_scalar
from aot.rules.gather import GATHERED

_aten = torch.ops.aten
_PAD, _CAT, _WHERE = _aten.constant_pad_nd.default, _aten.cat.default, _aten.where.self
_MOVES = {*MOVEMENT, *GATHERED, _PAD, _CAT, _WHERE}
_SOFTMAX = _aten.softmax.int
_SOFT = {_SOFTMAX, _aten.log_softmax.int, _aten.logsumexp.default}
_LARGER, _SMALLER = _aten.maximum.default, _aten.minimum.default


@dataclass(frozen=True)
class _Filled:
    """A value in which some elements are one number.

    Attributes:
      values: the other elements.
      positions: of the argument holding the number, and of the item in it for cat.
      number: the fill, far from 0.
    """

    values: Node
    positions: tuple[int, ...]
    number: float


class _Fills:
    def __init__(self, module: GraphModule) -> None:
        self._module = module
        self._graph = module.graph

    def run(self) -> int:
        count = 0
        node = next(iter(self._graph.nodes))
        while node.op != "output":
            filled = self._filled(node)
            if filled is not None:
                steps = (self._taken_of_both, self._left_out, self._lost_to_another)
                while any(step(node, filled) for step in steps):
                    count += 1
                if node.users and math.isfinite(filled.number) and self._loses(node, filled.number):
                    self._fill(node, filled.positions, math.copysign(math.inf, filled.number))
                    count += 1
            node = node.next  # the next node may be new
        return count

    def _filled(self, node: Node) -> _Filled | None:
        """Return a node's fill with a number far from 0."""
        if node.op != "call_function" or node.target not in (_PAD, _CAT, _WHERE):
            return None
        if node.target is _PAD:
            number = float(argument(node, "value"))
            (values,) = node.all_input_nodes
            return _Filled(values, (2,), number) if abs(number) >= FARTHER else None
        parts: Any = node.args[1:] if node.target is _WHERE else node.args[0]
        if len(parts) != 2:
            return None
        for at, part in enumerate(parts):
            values = parts[1 - at]
            known = tensor_constant(self._module, part)
            if known is None or not known.numel() or not known.is_floating_point():
                continue
            number = float(known.flatten()[0])
            if abs(number) < FARTHER or not bool((known == number).all()):
                continue
            same = node.target is _CAT or values.meta["val"].shape == node.meta["val"].shape
            if same and values.op != "get_attr":
                return _Filled(values, (1 + at,) if node.target is _WHERE else (0, at), number)
        return None

    def _taken_of_both(self, node: Node, filled: _Filled) -> bool:
        """Replace a function of a filled value by the filled value of the function."""
        for ops in _functions_of(node):
            number = float(self._value_of(ops, node, filled.number))
            if not math.isnan(number):
                break
        else:
            return False
        end = ops[-1]
        copies: dict[Node, Node] = {node: filled.values}
        with self._graph.inserting_before(end):
            for op in ops:
                copies[op] = self._graph.node_copy(op, lambda n: copies.get(n, n))
                fake = filled.values.meta["val"].to(op.meta["val"].dtype)
                copies[op].meta = {**op.meta, "val": fake}
            made = self._with(node, filled, copies[end], number)
        made.meta = {**node.meta, "val": end.meta["val"]}
        end.replace_all_uses_with(made)
        for op in reversed(ops):
            if not op.users:
                self._graph.erase_node(op)
        return True

    def _left_out(self, node: Node, filled: _Filled) -> bool:
        """Replace a softmax along the filled dimension by one over the values alone, with zeros
        around.
        """
        for soft in node.users:
            if filled.number < 0 and soft.target is _SOFTMAX and _is_along(node, soft):
                with self._graph.inserting_before(soft):
                    value = call(soft, _SOFTMAX, filled.values, *soft.args[1:])
                    made = self._with(node, filled, value, 0.0)
                soft.replace_all_uses_with(made)
                self._graph.erase_node(soft)
                return True
        return False

    def _with(self, node: Node, filled: _Filled, values: Node, number: float) -> Node:
        """Return the same of other values and another number, at the graph's insertion point."""
        made = self._graph.node_copy(node, lambda n: values if n is filled.values else n)
        self._fill(made, filled.positions, number)
        return made

    def _value_of(self, ops: Sequence[Node], node: Node, number: float) -> torch.Tensor:
        """Return a function's value for a number, from its ops."""
        results: dict[Node, torch.Tensor] = {node: torch.tensor(number)}

        def value(n: Node) -> torch.Tensor:
            if n in results:
                return results[n]
            known = tensor_constant(self._module, n)
            assert known is not None, n
            return known.reshape(())

        for op in ops:
            args, kwargs = map_arg((op.args, op.kwargs), value)
            results[op] = op.target(*args, **kwargs)  # type: ignore[operator]
        return results[ops[-1]]

    def _lost_to_another(self, node: Node, filled: _Filled) -> bool:
        """Replace the maximum of a filled value and another value by a choice: the other value at
        the fill.
        """
        if node.target is not _WHERE:
            return False
        target: Any = _LARGER if filled.number < 0 else _SMALLER
        for user in node.users:
            others = [source for source in user.all_input_nodes if source is not node]
            if user.target is not target or len(others) != 1 or _comes_from(others[0]) is node:
                continue
            (other,) = others
            if {n.meta["val"].shape for n in (other, user)} == {node.meta["val"].shape}:
                break
        else:
            return False
        with self._graph.inserting_before(user):
            larger = call(user, target, filled.values, other)
            (fill,) = filled.positions
            args = [*node.args[:1], larger, larger]
            args[fill] = other
            made = self._graph.call_function(_WHERE, tuple(args))
            made.meta = dict(user.meta)
        user.replace_all_uses_with(made)
        self._graph.erase_node(user)
        return True

    def _fill(self, node: Node, positions: tuple[int, ...], number: float) -> None:
        """Put a number where another one is."""
        at, *item = positions
        args = list(node.args)
        if node.target is _PAD:
            args[at:] = [number]
        elif item:
            parts = list(args[at])  # type: ignore[arg-type]
            parts[item[0]] = self._like(node, parts[item[0]], number)
            args[at] = parts
        else:
            args[at] = self._like(node, args[at], number)
        node.args = tuple(args)

    def _like(self, node: Node, old: Any, number: float) -> Node:
        with self._graph.inserting_before(node):
            known = tensor_constant(self._module, old)
            assert known is not None
            return constant(self._module, node, "fill", torch.full_like(known, number))

    def _loses(self, node: Node, number: float) -> bool:
        """Return True if a number loses in all readers of a node, also after moves."""
        return all(self._loses_in(user, node, number) for user in node.users)

    def _loses_in(self, user: Node, node: Node, number: float) -> bool:
        if user.target in _MOVES or is_result(user):
            return self._loses(user, number)
        if user.target in _SOFT:
            return number < 0 and self._is_partial(node, user)
        if user.target is _aten.topk.default:
            return bool(argument(user, "largest") == (number < 0))
        if user.target is (_LARGER if number < 0 else _SMALLER):
            # Two parts of one value have one range.
            return len({_comes_from(source) for source in user.all_input_nodes}) == 1
        return user.target in (LARGEST if number < 0 else LEAST)

    def _is_partial(self, node: Node, soft: Node) -> bool:
        """Return True if a softmax over a node's fill surely covers other values, too."""
        kept = self._kept(node) if node.target in (_WHERE, _PAD) else None
        dims: Any = soft.args[1]
        dims = dims if isinstance(dims, (list, tuple)) else [dims]
        if kept is None or len(dims) != 1:
            return False
        return bool(kept.any(dims[0], keepdim=True).all())

    def _kept(self, node: Node) -> torch.Tensor | None:
        """Return a mask of the elements of a node that no fill hides, also no earlier one; None if
        unknown.
        """
        if node.target is _WHERE:
            condition, yes, no = node.args
            values: Any
            kept = tensor_constant(self._module, condition)
            if kept is None or is_scalar(yes) == is_scalar(no):
                return None
            kept, values = (~kept, no) if is_scalar(yes) else (kept, yes)
            beneath = self._kept(values)
            return None if beneath is None else (kept & beneath).expand(node.meta["val"].shape)
        if node.target is _PAD:
            beneath = self._kept(node.all_input_nodes[0])
            if beneath is None:
                return None
            padded: torch.Tensor = _PAD(beneath.float(), node.args[1], 0.0)
            return padded > 0
        if node.target in _MOVES:
            return None
        return torch.ones(node.meta["val"].shape, dtype=torch.bool)


def _comes_from(node: Node) -> Node:
    """Return the source of a data movement."""
    while node.target in MOVEMENT:
        (node,) = node.all_input_nodes
    return node


def _is_along(node: Node, soft: Node) -> bool:
    """Return True if a pad or cat fills only along the dimension of a softmax."""
    rank = soft.meta["val"].dim()
    along: Any = soft.args[1]
    dim = along % rank
    if node.target is _PAD:
        padding: Any = node.args[1]
        here = slice(2 * (rank - 1 - dim), 2 * (rank - dim))
        added = padding[here]
        return min(padding) >= 0 and any(added) and sum(added) == sum(padding)
    return node.target is _CAT and int(argument(node, "dim")) % rank == dim


def _functions_of(node: Node) -> list[list[Node]]:
    """Return the functions of one node's elements with outside readers, each as its ops
    in order.
    """
    shape, inside = node.meta["val"].shape, {node}
    reached = list(node.users)
    while reached:
        user = reached.pop()
        sources = user.all_input_nodes
        if user in inside or not is_elementwise(user.target):
            continue
        if user.meta["val"].shape == shape and all(n in inside or is_scalar(n) for n in sources):
            inside.add(user)
            reached.extend(user.users)
    inside.discard(node)
    ends = [
        op
        for op in sorted(inside)
        if op.meta["val"].dtype == torch.float32 and not inside.issuperset(op.users)
    ]
    return [_ops_of(end, inside) for end in ends]


def _ops_of(end: Node, inside: set[Node]) -> list[Node]:
    """Return those of the given ops computing a value, the value itself last."""
    found, reached = {end}, [end]
    while reached:
        for source in reached.pop().all_input_nodes:
            if source in inside and source not in found:
                found.add(source)
                reached.append(source)
    return sorted(found)


def replace_mask_sentinels(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many fills were changed, or moved."""
    return _Fills(module).run()
