# SPDX-License-Identifier: Apache-2.0
"""Bounds of the error of an int8 model from its float model, value by value.

torchao's quantized graph is run without its rounding, with an error bound for every value. A
quantize node adds a step and a half of its scale. Half a step is for the rounding, one for integer
arithmetic of the dialect's ops. It also adds the part of the value outside of its range. A weight
has half a step. An op passes on the errors of its inputs, by its derivative's bound or by interval
arithmetic. An op without a rule here is an error, never a guess.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from aot.dialect.quantization import INT4_GROUPS_WEIGHT, INT4_WEIGHT
from aot.upstream.torch import tree_leaves
from kernels.lut.op import STEP_BITS
from tests.random import bounds_of_norms as norms
from tests.random.bounded import ABSOLUTE, Bounded, computed, errors_of, values_of

_aten = torch.ops.aten
_qd = torch.ops.quantized_decomposed

_STEPS = 1.5
_APART = 1 << STEP_BITS


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


# Ops that move values, or return their mean, sum, norm or maximum: errors behave the same.
_AVERAGES = _named(
    "view reshape unsqueeze squeeze permute slice select cat clone expand constant_pad_nd "
    "mean avg_pool2d adaptive_avg_pool2d max_pool2d upsample_nearest2d upsample_bilinear2d "
    "flip roll repeat unfold transpose sum cumsum linalg_vector_norm _pad_circular"
)
# The largest absolute value of the derivative of functions of one value.
_SLOPES = {
    **dict.fromkeys(
        _named(
            "relu relu6 abs neg tanh hardtanh leaky_relu elu sigmoid hardsigmoid softplus sin atan"
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
        if any(x.error is None for x in tree_leaves((args, kwargs)) if isinstance(x, Bounded)):
            target: Any = n.target
            of_indices = target(*values_of(args), **values_of(kwargs))
            if isinstance(of_indices, torch.Tensor) and not of_indices.is_floating_point():
                return Bounded(of_indices, None)
        return _rule_of(n)(n.target, args, kwargs)


def bounds(quantized: GraphModule, inputs: Sequence[torch.Tensor]) -> list[Bounded]:
    """Return the bounds of each output of torchao's quantized graph, for float inputs."""
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


def _quantize(_: Any, args: Any, __: Any) -> Bounded:
    x, scale, zero_point, low, high, _ = args
    lowest, highest = (low - zero_point) * scale, (high - zero_point) * scale
    outside = torch.maximum(x.value - highest, lowest - x.value).clamp(min=0.0)
    return Bounded(x.value, torch.maximum(x.error, outside) + _STEPS * scale)


def _dequantize(target: Any, args: Any, _: Any) -> Bounded:
    x, scale, *_, dtype = args
    if x.value.is_floating_point():  # left unchanged by a quantize node
        # A function of int16 is straight between 512 places, and a corner may be between them.
        return Bounded(x.value, x.error + (scale * _APART if dtype is torch.int16 else 0.0))
    return Bounded(target(*values_of(args)), torch.full(x.value.shape, scale / 2.0))


def _dequantize_channels(target: Any, args: Any, _: Any) -> Bounded:
    weight, scales, _, axis, _, largest, _ = args
    value = target(*values_of(args))
    steps = scales.value
    if largest == INT4_GROUPS_WEIGHT.quant_max:  # a group has a multiple of the channel's step
        others = [d for d in range(value.dim()) if d != axis % value.dim()]
        steps = steps + value.abs().amax(others) / INT4_WEIGHT.quant_max
    shape = [-1 if d == axis % value.dim() else 1 for d in range(value.dim())]
    return Bounded(value, (steps / 2.0).float().reshape(shape).expand(weight.value.shape))


def _average(target: Any, args: Any, kwargs: Any) -> Any:
    value = target(*values_of(args), **values_of(kwargs))
    if target is _aten.constant_pad_nd.default:
        return Bounded(value, target(args[0].error, args[1], 0.0))
    error = target(*errors_of(args[:1]), *values_of(args[1:]), **values_of(kwargs))
    if isinstance(value, torch.Tensor):
        return computed(value, error)
    return [computed(v, e) for v, e in zip(value, error, strict=True)]


def _chosen(target: Any, args: Any, kwargs: Any) -> Bounded:
    """Return the bounds of elements from given places; computed places may be any."""
    x, *_ = args
    if all(
        place.error is not None for place in tree_leaves(args[1:]) if isinstance(place, Bounded)
    ):
        chosen: Bounded = _average(target, args, kwargs)
        return chosen
    value = target(*values_of(args), **values_of(kwargs))
    spread = x.value.max() - x.value.min() + x.error.max()
    return Bounded(value, spread.expand(value.shape))


def _anywhere(target: Any, args: Any, kwargs: Any) -> Any:
    """Return unbounded errors, for discontinuous functions, and for writes to computed
    positions.
    """
    results = target(*values_of(args), **values_of(kwargs))
    if isinstance(results, tuple):
        return tuple(Bounded(result, torch.full(result.shape, torch.inf)) for result in results)
    return Bounded(results, torch.full(results.shape, torch.inf))


def _product(
    function: Callable[..., torch.Tensor], a: Bounded, b: Bounded, *rest: Any
) -> torch.Tensor:
    """Return the error of a bilinear function without negative factors of its own."""
    assert a.error is not None and b.error is not None
    largest = function(a.value.abs() + a.error, b.error, *rest)
    return largest + function(a.error, b.value.abs(), *rest)


def _convolution(target: Any, args: Any, _: Any) -> Bounded:
    x, weight, bias, *rest = args
    return computed(target(*values_of(args)), _product(target, x, weight, None, *rest))


def _linear(target: Any, args: Any, _: Any) -> Bounded:
    return computed(target(*values_of(args)), _product(target, args[0], args[1]))


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
    value = target(*values_of(args), **kwargs)
    return computed(value, a.error + abs(alpha) * b.error)


def _mul(target: Any, args: Any, _: Any) -> Bounded:
    return computed(target(*values_of(args)), _product(torch.mul, *_both(args)))


def _div(target: Any, args: Any, _: Any) -> Bounded:
    a, b = _both(args)
    assert a.error is not None and b.error is not None
    value = target(*values_of(args))
    left = b.value.abs() - b.error  # of the denominator
    error = (a.error + value.abs() * b.error) / left
    return computed(value, torch.where(left > 0, error, torch.inf))


def _softmax(target: Any, args: Any, _: Any) -> Bounded:
    value = target(*values_of(args))
    largest = args[0].error.amax(args[1], keepdim=True)
    return computed(value, (value * torch.expm1(2.0 * largest)).clamp(max=1.0))


def _log_softmax(target: Any, args: Any, _: Any) -> Bounded:
    error = args[0].error
    return computed(target(*values_of(args)), error + error.amax(args[1], keepdim=True))


def _masked_softmax(target: Any, args: Any, _: Any) -> Bounded:
    x, mask = args
    error = _softmax(lambda *_: target(x.value, mask.value), (x, -1), {}).error
    assert error is not None
    return Bounded(target(x.value, mask.value), torch.where(mask.error > 0, 1.0, error))


def _indices(target: Any, args: Any, kwargs: Any) -> Bounded:
    return Bounded(target(*values_of(args), **kwargs), None)


def _extreme(target: Any, args: Any, kwargs: Any) -> Any:
    """Return the largest or the smallest value, of all or of a dimension, and its index."""
    result = target(*values_of(args), **kwargs)
    if isinstance(result, torch.Tensor):
        return Bounded(result, args[0].error.amax(*args[1:], **kwargs))
    keepdim = args[2] if len(args) > 2 else False
    return Bounded(result[0], args[0].error.amax(args[1], keepdim)), Bounded(result[1], None)


def _topk(target: Any, args: Any, kwargs: Any) -> tuple[Bounded, Bounded]:
    x, k, dim = (*args, -1)[:3]
    values, indices = target(x.value, *args[1:], **kwargs)
    error = x.error.amax(dim, keepdim=True) if x.value.dim() else x.error
    return Bounded(values, error.expand(values.shape)), Bounded(indices, None)


def _of_both(target: Any, args: Any, kwargs: Any) -> Bounded:
    """Return the bounds of either operand, or between them."""
    operands = [x for x in (*args, *kwargs.values()) if isinstance(x, Bounded)]
    value = target(*values_of(args), **values_of(kwargs))
    errors = torch.broadcast_tensors(*(x.error for x in operands))
    return computed(value, torch.stack(errors).amax(0).expand(value.shape))


def _comparison(target: Any, args: Any, _: Any) -> Bounded:
    """Return a mask; its error is 1 if the other result is possible."""
    a, b = _both(args)
    assert a.error is not None and b.error is not None
    doubtful = (a.value - b.value).abs() <= a.error + b.error + ABSOLUTE
    return Bounded(target(*values_of(args)), doubtful.float())


def _logic(target: Any, args: Any, kwargs: Any) -> Bounded:
    value = target(*values_of(args), **kwargs)
    errors = torch.broadcast_tensors(*(x.error for x in args if isinstance(x, Bounded)))
    return Bounded(value, torch.stack(errors).amax(0))


def _any(target: Any, args: Any, kwargs: Any) -> Bounded:
    return Bounded(target(*values_of(args), **kwargs), args[0].error.amax(*args[1:], **kwargs))


def _to(target: Any, args: Any, kwargs: Any) -> Bounded:
    return Bounded(target(*values_of(args), **kwargs), args[0].error)


def _where(target: Any, args: Any, _: Any) -> Bounded:
    mask = args[0]
    a, b = _both(args[1:])
    assert a.error is not None and b.error is not None
    either = (a.value - b.value).abs() + torch.maximum(a.error, b.error)
    error = torch.where(mask.error > 0, either, torch.where(mask.value, a.error, b.error))
    return Bounded(target(*values_of(args)), error)


def _embedding(target: Any, args: Any, _: Any) -> Bounded:
    """Return an embedding for computed indices: it may be any row."""
    table, indices = args[:2]
    value = target(*values_of(args))
    spread = table.value.amax(0) - table.value.amin(0)
    return Bounded(value, (spread + table.error.amax(0)).expand(value.shape))


def _recurrent(target: Any, args: Any, _: Any) -> list[Bounded]:
    """Return bounds of [-1, 1], for any inputs."""
    output, *states = target(*values_of(args))
    return [
        Bounded(output, torch.full_like(output, 2.0)),
        *(Bounded(state, torch.full_like(state, torch.inf)) for state in states),
    ]


def _adaptive_max(target: Any, args: Any, _: Any) -> tuple[Bounded, Bounded]:
    values, indices = target(*values_of(args))
    return Bounded(values, target(*errors_of(args))[0]), Bounded(indices, None)


def _function(slope: float) -> Callable[[Any, Any, Any], Bounded]:
    def rule(target: Any, args: Any, kwargs: Any) -> Bounded:
        return computed(target(*values_of(args), **kwargs), slope * args[0].error)

    return rule


_RULES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "quantize_per_tensor": _quantize,
    "dequantize_per_tensor": _dequantize,
    "dequantize_per_channel": _dequantize_channels,
    **dict.fromkeys(_AVERAGES, _average),
    **{name: _function(slope) for name, slope in _SLOPES.items()},
    "convolution": _convolution,
    **dict.fromkeys(("linear", "matmul", "bmm", "mm"), _linear),
    **dict.fromkeys(("add", "sub", "rsub"), _sum),
    "mul": _mul,
    "div": _div,
    **dict.fromkeys(_named("maximum minimum lerp clamp clamp_min clamp_max"), _of_both),
    **dict.fromkeys(("softmax", "_softmax"), _softmax),
    "masked_softmax": _masked_softmax,
    **dict.fromkeys(("log_softmax", "_log_softmax"), _log_softmax),
    **dict.fromkeys(("argmax", "argmin"), _indices),
    **dict.fromkeys(("max", "min", "amax", "amin", "logsumexp"), _extreme),
    "adaptive_max_pool2d": _adaptive_max,
    "topk": _topk,
    **dict.fromkeys(_named("gt lt ge le eq ne"), _comparison),
    **dict.fromkeys(_named("logical_not logical_and bitwise_and bitwise_not"), _logic),
    "any": _any,
    "_to_copy": _to,
    "where": _where,
    **dict.fromkeys(("var", "std"), norms.deviation),
    "layer_norm": norms.layer_norm,
    "group_norm": norms.group_norm,
    "_native_batch_norm_legit": norms.instance_norm,
    "normalize": norms.norm,
    "embedding": _embedding,
    **dict.fromkeys(_named("index index_select gather take_along_dim"), _chosen),
    **dict.fromkeys(
        _named(
            "scatter scatter_add index_add index_put _unsafe_index_put remainder fmod atan2 "
            "cumprod max_unpool2d col2im"
        ),
        _anywhere,
    ),
    **dict.fromkeys(("lstm", "gru", "rnn"), _recurrent),
}
