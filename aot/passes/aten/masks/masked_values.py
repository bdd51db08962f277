# SPDX-License-Identifier: Apache-2.0
"""Values as where(kept, values, number), and the nodes for their parts."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import tensor_constant
from aot.passes.aten.build import call, constant
from aot.passes.aten.masks.mask_nodes import FAR, FARTHER, is_far, negated

_aten = torch.ops.aten
CHOICE, MOVED = "choice", "moved"


@dataclass(frozen=True)
class Masked:
    """A value as where(kept, values, number).

    Attributes:
      kept: a mask broadcasting to the value's shape, or True everywhere.
      values: at kept elements; a number if all are the same.
      number: everywhere else.
      kind: `CHOICE`, a choice of values and a number, or a function of one; `MOVED`, the
        same in another order or shape; mask_sentinels.py handles both. Else "".
    """

    kept: Node | bool
    values: Node | float
    number: float = 0.0
    kind: str = ""

    @property
    def hides(self) -> bool:
        return self.kept is not True and is_far(self.number)


class MaskedValues:
    """The masked values of a graph, and the construction of nodes at its insertion point.

    Attributes:
      module: of the graph.
      known: the masked values, by node.
    """

    def __init__(self, module: GraphModule) -> None:
        self.module = module
        self.known: dict[Node, Masked] = {}

    def of_constant(self, node: Node) -> Masked | None:
        known = tensor_constant(self.module, node)
        if known is None or known.numel() < 2:
            return None
        if known.dtype is torch.bool:
            return Masked(node, 1.0, 0.0)
        if known.dtype is not torch.float32:
            return None
        for sign in (-1.0, 1.0):
            far = known * sign >= FAR
            if not bool((far | (known == 0)).all()):
                far = known * sign >= FARTHER
            if bool(far.any()) and not bool(far.all()):
                kept = constant(self.module, node, "mask", ~far)
                finite = torch.where(far, 0.0, known)
                values: Node | float = 0.0
                if bool(finite.any()):
                    values = constant(self.module, node, "finite", finite)
                return Masked(kept, values, sign * float(known[far].abs().min()))
        return None

    def side(self, value: object) -> Masked:
        """Return an argument as a masked value; an argument with far elements only
        keeps nothing.
        """
        if isinstance(value, bool | int | float):
            return self.number(float(value))
        assert isinstance(value, Node)
        if (masked := self.known.get(value)) is not None and masked.hides:
            return masked
        known = tensor_constant(self.module, value)
        if known is not None and known.is_floating_point() and known.numel():
            first = float(known.flatten()[0])
            if bool((known == first).all()):
                return self.number(first)
        return Masked(True, value)

    def number(self, number: float) -> Masked:
        return Masked(False, 0.0, number) if is_far(number) else Masked(True, number)

    def as_choice(self, masked: Node) -> Node:
        form = self.known[masked]
        with self.module.graph.inserting_after(masked):
            made = self.module.graph.call_function(_aten.where.self)
        with self.module.graph.inserting_before(made):
            end = math.copysign(math.inf, form.number)
            made.args = (self.mask(masked, form.kept), *self.nodes(masked, form.values, end))
            shape = masked.meta["val"].shape
            if isinstance(form.values, Node) and form.values.meta["val"].shape != shape:
                wide = self.call(masked, _aten.expand.default, form.values, list(shape))
                made.args = (made.args[0], wide, made.args[2])
        made.meta = {**masked.meta}
        made.meta["val"] = _aten.where.self(*map_arg(made.args, lambda n: n.meta["val"]))
        return made

    def value_at(self, node: Node, source: Node, number: float) -> float:
        """Return the result of a function for one number."""
        dtype = source.meta["val"].dtype

        def value(n: Node) -> torch.Tensor:
            known = None if n is source else tensor_constant(self.module, n)
            return torch.tensor(number, dtype=dtype) if known is None else known.reshape(())

        args, kwargs = map_arg((node.args, node.kwargs), value)
        return float(node.target(*args, **kwargs))  # type: ignore[operator]

    def call(self, node: Node, target: Any, *args: Any) -> Node:
        """Return a call at the graph's insertion point; a constant if all its inputs
        are constants.
        """
        sources: list[Node] = []
        map_arg(args, sources.append)
        if any(tensor_constant(self.module, source) is None for source in sources):
            return call(node, target, *args)
        value = target(*map_arg(args, functools.partial(tensor_constant, self.module)))
        return constant(self.module, node, "folded", value)

    def again(self, node: Node, instead: dict[Node, Node]) -> Node:
        """Return the same op of other values."""
        args, kwargs = map_arg((node.args, node.kwargs), lambda n: instead.get(n, n))
        made = self.module.graph.call_function(node.target, args, kwargs)  # type: ignore[arg-type]
        args, kwargs = map_arg((args, kwargs), lambda n: n.meta["val"])
        made.meta = {**node.meta, "val": node.target(*args, **kwargs)}  # type: ignore[operator]
        return made

    def whole(self, node: Node, value: Node | float | bool, like: Node) -> Node:
        """Return a part of a masked value in the shape of the whole."""
        shape = list(like.meta["val"].shape)
        if not isinstance(value, Node):
            return constant(self.module, node, "part", torch.full(shape, value))
        return (
            value
            if list(value.meta["val"].shape) == shape
            else self.call(node, _aten.expand.default, value, shape)
        )

    def nodes(self, node: Node, *values: Node | float | bool) -> list[Node]:
        make = functools.partial(constant, self.module, node, "number")
        return [v if isinstance(v, Node) else make(torch.tensor(v)) for v in values]

    def mask(self, node: Node, kept: Node | bool) -> Node:
        (mask,) = self.nodes(node, kept)
        return mask

    def where(self, node: Node, kept: Node | bool, *values: Node | float) -> Node:
        return self.call(node, _aten.where.self, self.mask(node, kept), *self.nodes(node, *values))

    def not_(self, node: Node, mask: Node | bool) -> Node | bool:
        return negated(self.module, node, mask) if isinstance(mask, Node) else not mask

    def and_(self, node: Node, a: Node | bool, b: Node | bool) -> Node | bool:
        return self._both(node, _aten.logical_and.default, a, b, True)

    def or_(self, node: Node, a: Node | bool, b: Node | bool) -> Node | bool:
        return self._both(node, _aten.logical_or.default, a, b, False)

    def _both(
        self, node: Node, target: Any, a: Node | bool, b: Node | bool, neutral: bool
    ) -> Node | bool:
        for one, other in ((a, b), (b, a)):
            if not isinstance(one, Node):
                return other if one is neutral else not neutral
        return a if a is b else self.call(node, target, a, b)


def nearest(sides: list[Masked]) -> float:
    """Return the number nearest to 0 among several masked values."""
    return min((side.number for side in sides), key=abs)


def have_one_sign(sides: Sequence[Masked]) -> bool:
    return len({side.number > 0 for side in sides}) == 1
