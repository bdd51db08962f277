# SPDX-License-Identifier: Apache-2.0
"""Compositions of powers of two values: pow by logarithms, ldexp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.rule import as_clamp
from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions.builders import Results, alike, as_type
from aot.rules.function import is_scalar

_aten = torch.ops.aten

_LEAST_BASE = 2.0**-24
"""Least base of a power: a smaller one's logarithm would widen the range."""

_NEVER_NEGATIVE = (
    _aten.abs.default,
    _aten.exp.default,
    _aten.relu.default,
    _aten.sigmoid.default,
    _aten.softmax.int,
    _aten.softplus.default,
    _aten.sqrt.default,
    _aten.square.default,
)

_SAME_SIGN = {
    _aten.add.Tensor: 2,
    _aten.div.Tensor: 2,
    _aten.mul.Tensor: 2,
    _aten.expand.default: 1,
    _aten.permute.default: 1,
    _aten.reshape.default: 1,
    _aten.slice.Tensor: 1,
    _aten.unsqueeze.default: 1,
    _aten.view.default: 1,
}
"""Ops that are at least 0 if so many of their arguments are."""


def _power(module: GraphModule, node: Node) -> Results:
    """Decompose pow by logarithms; of a negative base, the exponents must be whole numbers."""
    base, exponent = node.args
    if is_scalar(base) or is_scalar(exponent) or node.meta["val"].dtype != torch.float32:
        return {}  # a function of one value
    known, of = tensor_constant(module, exponent), tensor_constant(module, base)
    if known is not None and bool((known == known.flatten()[:1]).all()):
        x, _ = alike(node)
        return {0: call(node, _aten.pow.Tensor_Scalar, x, known.flatten()[0].item())}
    if of is not None and bool((of > 0).all()):
        power = call(node, _aten.mul.Tensor, exponent, constant(module, node, "log", of.log()))
        return {0: call(node, _aten.exp.default, power)}
    x, y = alike(node)
    signs = None if is_never_negative(base) else _signs(module, node, known, y)
    size = x if signs is None else call(node, _aten.abs.default, x)
    log = call(node, _aten.log.default, call(node, _aten.clamp.default, size, _LEAST_BASE))
    power = call(node, _aten.exp.default, call(node, _aten.mul.Tensor, y, log))
    if signs is None:
        other = constant(module, node, "zero", torch.zeros(()))
    else:
        other = call(node, _aten.mul.Tensor, power, signs)
    above = call(node, _aten.gt.Scalar, x, 0.0)
    return {0: call(node, _aten.where.self, above, power, other)}


def _signs(
    module: GraphModule, node: Node, known: torch.Tensor | None, exponent: Node
) -> Node | None:
    """Return factors for a negative base: 1 for an even exponent, -1 for an odd one, 0 if torch has
    no result. None if all are 0.
    """
    if known is not None:
        signs = torch.where(known == known.round(), 1 - 2 * known.remainder(2), 0.0)
        return constant(module, node, "signs", signs) if bool(signs.any()) else None
    return sign_of_power(module, node, exponent)


def sign_of_power(module: GraphModule, node: Node, exponent: Node) -> Node:
    """Return (-1) ** exponent, a function of one value; 0 for an exponent that is no whole number.

    The exponent may be off by the step of its quantization.
    """
    whole = call(node, _aten.round.default, exponent)
    part = call(node, _aten.abs.default, call(node, _aten.sub.Tensor, exponent, whole))
    half = call(node, _aten.mul.Tensor, whole, 0.5)
    rest = call(node, _aten.sub.Tensor, half, call(node, _aten.floor.default, half))
    signs = call(node, _aten.add.Tensor, call(node, _aten.mul.Tensor, rest, -4.0), 1.0)
    is_whole = call(node, _aten.lt.Scalar, part, 0.25)
    zero = constant(module, node, "zero", torch.zeros(()))
    return call(node, _aten.where.self, is_whole, signs, zero)


def is_never_negative(value: object) -> bool:
    """Return True if a value is at least 0 for any input, as seen from its op."""
    if isinstance(value, int | float):
        return value >= 0
    if not isinstance(value, Node):
        return False
    if value.target in _NEVER_NEGATIVE:
        return True
    if value.target in _SAME_SIGN:
        return all(map(is_never_negative, value.args[: _SAME_SIGN[value.target]]))
    limits = as_clamp(value) if value.op == "call_function" else None
    return limits is not None and limits.minimum is not None and limits.minimum >= 0.0


def _by_power_of_two(module: GraphModule, node: Node) -> Results:
    """Decompose ldexp of a float32 value."""
    x, exponent = node.args
    assert isinstance(x, Node) and isinstance(exponent, Node)
    if is_scalar(x) or is_scalar(exponent) or x.meta["val"].dtype != torch.float32:
        return {}  # a function of one value
    known = tensor_constant(module, exponent)
    if known is not None:
        power = constant(module, node, "power", torch.exp2(known.to(torch.float32)))
    else:
        power = call(node, _aten.exp2.default, as_type(node, exponent, torch.float32))
    return {0: call(node, _aten.mul.Tensor, x, power)}


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    _aten.pow.Tensor_Tensor: _power,
    _aten.ldexp.Tensor: _by_power_of_two,
}
