# SPDX-License-Identifier: Apache-2.0
"""Float forms of elementwise ops, in ops with a float kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions.builders import source_of
from aot.passes.aten.decompositions.powers import sign_of_power

_aten = torch.ops.aten

Form = Callable[[GraphModule, Node], Node | None]


def _is_nan(module: GraphModule, node: Node) -> Node | None:
    """Write isnan: a value differing from itself."""
    return call(node, _aten.ne.Tensor, source_of(node), source_of(node))


def _log_sigmoid(module: GraphModule, node: Node) -> Node | None:
    x = source_of(node)
    size = call(node, _aten.neg.default, call(node, _aten.abs.default, x))
    rest = call(node, _aten.log1p.default, call(node, _aten.exp.default, size))
    return call(node, _aten.sub.Tensor, call(node, _aten.clamp.default, x, None, 0.0), rest)


def _hard(module: GraphModule, node: Node) -> Node | None:
    """Write hardsigmoid and hardswish."""
    x = source_of(node)
    gate = call(node, _aten.clamp.default, call(node, _aten.add.Tensor, x, 3.0), 0.0, 6.0)
    gate = call(node, _aten.mul.Tensor, gate, 1.0 / 6.0)
    is_swish = node.target is _aten.hardswish.default
    return call(node, _aten.mul.Tensor, x, gate) if is_swish else gate


def _scaled(module: GraphModule, node: Node) -> Node | None:
    """Write a + alpha * b and a - alpha * b."""
    a, b = node.args[:2]
    product = call(node, _aten.mul.Tensor, b, float(argument(node, "alpha")))
    return call(node, node.target, a, product)


def _reversed(module: GraphModule, node: Node) -> Node | None:
    a, b = node.args[:2]
    if argument(node, "alpha") != 1:
        a = call(node, _aten.mul.Tensor, a, float(argument(node, "alpha")))
    return call(node, _aten.sub.Tensor, b, a)


def _between(module: GraphModule, node: Node) -> Node:
    a, b, weight = node.args
    assert isinstance(a, Node) and isinstance(b, Node)
    share = call(node, _aten.mul.Tensor, call(node, _aten.sub.Tensor, b, a), weight)
    return call(node, _aten.add.Tensor, a, share)


def _threshold(module: GraphModule, node: Node) -> Node:
    x = source_of(node)
    above = call(node, _aten.gt.Scalar, x, argument(node, "threshold"))
    value = constant(module, node, "value", torch.tensor(float(argument(node, "value"))))
    return call(node, _aten.where.self, above, x, value)


def _clamp_by_values(module: GraphModule, node: Node) -> Node | None:
    y = source_of(node)
    for name, bound in (("min", _aten.maximum.default), ("max", _aten.minimum.default)):
        limit = argument(node, name)
        if limit is not None:
            y = call(node, bound, y, limit)
    return y


def _larger(module: GraphModule, node: Node) -> Node | None:
    """Write fmax and fmin, for numbers without NaN."""
    is_max = node.target is _aten.fmax.default
    return call(node, _aten.maximum.default if is_max else _aten.minimum.default, *node.args)


def _whole_quotient(module: GraphModule, node: Node) -> Node | None:
    quotient = call(node, _aten.div.Tensor, *node.args[:2])
    mode = argument(node, "rounding_mode")
    rounded = {"floor": _aten.floor.default, "trunc": _aten.trunc.default}.get(mode)
    return quotient if rounded is None else call(node, rounded, quotient)


def _rest(module: GraphModule, node: Node) -> Node | None:
    """Write remainder and fmod: either operand may be a number."""
    x, y = node.args[:2]
    is_fmod = node.target in (_aten.fmod.Tensor, _aten.fmod.Scalar)
    quotient = call(node, _aten.div.Tensor, x, y)
    rounded = call(node, _aten.trunc.default if is_fmod else _aten.floor.default, quotient)
    return call(node, _aten.sub.Tensor, x, call(node, _aten.mul.Tensor, rounded, y))


def _power_of_number(module: GraphModule, node: Node) -> Node | None:
    """Write 2 ** x as exp(x * log 2). A negative base keeps its sign."""
    base, x = node.args
    if not isinstance(base, bool | int | float) or not base or not isinstance(x, Node):
        return None
    power = call(node, _aten.exp.default, call(node, _aten.mul.Tensor, x, math.log(abs(base))))
    return (
        power if base > 0 else call(node, _aten.mul.Tensor, power, sign_of_power(module, node, x))
    )


def _hard_shrink(module: GraphModule, node: Node) -> Node | None:
    x = source_of(node)
    far = call(node, _aten.gt.Scalar, call(node, _aten.abs.default, x), argument(node, "lambd"))
    zero = constant(module, node, "zero", torch.tensor(0.0))
    return call(node, _aten.where.self, far, x, zero)


def _as_it_was(module: GraphModule, node: Node) -> Node | None:
    """Replace casts from float32 to another float type and back by the original value.

    The rounding of the other type is lost.
    """
    x = source_of(node)
    if node.meta["val"].dtype != torch.float32:
        return None
    while x.target is _aten._to_copy.default and x.meta["val"].is_floating_point():
        x = source_of(x)
    return x if x.meta["val"].dtype == torch.float32 else None


POINTWISE: dict[Any, Form] = {
    _aten.isnan.default: _is_nan,
    _aten.log_sigmoid.default: _log_sigmoid,
    _aten.hardsigmoid.default: _hard,
    _aten.hardswish.default: _hard,
    _aten.hardshrink.default: _hard_shrink,
    _aten.threshold.default: _threshold,
    _aten.add.Tensor: _scaled,
    _aten.sub.Tensor: _scaled,
    _aten.rsub.Scalar: _reversed,
    _aten.rsub.Tensor: _reversed,
    _aten.lerp.Scalar: _between,
    _aten.clamp.Tensor: _clamp_by_values,
    _aten.fmax.default: _larger,
    _aten.fmin.default: _larger,
    _aten.remainder.Tensor: _rest,
    _aten.remainder.Scalar: _rest,
    _aten.remainder.Scalar_Tensor: _rest,
    _aten.fmod.Tensor: _rest,
    _aten.fmod.Scalar: _rest,
    _aten.pow.Scalar: _power_of_number,
    _aten.div.Tensor_mode: _whole_quotient,
    _aten.div.Scalar_mode: _whole_quotient,
    _aten._to_copy.default: _as_it_was,
}
