# SPDX-License-Identifier: Apache-2.0
"""How far an int8 model may be from the float model that it was made of, value by value.

torchao's quantized graph is run without its rounding, and beside every value goes a bound of the
error: a quantize node adds a step and a half of its scale (half for the rounding, one for integer
arithmetic, which the dialect's ops keep) and what the value is outside of its range; a weight has
half a step; an op hands on what its inputs have, by its derivative's bound or by interval
arithmetic. An op without a rule here is an error, never a guess.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.fx.node import map_aggregate
from torch.utils._pytree import tree_leaves

_aten = torch.ops.aten
_qd = torch.ops.quantized_decomposed

_STEPS = 1.5
# Of float32: sums in another order, and what torch's approximations of functions differ by.
_RELATIVE, _ABSOLUTE = 1e-4, 1e-5


@dataclass(frozen=True)
class Bounded:
    """A value, and how far from it the float model and the int8 model may be; None: they need not
    be near, as it is an index.
    """

    value: torch.Tensor
    error: torch.Tensor | None


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


# What moves values, takes their mean, or the largest of them: errors go the same way.
_AVERAGES = _named(
    "view reshape unsqueeze squeeze permute slice select cat clone expand constant_pad_nd "
    "mean avg_pool2d adaptive_avg_pool2d max_pool2d upsample_nearest2d"
)
# The largest absolute value of the derivative of functions of one value.
_SLOPES = {
    **dict.fromkeys(
        _named(
            "relu relu6 abs neg tanh hardtanh clamp clamp_min clamp_max leaky_relu elu sigmoid "
            "hardsigmoid softplus sin"
        ),
        1.0,
    ),
    "hardswish": 1.5,
    "silu": 1.1,
    "gelu": 1.13,
}


class _Bounds(Interpreter):
    def run_node(self, n: Node) -> Any:
        if n.op == "placeholder":
            value = super().run_node(n)
            return Bounded(value, torch.zeros_like(value))
        if n.op == "get_attr":
            value = super().run_node(n)
            return Bounded(value, torch.zeros(value.shape))
        if n.op == "output":
            return super().run_node(n)
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return _rule_of(n)(n.target, args, kwargs)


def bounds(quantized: GraphModule, inputs: Sequence[torch.Tensor]) -> list[Bounded]:
    """Of each output of torchao's quantized graph, for float inputs."""
    with torch.no_grad():
        return tree_leaves(_Bounds(quantized).run(*inputs))


def _rule_of(node: Node) -> Callable[[Any, Any, Any], Any]:
    target: Any = node.target
    if target is operator.getitem:
        return lambda _, args, __: args[0][args[1]]
    name = str(target).split(".")[1]
    rule = _RULES.get(name)
    if rule is None:
        raise NotImplementedError(f"{target}: say in {__name__} how it hands errors on")
    return rule


def _values(arguments: Any) -> Any:
    return map_aggregate(arguments, lambda a: a.value if isinstance(a, Bounded) else a)


def _errors(arguments: Any) -> Any:
    return map_aggregate(arguments, lambda a: a.error if isinstance(a, Bounded) else a)


def _computed(value: torch.Tensor, error: torch.Tensor) -> Bounded:
    return Bounded(value, error + _RELATIVE * value.abs() + _ABSOLUTE)


def _quantize(_: Any, args: Any, __: Any) -> Bounded:
    x, scale, zero_point, low, high, _ = args
    lowest, highest = (low - zero_point) * scale, (high - zero_point) * scale
    outside = torch.maximum(x.value - highest, lowest - x.value).clamp(min=0.0)
    return Bounded(x.value, torch.maximum(x.error, outside) + _STEPS * scale)


def _dequantize(target: Any, args: Any, _: Any) -> Bounded:
    x, scale, *_ = args
    if x.value.is_floating_point():  # what a quantize node left as it was
        return Bounded(x.value, x.error)
    return Bounded(target(*_values(args)), torch.full(x.value.shape, scale / 2.0))


def _dequantize_channels(target: Any, args: Any, _: Any) -> Bounded:
    weight, scales, _, axis, *_ = args
    value = target(*_values(args))
    shape = [-1 if d == axis % value.dim() else 1 for d in range(value.dim())]
    return Bounded(value, (scales.value / 2.0).float().reshape(shape).expand(weight.value.shape))


def _average(target: Any, args: Any, kwargs: Any) -> Any:
    value = target(*_values(args), **_values(kwargs))
    if target is _aten.constant_pad_nd.default:
        return Bounded(value, target(args[0].error, args[1], 0.0))
    error = target(*_errors(args), **_errors(kwargs))
    if isinstance(value, torch.Tensor):
        return _computed(value, error)
    return [_computed(v, e) for v, e in zip(value, error, strict=True)]


def _product(
    function: Callable[..., torch.Tensor], a: Bounded, b: Bounded, *rest: Any
) -> torch.Tensor:
    """The error of a bilinear function that has no negative factor of its own."""
    assert a.error is not None and b.error is not None
    largest = function(a.value.abs() + a.error, b.error, *rest)
    return largest + function(a.error, b.value.abs(), *rest)


def _convolution(target: Any, args: Any, _: Any) -> Bounded:
    x, weight, bias, *rest = args
    return _computed(target(*_values(args)), _product(target, x, weight, None, *rest))


def _linear(target: Any, args: Any, _: Any) -> Bounded:
    return _computed(target(*_values(args)), _product(target, args[0], args[1]))


def _both(args: Any) -> tuple[Bounded, Bounded]:
    a, b = (
        x if isinstance(x, Bounded) else Bounded(torch.tensor(float(x)), torch.tensor(0.0))
        for x in args[:2]
    )
    return a, b


def _sum(target: Any, args: Any, kwargs: Any) -> Bounded:
    a, b = _both(args)
    alpha = kwargs.get("alpha", 1)
    assert a.error is not None and b.error is not None
    value = target(*_values(args), **kwargs)
    return _computed(value, a.error + abs(alpha) * b.error)


def _mul(target: Any, args: Any, _: Any) -> Bounded:
    return _computed(target(*_values(args)), _product(torch.mul, *_both(args)))


def _div(target: Any, args: Any, _: Any) -> Bounded:
    a, b = _both(args)
    assert a.error is not None and b.error is not None
    value = target(*_values(args))
    left = b.value.abs() - b.error  # of the denominator
    error = (a.error + value.abs() * b.error) / left
    return _computed(value, torch.where(left > 0, error, torch.inf))


def _softmax(target: Any, args: Any, _: Any) -> Bounded:
    value = target(*_values(args))
    largest = args[0].error.amax(args[1], keepdim=True)
    return _computed(value, (value * torch.expm1(2.0 * largest)).clamp(max=1.0))


def _log_softmax(target: Any, args: Any, _: Any) -> Bounded:
    error = args[0].error
    return _computed(target(*_values(args)), error + error.amax(args[1], keepdim=True))


def _argmax(target: Any, args: Any, kwargs: Any) -> Bounded:
    return Bounded(target(*_values(args), **kwargs), None)


def _max(target: Any, args: Any, kwargs: Any) -> tuple[Bounded, Bounded]:
    values, indices = target(*_values(args), **kwargs)
    keepdim = args[2] if len(args) > 2 else False
    return Bounded(values, args[0].error.amax(args[1], keepdim=keepdim)), Bounded(indices, None)


def _adaptive_max(target: Any, args: Any, _: Any) -> tuple[Bounded, Bounded]:
    values, indices = target(*_values(args))
    return Bounded(values, target(*_errors(args))[0]), Bounded(indices, None)


def _function(slope: float) -> Callable[[Any, Any, Any], Bounded]:
    def rule(target: Any, args: Any, kwargs: Any) -> Bounded:
        return _computed(target(*_values(args), **kwargs), slope * args[0].error)

    return rule


_RULES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "quantize_per_tensor": _quantize,
    "dequantize_per_tensor": _dequantize,
    "dequantize_per_channel": _dequantize_channels,
    **dict.fromkeys(_AVERAGES, _average),
    **{name: _function(slope) for name, slope in _SLOPES.items()},
    "convolution": _convolution,
    "linear": _linear,
    **dict.fromkeys(("add", "sub", "rsub"), _sum),
    "mul": _mul,
    "div": _div,
    **dict.fromkeys(("softmax", "_softmax"), _softmax),
    **dict.fromkeys(("log_softmax", "_log_softmax"), _log_softmax),
    "argmax": _argmax,
    "max": _max,
    "adaptive_max_pool2d": _adaptive_max,
}
