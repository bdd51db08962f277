# SPDX-License-Identifier: Apache-2.0
"""layer((x / 255 - mean) / deviation) -> layer(x), with the factors and the offsets in its weights
and its bias, for input normalisation by number or channel.

Matches additions, subtractions, multiplications and divisions by constants between an input and a
linear layer or a convolution, without other readers. Moves, crops, pads or resizes may lie between:
channels become the last dimension, or change from red to blue. Zero padding of normalised values,
also in a convolution, keeps the offsets as one addition, if this means fewer ops. Leaves factors of
very different size: int8 weights would lose the small ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.passes.aten.norms.fuse_batch_norm import ALIKE, scale_inputs
from aot.rules.integers import is_given
from aot.rules.movement import MOVEMENT, beneath_movement

_aten = torch.ops.aten
_LINEAR, _CONV, _PAD = (
    _aten.linear.default,
    _aten.convolution.default,
    _aten.constant_pad_nd.default,
)
_SUMS = {_aten.add.Tensor: 1.0, _aten.sub.Tensor: -1.0}
_PRODUCTS = (_aten.mul.Tensor, _aten.div.Tensor)
_MOVED = {
    *MOVEMENT,
    _aten.flip.default,
    _aten.slice.Tensor,
    _aten.index_select.default,
    _aten.index.Tensor,
}
# Weighted means of one channel's pixels; the weights sum to 1.
_RESIZED = (_aten.upsample_bilinear2d.vec, _aten.upsample_bilinear2d.default)


@dataclass(frozen=True)
class _Affine:
    """gain * x + offset, in the shape of its value, in float64."""

    gain: torch.Tensor
    offset: torch.Tensor

    def is_none(self) -> bool:
        """Return True if it leaves x unchanged."""
        return bool((self.gain == 1).all()) and not bool(self.offset.any())

    def by_channel(self, dim: int) -> _Affine | None:
        """Return one number for each index of a dimension; None if it varies along others."""
        both = (x.movedim(dim, 0).flatten(1) for x in (self.gain, self.offset))
        gain, offset = both
        if not bool((gain == gain[:, :1]).all() and (offset == offset[:, :1]).all()):
            return None
        return _Affine(gain[:, 0], offset[:, 0])

    def spread(self, shape: Sequence[int]) -> _Affine | None:
        """Return the same for a value of other sizes; None if it varies along a changed
        dimension.
        """
        found = []
        for x in (self.gain, self.offset):
            for dim, size in enumerate(shape):
                if x.shape[dim] == size:
                    continue
                first = x.narrow(dim, 0, 1)
                if not bool((x == first).all()):
                    return None
                x = first.expand(*x.shape[:dim], size, *x.shape[dim + 1 :])
            found.append(x)
        return _Affine(*found)

    def shift(self) -> torch.Tensor:
        """Return the addend to x replacing the offset, with size 1 for constant dimensions."""
        shift = self.offset / self.gain
        for dim in range(shift.dim()):
            first = shift.narrow(dim, 0, 1)
            shift = first if bool((shift == first).all()) else shift
        return shift.to(torch.float32)


class _Normalisation:
    """The ops between an input and a layer."""

    def __init__(self, module: GraphModule, layer: Node) -> None:
        self._module = module
        self._layer = layer
        value = layer.args[0]
        assert isinstance(value, Node)
        self._ops: list[Node] = []
        while len(value.users) == 1 and (source := self._source(value)) is not None:
            self._ops.insert(0, value)
            value = source
        self._x = value
        self.changes = False

    def fold(self) -> bool:
        """Fold the steps into the layer, if they normalise an input and can be folded."""
        steps = [step for op in self._ops if (step := _step(self._module, op)) is not None]
        if not steps or not _is_input(self._x):
            return False
        tables = sum(factor.numel() == added.numel() == 1 for _, factor, added in steps)
        is_linear = self._layer.target is _LINEAR
        pads = not is_linear and any(argument(self._layer, "padding"))
        shift: tuple[int, torch.Tensor] | None = None  # op after the addition, addend
        whole = torch.ones(self._x.meta["val"].shape, dtype=torch.float64)
        affine: _Affine | None = _Affine(whole, torch.zeros_like(whole))
        for index, op in enumerate([*self._ops, self._layer]):
            assert affine is not None
            if op.target is _PAD and argument(op, "value") != 0 and not affine.is_none():
                return False
            if (op.target is _PAD or (op is self._layer and pads)) and bool(affine.offset.any()):
                if shift is not None or not bool(affine.gain.all()):
                    return False
                shift = index, affine.shift()
                affine = _Affine(affine.gain, torch.zeros_like(affine.offset))
            if op is not self._layer:
                affine = self._behind(op, affine)
            if affine is None:
                return False
        assert affine is not None
        affine = affine.by_channel(-1 if is_linear else 1)
        if affine is None or not _is_alike(affine.gain):
            return False
        if shift is not None and len(steps) - max(tables - 1, 0) < 2:
            return False  # one op, or one table
        self._layer.update_arg(0, self._without_steps(shift))
        scale_inputs(
            self._module, self._layer, f"{self._layer.name}_given", affine.gain, affine.offset
        )
        return True

    def _source(self, op: Node) -> Node | None:
        """Return the source of an op, if the op can be part of a normalisation."""
        step = _step(self._module, op)
        if step is not None:
            return step[0]
        if op.target not in (*_MOVED, *_RESIZED, _PAD) or op.kwargs:
            return None
        source, *others = op.all_input_nodes
        known = all(tensor_constant(self._module, other) is not None for other in others)
        return source if known and source is op.args[0] else None

    def _behind(self, op: Node, affine: _Affine) -> _Affine | None:
        """Return the function of x after an op; None if it varies within a channel."""
        step = _step(self._module, op)
        if step is not None:
            _, factor, added = step
            return _Affine(affine.gain * factor, affine.offset * factor + added)
        if op.target is _PAD or op.target in _RESIZED:
            return affine.spread(op.meta["val"].shape)
        rest = map_arg(op.args[1:], lambda n: tensor_constant(self._module, n))
        target: Any = op.target
        return _Affine(*(target(x, *rest) for x in (affine.gain, affine.offset)))

    def _without_steps(self, shift: tuple[int, torch.Tensor] | None) -> Node:
        """Return the layer's new input."""
        x = self._x
        for index, op in enumerate([*self._ops, self._layer]):
            with self._module.graph.inserting_before(op):
                if shift is not None and shift[0] == index:
                    number = constant(self._module, self._layer, "offset", shift[1])
                    like = self._ops[index - 1] if index else self._layer
                    x = call(like, _aten.add.Tensor, x, number)
                if op is not self._layer and _step(self._module, op) is None:
                    x = call(op, op.target, x, *op.args[1:])
        return x


def fold_normalisation(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many layers took a normalisation in."""
    layers = [node for node in module.graph.nodes if _is_layer(module, node)]
    return sum(_Normalisation(module, layer).fold() for layer in layers)


def _is_layer(module: GraphModule, node: Node) -> bool:
    """Return True for a linear layer or a convolution with constant weights."""
    if node.target is not _LINEAR and (node.target is not _CONV or argument(node, "transposed")):
        return False
    return tensor_constant(module, node.args[1]) is not None


def _is_alike(gain: torch.Tensor) -> bool:
    sizes = gain.abs()
    least = float(sizes.min())
    return bool(gain.isfinite().all()) and least > 0.0 and float(sizes.max()) <= ALIKE * least


def _step(module: GraphModule, node: Node) -> tuple[Node, torch.Tensor, torch.Tensor] | None:
    """Return (x, factor, added) of x * factor + added."""
    if node.target not in (*_SUMS, *_PRODUCTS) or node.kwargs:
        return None
    x, other = node.args[:2]
    sign = 1.0
    if not _is_computed(module, x):
        if node.target is _aten.div.Tensor:
            return None
        x, other, sign = other, x, _SUMS.get(node.target, 1.0)
    if not isinstance(x, Node) or x.meta["val"].shape != node.meta["val"].shape:
        return None
    number = tensor_constant(module, other)
    if number is None and not isinstance(other, int | float):
        return None
    value = torch.as_tensor(other if number is None else number, dtype=torch.float64)
    one = torch.ones((), dtype=torch.float64)
    if node.target in _SUMS:
        return x, one * sign, value * (_SUMS[node.target] if sign > 0 else 1.0)
    return x, value if node.target is _aten.mul.Tensor else 1.0 / value, one * 0.0


def _is_computed(module: GraphModule, value: object) -> bool:
    return isinstance(value, Node) and tensor_constant(module, value) is None


def _is_input(value: Node) -> bool:
    """Return True if a value is a model input, possibly in another order or clamped."""
    source = beneath_movement(value)
    if source.target is _aten.clamp.default and len(source.users) == 1:
        source = beneath_movement(source.all_input_nodes[0])
    source = source.all_input_nodes[0] if is_given(source) else source
    return source.op == "placeholder" and "state" not in source.meta
