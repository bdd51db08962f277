# SPDX-License-Identifier: Apache-2.0
"""Pattern fusion of written-out norms: x * rsqrt(mean(x^2) + eps), x / max(norm(x), eps), (x -
mean) / sqrt(var + eps) and similar ones -> pl_float::normalize.

Matches the product or quotient of a value, possibly minus its mean, and the root of its mean square
(variance, sum of squares, norm). Any dimensions and forms of computation match. Constant factors,
before or after, become the weight; an added constant becomes the bias. Leaves norms of other
orders, and roots of the mean square of another value.
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import new_buffer, tensor_constant
from aot.dialect.results import taken_from
from aot.dialect.rule import argument, reduction
from aot.rules.fused_norm import MAX_EPSILON, NORMALIZE
from aot.rules.movement import RESHAPE_TARGETS

_aten = torch.ops.aten
_EXPAND = _aten.expand.default
_STRETCH = {*RESHAPE_TARGETS, _EXPAND}
_ADD = {_aten.add.Tensor, _aten.add.Scalar}
_SUB = {_aten.sub.Tensor, _aten.sub.Scalar}
_MUL = {_aten.mul.Tensor, _aten.mul.Scalar}
_DIV = {_aten.div.Tensor, _aten.div.Scalar}
_AT_LEAST = {
    _aten.clamp.default,
    _aten.clamp.Tensor,
    _aten.clamp_min.default,
    _aten.maximum.default,
}
_MEAN = {_aten.mean.dim, _aten.mean.default}
_SUM = {_aten.sum.dim_IntList, _aten.sum.default}
_WITH_MEAN = {_aten.var_mean.correction, _aten.std_mean.correction}
# Power of the variance.
_DEVIATIONS = {
    _aten.var.correction: 1.0,
    _aten.var_mean.correction: 1.0,
    _aten.std.correction: 0.5,
    _aten.std_mean.correction: 0.5,
}
_POWERS = {
    _aten.sqrt.default: 0.5,
    _aten.rsqrt.default: -0.5,
    _aten.reciprocal.default: -1.0,
    _aten.square.default: 2.0,
}


@dataclass(frozen=True)
class _Root:
    """factor * (max(sqrt(mean(x^2) + eps), floor) + addend)^exponent.

    The mean is over dim. x is the value, minus its mean if it is centered.
    """

    value: Node
    centered: bool
    dim: tuple[int, ...]
    factor: float
    exponent: float
    eps: float = 0.0
    floor: float = 0.0
    addend: float = 0.0

    @property
    def fits(self) -> bool:
        """Return True if there is an op for it."""
        bounds = (self.eps, self.floor, self.addend)
        return self.factor > 0.0 and all(0.0 <= bound <= MAX_EPSILON for bound in bounds)

    def to_the(self, exponent: float) -> _Root:
        return replace(self, factor=self.factor**exponent, exponent=self.exponent * exponent)

    def plus(self, addend: float) -> _Root | None:
        if self.exponent == 2.0 and not self.floor and not self.addend:
            return replace(self, eps=self.eps + addend / self.factor)
        if self.exponent == 1.0:
            return replace(self, addend=self.addend + addend / self.factor)
        return None

    def at_least(self, minimum: float) -> _Root | None:
        if self.exponent <= 0.0 or self.addend:
            return None
        return replace(self, floor=max(self.floor, (minimum / self.factor) ** (1 / self.exponent)))


class _Matcher:
    def __init__(self, module: GraphModule) -> None:
        self._module = module
        self._graph = module.graph
        self._roots: dict[Node, _Root] = {}

    def run(self) -> int:
        count = 0
        for node in list(self._graph.nodes):
            root = self._mean_square(node) or self._of_root(node)
            if root is not None and root.fits:
                self._roots[node] = root
            elif node.target in _MUL | _DIV:
                count += self._rewrite(node)
        return count

    def _mean_square(self, node: Node) -> _Root | None:
        """Return a node's mean or sum of squares, variance or norm."""
        if node.target in _MEAN | _SUM:
            squared = _squared(node.args[0])
            if squared is None:
                return None
            dim = _dimensions(node)
            factor = 1.0 if node.target in _MEAN else float(_count(squared, dim))
            return _Root(*_centered(squared, dim), dim, factor, 2.0)
        if node.target in _SUB and "alpha" not in node.kwargs:
            return self._less_squared_mean(*node.args[:2])
        call, index = taken_from(node)
        if call.target in _DEVIATIONS and index == 0:
            dim, correction = _dimensions(call), argument(call, "correction")
            (value,) = call.all_input_nodes
            count = _count(value, dim)
            left = count - (1 if correction is None else correction)
            square = _Root(value, True, dim, count / left, 2.0) if left > 0 else None
            return square and square.to_the(_DEVIATIONS[call.target])
        if node.target is _aten.linalg_vector_norm.default and argument(node, "ord") == 2:
            dim = _dimensions(node)
            (value,) = node.all_input_nodes
            return _Root(*_centered(value, dim), dim, math.sqrt(_count(value, dim)), 1.0)
        return None

    def _less_squared_mean(self, squares: object, squared: object) -> _Root | None:
        """Return the variance, as the mean of the squares less the square of the mean."""
        root = self._roots.get(squares) if isinstance(squares, Node) else None
        mean = _squared(squared)
        if root is None or mean is None or root.centered:
            return None
        variance = _Root(root.value, True, root.dim, 1.0, 2.0)
        of_same = isinstance(squares, Node) and _same_shape(squares, mean)
        is_mean_square = replace(root, centered=True) == variance
        if is_mean_square and of_same and _is_mean(mean, root.value, root.dim):
            return variance
        return None

    def _of_root(self, node: Node) -> _Root | None:
        """Return a node's function of another root: over the same elements, possibly in another
        shape.
        """
        known = [a for a in node.all_input_nodes if a in self._roots]
        if len(known) != 1:
            return None
        root = self._roots[known[0]]
        if node.target in _STRETCH:
            return root
        if node.target in _POWERS:
            return root.to_the(_POWERS[node.target])
        first, second = node.args[0], node.args[1] if len(node.args) > 1 else None
        other = self._scalar(second if first is known[0] else first)
        if other is None:
            return None
        if node.target in _ADD and argument(node, "alpha") == 1:
            return root.plus(other)
        if node.target in _MUL:
            return replace(root, factor=root.factor * other)
        if first is not known[0]:
            return None
        if node.target in _DIV and other:
            return replace(root, factor=root.factor / other)
        if node.target is _aten.pow.Tensor_Scalar:
            return root.to_the(other)
        if node.target in _AT_LEAST and len(node.args) == 2 and other >= 0:
            return root.at_least(other)
        return None

    def _scalar(self, value: object) -> float | None:
        """Return a Python number, or a constant of one element."""
        constant = self._constant(value)
        return float(constant) if constant is not None and constant.numel() == 1 else None

    def _constant(self, value: object) -> torch.Tensor | None:
        """Return a Python number or a constant."""
        if isinstance(value, (int, float)):
            return torch.tensor(float(value))
        constant = tensor_constant(self._module, value)
        return constant if constant is None or constant.dtype == torch.float32 else None

    def _rewrite(self, node: Node) -> bool:
        """Replace a product or quotient by one op; return True if it was a norm."""
        a, b = node.args[:2]
        exponent = 1.0 if node.target in _DIV else -1.0
        for value, divisor in ((a, b), (b, a))[: 1 if exponent == 1.0 else 2]:
            root = self._roots.get(divisor)  # type: ignore[arg-type]
            if root is None or root.exponent != exponent or not _fits(divisor, root):
                continue
            weight = torch.tensor(root.factor**-exponent)
            while isinstance(value, Node):
                if _centered(value, root.dim) == (root.value, root.centered):
                    self._replace(node, root, weight)
                    return True
                split = self._split(value, _MUL)
                if split is None:
                    break
                value, weight = split[0], weight * split[1]
        return False

    def _split(self, node: Node, targets: Container[object]) -> tuple[Node, torch.Tensor] | None:
        """Return a value of a node's shape, and the constant combined with it."""
        if node.target not in targets or "alpha" in node.kwargs:
            return None
        for value, other in ((node.args[0], node.args[1]), (node.args[1], node.args[0])):
            constant = self._constant(other)
            if isinstance(value, Node) and constant is not None and _same_shape(value, node):
                return value, constant
        return None

    def _replace(self, node: Node, root: _Root, weight: torch.Tensor) -> None:
        bias = None
        while len(node.users) == 1 and bias is None:
            (user,) = node.users
            if (scaled := self._split(user, _MUL)) is not None:
                node, weight = user, weight * scaled[1]
            elif (moved := self._split(user, _ADD)) is not None:
                node, bias = user, moved[1]
            else:
                break
        with self._graph.inserting_before(node):
            affine = [
                None if c is None else self._new_constant(f"{node.name}_{name}", c)
                for name, c in (("weight", weight), ("bias", bias))
            ]
            numbers = (list(root.dim), root.centered, root.eps, root.floor, root.addend)
            new = self._graph.call_function(NORMALIZE, (root.value, *affine, *numbers))
        new.meta = dict(node.meta)
        node.replace_all_uses_with(new)

    def _new_constant(self, name: str, value: torch.Tensor) -> Node:
        value = value.reshape(value.shape or [1])
        node = self._graph.get_attr(new_buffer(self._module, name, value))
        node.meta["val"] = torch.empty_like(value, device="meta")
        return node


def _dimensions(node: Node) -> tuple[int, ...]:
    """Return a node's reduced dimensions, in order."""
    return tuple(reduction(node, node.all_input_nodes[0].meta["val"].dim())[0])


def _count(value: Node, dim: Sequence[int]) -> int:
    return math.prod(value.meta["val"].shape[d] for d in dim)


def _squared(value: object) -> Node | None:
    """Return the value whose square a node is."""
    if not isinstance(value, Node) or not value.args:
        return None
    base = value.args[0]
    square = (
        value.target is _aten.square.default
        or (value.target is _aten.pow.Tensor_Scalar and value.args[1] == 2)
        or (value.target is _aten.mul.Tensor and value.args[1] is base)
    )
    return base if square and isinstance(base, Node) else None


def _centered(value: Node, dim: tuple[int, ...]) -> tuple[Node, bool]:
    """Return the source of a value minus its mean over dim, and True; else the value and False."""
    if value.target in _SUB and "alpha" not in value.kwargs:
        source, mean = value.args[:2]
        if not isinstance(source, Node) or not isinstance(mean, Node):
            return value, False
        is_mean = _is_mean(mean, source, dim) and _keeps(mean, source, dim)
        if is_mean and _same_shape(source, value):
            return source, True
    return value, False


def _is_mean(node: Node, source: Node, dim: tuple[int, ...]) -> bool:
    """Return True if a node is the mean of another one over dim, in any shape."""
    while node.target in _STRETCH:
        node = node.all_input_nodes[0]
    call, index = taken_from(node)
    is_mean = call.target in (_MEAN if index == 0 else _WITH_MEAN)
    return is_mean and call.args[0] is source and _dimensions(call) == dim


def _fits(divisor: object, root: _Root) -> bool:
    return isinstance(divisor, Node) and _keeps(divisor, root.value, root.dim)


def _keeps(reduced: Node, value: Node, dim: Sequence[int]) -> bool:
    """Return True if a reduced value broadcasts to its source by kept dimensions."""
    while reduced.target is _EXPAND:
        reduced = reduced.all_input_nodes[0]
    shape = [1 if d in dim else size for d, size in enumerate(value.meta["val"].shape)]
    own = list(reduced.meta["val"].shape)
    return own == shape[len(shape) - len(own) :] and math.prod(own) == math.prod(shape)


def _same_shape(a: Node, b: Node) -> bool:
    return bool(a.meta["val"].shape == b.meta["val"].shape)


def fuse_norms(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many norms became one op."""
    return _Matcher(module).run()
