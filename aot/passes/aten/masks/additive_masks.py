# SPDX-License-Identifier: Apache-2.0
"""Additive masks -> booleans next to the hidden values.

An additive mask holds minus infinity, or -1e9, at hidden elements. No scale holds such numbers.
This pass follows each value as where(kept, values, number) through moves, sums, products, minimum
and maximum, max pools, choices and pointwise functions. Softmax, minimum, maximum and attention
then read where(kept, values, -inf); later passes lower it as a mask. A function with a finite
result at the number is a choice of finite values, and ends the mask. The rest of the graph stays.

Raises LoweringError if unsupported arithmetic reads an infinite mask.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.results import taken_from
from aot.dialect.rule import argument
from aot.errors import LoweringError, Problem, problem_at
from aot.passes.aten.decompositions.builders import as_type, taken_result
from aot.passes.aten.masks.mask_nodes import (
    FARTHER,
    MAX_POOLS,
    MOVEMENT,
    SOFT,
    is_far,
    loses,
    padded_mask,
)
from aot.passes.aten.masks.masked_values import (
    CHOICE,
    MOVED,
    Masked,
    MaskedValues,
    have_one_sign,
    nearest,
)
from aot.rules.function import is_elementwise, is_mask, is_scalar
from aot.rules.gather import GATHERED

_aten = torch.ops.aten
_WHERE, _CAT, _PAD = _aten.where.self, _aten.cat.default, _aten.constant_pad_nd.default
_EXPAND, _NEAREST = _aten.expand.default, _aten.upsample_nearest2d.vec
_ATTENTION = _aten.scaled_dot_product_attention.default
_MOVES = {
    *MOVEMENT,
    *GATHERED,
    _aten.embedding.default,
    _aten.clone.default,
    _aten.alias.default,
}
_SUMS: dict[Any, float] = {_aten.add.Tensor: 1.0, _aten.sub.Tensor: -1.0}
_PRODUCTS = (_aten.mul.Tensor, _aten.div.Tensor)
_EXTREMES: dict[Any, float] = {_aten.maximum.default: 1.0, _aten.minimum.default: -1.0}
_LEVEL_OUT = {
    _aten.relu.default,
    _aten.sigmoid.default,
    _aten.tanh.default,
    _aten.exp.default,
    _aten.hardtanh.default,
    _aten.clamp.default,
}
"""Functions with the same result for all numbers that are far from 0."""
_SPOILED = {
    *_SUMS,
    *_PRODUCTS,
    *_EXTREMES,
    _aten.sum.default,
    _aten.sum.dim_IntList,
    _aten.mean.default,
    _aten.mean.dim,
    _aten.matmul.default,
    _aten.mm.default,
    _aten.bmm.default,
    _aten.linear.default,
    _aten.cumsum.default,
}
"""Arithmetic with an infinite or NaN result if an operand is infinite."""


class _Masks(MaskedValues):
    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self._choices: dict[Node, Node] = {}
        self._problems: list[Problem] = []
        self._count = 0

    def run(self) -> int:
        for node in list(self.module.graph.nodes):
            if not isinstance(node.meta.get("val"), torch.Tensor):
                if node.op == "call_function":
                    self._read(node)
                if node.op == "output":
                    self._give(node)
                continue
            if node.op == "placeholder" and is_mask(node):
                self.known[node] = Masked(node, 1.0, 0.0)
            if node.op not in ("call_function", "get_attr"):
                continue
            with self.module.graph.inserting_before(node):
                found = self._found(node)
            if found is None and node.op == "call_function":
                self._read(node)
            if found is None and is_mask(node) and node.meta["val"].numel() > 1:
                found = Masked(node, 1.0, 0.0)
            if found is not None:
                kind = CHOICE if found.hides and self._is_choice(node) else found.kind
                self.known[node] = replace(found, kind=kind)
        for masked, choice in self._choices.items():
            for asks in [user for user in masked.users if user.target is _aten.eq.Scalar]:
                asks.replace_input_with(masked, choice)
        if self._problems:
            raise LoweringError(
                f"{len(self._problems)} op of the model cannot be lowered:", self._problems
            )
        return self._count

    def _found(self, node: Node) -> Masked | None:
        """Return a node as a masked value; None for other nodes, and after replacement by finite
        values.
        """
        if node.op == "get_attr":
            return self.of_constant(node)
        if node.target is _PAD and is_mask(node):
            given, pads = cast(Any, node.args[:2])
            made = padded_mask(self.module, node, given, pads, bool(argument(node, "value")))
            self._replace(node, made)
            return None
        if node.target is _WHERE:
            return self._chosen(node)
        if node.target is _PAD:
            return self._padded(node)
        if node.target is _CAT:
            return self._joined(node)
        masked = [source for source in node.all_input_nodes if source in self.known]
        pool, index = taken_from(node)
        if pool.target in MAX_POOLS and index == 0 and pool.args[0] in self.known:
            return self._pooled(node, pool)
        if not masked:
            return None
        if node.target in _MOVES:
            return self._moved(node)
        if is_elementwise(node.target):
            rest = [n for n in node.all_input_nodes if n not in masked and not is_scalar(n)]
            if len(masked) == 1 and not rest:
                return self._function(node, masked[0])
            if not any(self.known[n].hides for n in masked) or is_mask(node):
                return None
            if node.target in _SUMS and argument(node, "alpha") == 1:
                return self._summed(node)
            if node.target in _PRODUCTS:
                return self._scaled(node)
            if node.target in _EXTREMES:
                return self._extreme(node)
        return None

    def _chosen(self, node: Node) -> Masked | None:
        condition, *branches = node.args
        assert isinstance(condition, Node)
        if node.meta["val"].dtype is not torch.float32:
            return None
        yes, no = map(self.side, branches)
        hidden = [side for side in (yes, no) if side.kept is not True]
        if not hidden:
            if isinstance(yes.values, float) and isinstance(no.values, float):
                return Masked(condition, yes.values, no.values)
            return None
        if not have_one_sign(hidden):
            return None
        taken = self.and_(node, condition, yes.kept)
        other = self.and_(node, self.not_(node, condition), no.kept)
        kept = self.or_(node, taken, other)
        if yes.kept is False or no.kept is False:
            values = no.values if yes.kept is False else yes.values
        elif yes.values == no.values:
            values = yes.values
        else:
            values = self.where(node, condition, yes.values, no.values)
        return None if kept is False else Masked(kept, values, nearest(hidden))

    def _moved(self, node: Node) -> Masked | None:
        source = node.args[0]
        if not isinstance(source, Node) or source not in self.known:
            return None
        form = self.known[source]
        if is_mask(node) or node.kwargs:
            return None
        shape = list(source.meta["val"].shape)

        def move(part: Any) -> Any:
            if not isinstance(part, Node):
                return part
            if list(part.meta["val"].shape) != shape:
                part = self.call(node, _EXPAND, part, shape)
            if node.target is _NEAREST and is_mask(part):  # torch resizes numbers only
                part = self.call(node, _NEAREST, as_type(node, part, torch.float32), *node.args[1:])
                return self.call(node, _aten.gt.Scalar, part, 0.5)
            return self.call(node, node.target, part, *node.args[1:])

        kind = MOVED if form.kind else ""
        return replace(form, kept=move(form.kept), values=move(form.values), kind=kind)

    def _pooled(self, node: Node, pool: Node) -> Masked | None:
        """The largest of each window; it is hidden if all of its window are."""
        source = pool.args[0]
        assert isinstance(source, Node)
        form = self.known[source]
        if not form.hides or not loses(pool, form.number):
            return None
        kept = as_type(node, self.whole(node, form.kept, source), torch.float32)
        kept = self.call(node, pool.target, kept, *pool.args[1:])
        if isinstance(kept.meta["val"], tuple):
            kept = taken_result(node, kept, 0)
        kept = self.call(node, _aten.gt.Scalar, kept, 0.5)
        values = form.values if isinstance(form.values, float) else node
        return Masked(kept, values, form.number, MOVED)

    def _padded(self, node: Node) -> Masked | None:
        source, pads = cast(Any, node.args[:2])
        form, fill = self.side(source), self.number(float(argument(node, "value")))
        hidden = [side for side in (form, fill) if side.kept is not True]
        if not have_one_sign(hidden):
            return None
        kept = self.whole(node, form.kept, source)
        kept = padded_mask(self.module, node, kept, pads, fill.kept is True)
        values = form.values
        if isinstance(values, Node) or fill.kept and values != fill.values:
            values = self.call(node, _PAD, self.whole(node, values, source), pads, fill.values)
        return Masked(kept, values, nearest(hidden))

    def _joined(self, node: Node) -> Masked | None:
        parts: Any = node.args[0]
        sides = [self.side(part) for part in parts]
        hidden = [side for side in sides if side.kept is not True]
        if node.meta["val"].dtype is not torch.float32 or not have_one_sign(hidden):
            return None
        dim = argument(node, "dim")
        pairs = list(zip(sides, parts, strict=True))
        kept = self.call(
            node, _CAT, [self.whole(node, side.kept, part) for side, part in pairs], dim
        )
        values = sides[0].values
        if isinstance(values, Node) or any(side.values != values for side in sides):
            finite = [self.whole(node, side.values, part) for side, part in pairs]
            values = self.call(node, _CAT, finite, dim)
        return Masked(kept, values, nearest(hidden))

    def _function(self, node: Node, source: Node) -> Masked | None:
        """Return a function of one masked value."""
        form = self.known[source]
        if source.meta["val"].shape != node.meta["val"].shape:
            return None
        if form.hides and node.target is _aten.eq.Scalar and node.args[1] == form.number:
            return None  # a safe softmax tests its scores
        number = self.value_at(node, source, form.number)
        if math.isnan(number):
            return None
        if isinstance(form.values, float):
            value = self.value_at(node, source, form.values)
            if math.isnan(value) or is_far(value) and is_far(number):
                return None
            if is_far(value):
                return Masked(self.not_(node, form.kept), number, value)
            return Masked(form.kept, value, number)
        if not is_far(number):
            levels_out = abs(form.number) >= FARTHER and node.target in _LEVEL_OUT
            if form.kind == CHOICE or not (levels_out or math.isinf(form.number)):
                return None
        values = self.again(node, {source: form.values})
        if is_mask(node):
            made = self.or_ if number else self.and_
            kept = self.not_(node, form.kept) if number else form.kept
            self._replace(node, made(node, kept, values))
            return None
        if is_far(number):
            return replace(form, values=values, number=number)
        self._replace(node, self.where(node, form.kept, values, number))
        return None

    def _summed(self, node: Node) -> Masked | None:
        a, b = map(self.side, node.args)
        sign = _SUMS[node.target]
        hidden = [side for side in (a, replace(b, number=sign * b.number)) if side.kept is not True]
        if not have_one_sign(hidden):
            return None
        kept = self.and_(node, a.kept, b.kept)
        values: Node | float
        if isinstance(a.values, float) and isinstance(b.values, float):
            values = a.values + sign * b.values
        elif b.values == 0.0:
            values = a.values
        elif a.values == 0.0 and sign > 0:
            values = b.values
        else:
            values = self.call(node, node.target, *self.nodes(node, a.values, b.values))
        return Masked(kept, values, nearest(hidden))

    def _scaled(self, node: Node) -> Masked | None:
        """Return a product with a constant of one sign, or a quotient by one."""
        a, b = node.args
        if node.target is _aten.div.Tensor or isinstance(a, Node) and a in self.known:
            masked, other = a, b
        else:
            masked, other = b, a
        factor = tensor_constant(self.module, other)
        if factor is None or not isinstance(masked, Node) or masked not in self.known:
            return None
        if not bool((factor > 0).all() or (factor < 0).all()) or not bool(factor.isfinite().all()):
            return None
        form = self.known[masked]
        numbers = node.target(torch.tensor(form.number), factor)  # type: ignore[operator]
        number = float(numbers.flatten()[numbers.abs().argmin()])
        if not is_far(number):
            return None
        values = form.values
        if values != 0.0:
            (given,) = self.nodes(node, values)
            values = self.again(node, {masked: given})
        return Masked(form.kept, values, number)

    def _extreme(self, node: Node) -> Masked | None:
        a, b = map(self.side, node.args)
        hidden = [side for side in (a, b) if side.kept is not True]
        if not have_one_sign(hidden):
            return None
        values: Node | float
        if isinstance(a.values, float) and isinstance(b.values, float):
            choose = max if _EXTREMES[node.target] > 0 else min
            values = choose(a.values, b.values)
        else:
            values = self.call(node, node.target, *self.nodes(node, a.values, b.values))
        number = nearest(hidden)
        if number * _EXTREMES[node.target] > 0:
            return Masked(self.and_(node, a.kept, b.kept), values, number)
        for side, other in ((a, b), (b, a)):
            if side.kept is not True:
                values = self.where(node, side.kept, values, other.values)
        kept = self.or_(node, a.kept, b.kept)
        if kept is True:
            self._replace(node, values)
            return None
        return Masked(kept, values, number)

    def _read(self, node: Node) -> None:
        """Make a reader ignoring hidden elements read where(kept, values, infinity)."""
        if not node.users:
            return
        at = SOFT.get(node.target, 0)
        source = node.args[at] if len(node.args) > at else node.kwargs.get("attn_mask")
        for masked in [n for n in node.all_input_nodes if n in self.known]:
            form = self.known[masked]
            if not form.hides:
                continue
            if masked is source and loses(node, form.number):
                if not self._is_left(node, masked):
                    node.replace_input_with(masked, self._choice(masked))
                    self._count += 1
            elif math.isinf(form.number) and node.target in _SPOILED:
                self._problems.append(
                    problem_at(
                        node,
                        "it reads infinite numbers where a mask hides, and its result is infinite "
                        "or NaN there",
                        "x.masked_fill(mask, 0.0) for this op; or a mask of booleans that goes "
                        "with the values to the softmax",
                    )
                )

    def _give(self, output: Node) -> None:
        """Let the model return where(kept, values, infinity): integers have no infinity."""
        for masked in output.all_input_nodes:
            form = self.known.get(masked)
            if form is None or not math.isinf(form.number) or form.kept is True or form.kind:
                continue
            if masked.target in {*_SUMS, *_PRODUCTS, *_MOVES} and isinstance(form.values, Node):
                output.replace_input_with(masked, self._choice(masked))
                self._count += 1

    def _choice(self, masked: Node) -> Node:
        """Return where(kept, values, infinity) for a masked value."""
        if masked not in self._choices:
            self._choices[masked] = self.as_choice(masked)
        return self._choices[masked]

    def _is_left(self, reader: Node, masked: Node) -> bool:
        """Return True if the next passes support a reader and its mask unchanged."""
        form = self.known[masked]
        if reader.target not in SOFT:
            return bool(form.kind)
        if tensor_constant(self.module, form.kept) is not None:
            is_direct = masked.op == "get_attr" or masked.target in (*_SUMS, _WHERE)
            return is_direct or self._is_choice(masked)
        return reader.target is not _ATTENTION and self._is_choice(masked)

    def _is_choice(self, node: Node) -> bool:
        """Return True if a node is one choice between finite values and a number."""
        if node.target is _PAD:
            return self.side(node.all_input_nodes[0]).kept is True
        if node.target not in (_WHERE, _CAT):
            return False
        parts: Any = node.args[1:] if node.target is _WHERE else node.args[0]
        return {self.side(part).kept for part in parts} == {True, False}

    def _replace(self, node: Node, made: Node | float | bool) -> None:
        (value,) = self.nodes(node, made)
        value = self.whole(node, value, node)
        if is_mask(value):
            self.known[value] = Masked(value, 1.0, 0.0)
        node.replace_all_uses_with(value)
        self._count += 1


def additive_masks(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many readers changed."""
    return _Masks(module).run()
