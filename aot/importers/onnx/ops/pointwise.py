# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparisons and activations, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import torch
import torch.nn.functional as F
from onnx import helper
from torch import Tensor

from aot.importers.onnx.call import NodeCall, UnsupportedNode
from aot.importers.onnx.file import dtype_named
from aot.importers.onnx.registry import function


def _unary(operator: str, compute: Callable[..., Tensor]) -> None:
    function(operator)(lambda call, x: compute(x))


def _binary(operator: str, compute: Callable[..., Tensor]) -> None:
    function(operator)(lambda call, x, y: compute(x, y))


_UNARY: dict[str, Callable[..., Tensor]] = {
    "Abs": torch.abs,
    "Ceil": torch.ceil,
    "Cos": torch.cos,
    "Erf": torch.erf,
    "Exp": torch.exp,
    "Floor": torch.floor,
    "HardSwish": F.hardswish,
    "IsNaN": torch.isnan,
    "Log": torch.log,
    "Mish": F.mish,
    "Neg": torch.neg,
    "Not": torch.logical_not,
    "Reciprocal": torch.reciprocal,
    "Relu": torch.relu,
    "Round": torch.round,
    "Sigmoid": torch.sigmoid,
    "Sign": torch.sign,
    "Sin": torch.sin,
    "Softplus": F.softplus,
    "Softsign": F.softsign,
    "Sqrt": torch.sqrt,
    "Tan": torch.tan,
    "Tanh": torch.tanh,
}
for _name, _one in _UNARY.items():
    _unary(_name, _one)

_BINARY: dict[str, Callable[..., Tensor]] = {
    "Add": torch.add,
    "And": torch.logical_and,
    "Equal": torch.eq,
    "Greater": torch.gt,
    "GreaterOrEqual": torch.ge,
    "Less": torch.lt,
    "LessOrEqual": torch.le,
    "Mul": torch.mul,
    "Or": torch.logical_or,
    "Sub": torch.sub,
    "Xor": torch.logical_xor,
}
for _name, _two in _BINARY.items():
    _binary(_name, _two)


@function("Div")
def div(call: NodeCall, x: Tensor, y: Tensor) -> Tensor:
    return x / y if x.is_floating_point() else torch.div(x, y, rounding_mode="trunc")


@function("Mod")
def mod(call: NodeCall, x: Tensor, y: Tensor) -> Tensor:
    return torch.fmod(x, y) if call.attribute("fmod", 0) else torch.remainder(x, y)


@function("Pow")
def power(call: NodeCall, x: Tensor, y: Tensor) -> Tensor:
    if call.is_constant(1) and y.numel() == 1 and y.dim() <= x.dim():
        exponent = call.number(1)
        return torch.pow(x, int(exponent) if exponent == int(exponent) else exponent)
    return torch.pow(x, y).to(x.dtype)


@function("Max")
def maximum(call: NodeCall, *values: Tensor) -> Tensor:
    return reduce(torch.maximum, values)


@function("Min")
def minimum(call: NodeCall, *values: Tensor) -> Tensor:
    return reduce(torch.minimum, values)


@function("Sum")
def total(call: NodeCall, *values: Tensor) -> Tensor:
    return reduce(torch.add, values)


@function("Mean")
def mean(call: NodeCall, *values: Tensor) -> Tensor:
    return reduce(torch.add, values) / len(values)


@function("Where")
def where(call: NodeCall, condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return torch.where(condition, x, y)


@function("Clip")
def clip(
    call: NodeCall, x: Tensor, minimum: Tensor | None = None, maximum: Tensor | None = None
) -> Tensor:
    if any(call.has(i) and not call.is_constant(i) for i in (1, 2)):
        x = x if minimum is None else torch.maximum(x, minimum)
        return x if maximum is None else torch.minimum(x, maximum)
    least = call.number(1) if call.has(1) else call.optional("min")
    most = call.number(2) if call.has(2) else call.optional("max")
    if least is None and most is None:
        return x
    if not x.is_floating_point():
        least, most = (v if v is None else int(v) for v in (least, most))
    return torch.clamp(x, least, most)


@function("Cast")
def cast(call: NodeCall, x: Tensor) -> Tensor:
    """Reals become float32."""
    name = helper.tensor_dtype_to_np_dtype(call.attribute("to", 0)).name
    return x.to(dtype_named(name))


@function("CastLike")
def cast_like(call: NodeCall, x: Tensor, like: Tensor) -> Tensor:
    return x.to(like.dtype)


@function("Dropout")
def dropout(call: NodeCall, x: Tensor, *unused: Tensor) -> Tensor:
    """Without its mask."""
    return x


@function("LeakyRelu")
def leaky_relu(call: NodeCall, x: Tensor) -> Tensor:
    return F.leaky_relu(x, call.attribute("alpha", 0.01))


@function("Elu")
def elu(call: NodeCall, x: Tensor) -> Tensor:
    return F.elu(x, call.attribute("alpha", 1.0))


@function("Celu")
def celu(call: NodeCall, x: Tensor) -> Tensor:
    return F.celu(x, call.attribute("alpha", 1.0))


@function("Selu")
def selu(call: NodeCall, x: Tensor) -> Tensor:
    alpha = call.attribute("alpha", 1.67326319217681884765625)
    gamma = call.attribute("gamma", 1.05070102214813232421875)
    return gamma * F.elu(x, alpha)


@function("ThresholdedRelu")
def thresholded_relu(call: NodeCall, x: Tensor) -> Tensor:
    return F.threshold(x, call.attribute("alpha", 1.0), 0.0)


@function("HardSigmoid")
def hard_sigmoid(call: NodeCall, x: Tensor) -> Tensor:
    alpha, beta = call.attribute("alpha", 0.2), call.attribute("beta", 0.5)
    if math.isclose(alpha, 1 / 6, rel_tol=1e-6) and beta == 0.5:
        return F.hardsigmoid(x)
    return torch.clamp(alpha * x + beta, 0, 1)


@function("Gelu")
def gelu(call: NodeCall, x: Tensor) -> Tensor:
    return F.gelu(x, approximate=call.attribute("approximate", "none"))


@function("Swish")
def swish(call: NodeCall, x: Tensor) -> Tensor:
    alpha = call.attribute("alpha", 1.0)
    return F.silu(x) if alpha == 1 else x * torch.sigmoid(alpha * x)


@function("PRelu")
def prelu(call: NodeCall, x: Tensor, slope: Tensor) -> Tensor:
    """One slope, one for each channel, or any that broadcasts."""
    if slope.dim() > x.dim():
        raise UnsupportedNode(f"slope {[*slope.shape]} for an input of rank {x.dim()}")
    full = [1] * (x.dim() - slope.dim()) + [*slope.shape]
    if slope.numel() == 1 or (x.dim() > 1 and full[1] == slope.numel() == x.shape[1]):
        return F.prelu(x, slope.reshape(-1))
    return torch.where(x < 0, x * slope, x)
