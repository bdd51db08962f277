# SPDX-License-Identifier: Apache-2.0
"""Ops of two values, masks, and every function of one value."""

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from aot.rules import FAMILIES
from tests.ops.bundle import as_model
from tests.ops.case import Case, Function, Input

# name, shapes of both operands
_BROADCASTS: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...] = (
    ("same", (1, 3, 4, 5), (1, 3, 4, 5)),
    ("rank_1", (7,), (7,)),
    ("rank_6", (1, 2, 1, 3, 2, 2), (1, 2, 1, 3, 2, 2)),
    ("channels", (1, 3, 4, 5), (1, 3, 1, 1)),
    ("channels_first_operand", (1, 6, 1, 1), (1, 6, 4, 3)),
    ("plane", (1, 3, 4, 5), (1, 1, 4, 5)),
    ("last_dim", (2, 3, 5), (5,)),
    ("one_element", (2, 3, 5), (1, 1, 1)),
    ("both", (4, 1, 5), (3, 1)),
)
_BINARY: tuple[tuple[str, str, Callable[[Any, Any], Any]], ...] = (
    ("add", "add", operator.add),
    ("sub", "add", operator.sub),
    ("mul", "mul", operator.mul),
)

# Other functions of two or more values: name, function, ops, shapes, their ranges.
_PAIR = ((3, 5), (3, 5))
_ROWS = ((2, 3, 5), (3, 1))
_RANGES = ((-2.0, 2.0), (-0.5, 1.0), (-2.0, 2.0))
_POSITIVE = ((-2.0, 2.0), (0.25, 2.0))
_Shapes = tuple[tuple[int, ...], ...]
_SEVERAL: tuple[tuple[str, Callable[..., Any], dict[str, int], _Shapes, Any], ...] = (
    ("div", operator.truediv, {"div": 1}, _PAIR, _POSITIVE),
    ("div_rows", operator.truediv, {"div": 1}, _ROWS, _POSITIVE),
    ("div_by_negative", lambda x, y: x / -y, {"lut": 1, "div": 1}, _ROWS, _POSITIVE),
    ("div_floor", torch.floor_divide, {"div": 1, "lut": 1}, _PAIR, _POSITIVE),
    ("div_relu", lambda x, y: torch.relu(x / y), {"div": 1}, _PAIR, _POSITIVE),
    (
        "div_of_constant",
        lambda x, y: y * (_LINE / (x + 3)),
        {"lut": 1, "div": 1, "mul": 1},
        _PAIR,
        _RANGES,
    ),
    ("div_by_constant", lambda x, y: y + x / _LINE, {"mul": 1, "add": 1}, _PAIR, _RANGES),
    (
        "pow",
        lambda x, y: (x.abs() + 0.3) ** y,
        {"lut": 3, "mul": 1, "where": 1},
        _PAIR,
        _RANGES,
    ),
    ("rsub_alpha", partial(torch.rsub, alpha=2), {"add": 1}, _PAIR, _RANGES),
    ("lerp", partial(torch.lerp, weight=0.3), {"add": 1}, _ROWS, _RANGES),
    (
        "addcmul",
        lambda x, y: torch.addcmul(x, x, y, value=0.5),
        {"lut": 1, "mul": 1, "add": 1},
        _PAIR,
        _RANGES,
    ),
    (
        "addcdiv",
        lambda x, y: torch.addcdiv(x, x, y, value=0.5),
        {"lut": 1, "div": 1, "add": 1},
        _PAIR,
        _POSITIVE,
    ),
    ("maximum", torch.maximum, {"lut": 2, "maximum": 1}, _PAIR, _RANGES),
    ("maximum_rows", torch.max, {"lut": 2, "maximum": 1}, _ROWS, _RANGES),
    (
        "maximum_constant",
        lambda x: torch.maximum(x, _LINE),
        {"lut": 1, "maximum": 1},
        _ROWS[:1],
        _RANGES,
    ),
    ("minimum", torch.minimum, {"lut": 2, "minimum": 1}, _PAIR, _RANGES),
    (
        "minimum_far_apart",
        torch.minimum,
        {"lut": 2, "minimum": 1},
        _PAIR,
        ((-100.0, 100.0), (-1.0, 1.0)),
    ),
    ("fmin", torch.fmin, {"lut": 2, "minimum": 1}, _ROWS, _RANGES),
    (
        "clamp_tensors",
        lambda x, y, z: torch.clamp(x, y - 1.0, z + 2.0),
        {"lut": 3, "maximum": 1, "minimum": 1},
        (*_ROWS, (5,)),
        _RANGES,
    ),
    (
        "clamp_tensor_minimum",
        lambda x, y: torch.clamp(x, min=y),
        {"lut": 2, "maximum": 1},
        _ROWS,
        _RANGES,
    ),
    (
        "clamp_tensor_maximum",
        lambda x, y: torch.clamp(x, max=y),
        {"lut": 2, "minimum": 1},
        _ROWS,
        _RANGES,
    ),
    ("less", operator.lt, {"less": 1}, _ROWS, _RANGES),
    ("less_or_equal", operator.le, {"less": 1}, _PAIR, _RANGES),
    ("greater", operator.gt, {"less": 1}, _PAIR, _RANGES),
    ("greater_or_equal", operator.ge, {"less": 1}, _ROWS, _RANGES),
    ("equal", operator.eq, {"equal": 1}, _PAIR, ((0.0, 0.1), (0.0, 0.1))),
    (
        "not_equal",
        lambda x, y: torch.relu(x) != torch.relu(y),
        {"lut": 2, "equal": 1},
        _ROWS,
        _RANGES,
    ),
    ("compare_constant", lambda x: x > _LINE, {"less": 1}, _ROWS[:1], _RANGES),
    ("mask_of_one", lambda x: (x > -0.5) & (x < 1.0), {"lut": 1}, _ROWS[:1], _RANGES),
    ("mask_and", lambda x, y: (x > 0) & (y > 0), {"lut": 2, "where": 1}, _ROWS, _RANGES),
    (
        "mask_or",
        lambda x, y: torch.logical_or(x > 0, y > 0),
        {"lut": 2, "where": 1},
        _ROWS,
        _RANGES,
    ),
    ("mask_xor", lambda x, y: (x > 0) ^ (y > 0), {"lut": 2, "where": 2}, _PAIR, _RANGES),
    ("mask_not", lambda x, y: ~(x > y), {"less": 1, "where": 1}, _PAIR, _RANGES),
    (
        "mask_times_mask",
        lambda x, y: (x > y) * (x > 0),
        {"less": 1, "lut": 1, "where": 1},
        _PAIR,
        _RANGES,
    ),
    ("mask_float", lambda x, y: (x > y).float(), {"less": 1, "where": 1}, _ROWS, _RANGES),
    (
        "mask_function",
        lambda x, y: 1.0 - 3.0 * (x > y).float(),
        {"less": 1, "where": 1},
        _PAIR,
        _RANGES,
    ),
    ("mask_sum", lambda x, y: x + (x > y), {"less": 1, "where": 1, "add": 1}, _PAIR, _RANGES),
    ("mask_times_value", lambda x, y: x * (y > 0), {"lut": 1, "where": 1}, _ROWS, _RANGES),
    (
        "mask_as_number_times_value",
        lambda x, y: (x > y).float() * x,
        {"less": 1, "where": 1},
        _ROWS,
        _RANGES,
    ),
    (
        "relu_times_mask",
        lambda x, y: torch.relu(x) * (y > x),
        {"lut": 1, "less": 1, "where": 1},
        _PAIR,
        _RANGES,
    ),
    ("where", lambda x, y: torch.where(x > y, x, y), {"less": 1, "where": 1}, _ROWS, _RANGES),
    (
        "where_of_other",
        lambda x, y, z: torch.where(y > 0, x, z),
        {"lut": 1, "where": 1},
        ((2, 3, 5), (3, 1), (5,)),
        _RANGES,
    ),
    (
        "where_number",
        lambda x, y: torch.where(x > y, x, 0.5),
        {"less": 1, "where": 1},
        _ROWS,
        _RANGES,
    ),
    (
        "where_numbers",
        lambda x, y: torch.where(x > y, 2.0, -1.0),
        {"less": 1, "where": 1},
        _ROWS,
        _RANGES,
    ),
    (
        "where_constant_mask",
        lambda x, y: torch.where(_LINE > 0.5, x, y),
        {"where": 1},
        _ROWS,
        _RANGES,
    ),
    (
        "masked_fill",
        lambda x, y: x.masked_fill(y > 0, -1.0),
        {"lut": 1, "where": 1},
        _ROWS,
        _RANGES,
    ),
    (
        "copysign_by_hand",
        lambda x, y: torch.where(y < 0, -x.abs(), x.abs()),
        {"lut": 3, "where": 1},
        _PAIR,
        _RANGES,
    ),
    ("heaviside_of_sum", lambda x, y: (x + y > 0).float(), {"add": 1, "lut": 1}, _PAIR, _RANGES),
)
_LINE: torch.Tensor = torch.linspace(-1.0, 2.0, 5)

# Functions of one value: name, function, low, high. Each is one table.
_UNARY: tuple[tuple[str, Callable[[torch.Tensor], torch.Tensor], float, float], ...] = (
    ("relu", functional.relu, -2.0, 2.0),
    ("relu_of_negative", functional.relu, -3.0, -1.0),
    ("relu6", functional.relu6, -2.0, 8.0),
    ("hardtanh", functional.hardtanh, -3.0, 3.0),
    ("hardtanh_range", partial(functional.hardtanh, min_val=-0.25, max_val=1.5), -2.0, 2.0),
    ("clamp", partial(torch.clamp, min=-1.0, max=0.5), -2.0, 2.0),
    ("clamp_minimum", partial(torch.clamp, min=0.25), -2.0, 2.0),
    ("clamp_maximum", partial(torch.clamp, max=-0.25), -2.0, 2.0),
    ("clamp_min", partial(torch.clamp_min, min=-0.5), -2.0, 2.0),
    ("clamp_max", partial(torch.clamp_max, max=0.5), -2.0, 2.0),
    ("sigmoid", torch.sigmoid, -6.0, 6.0),
    ("tanh", torch.tanh, -3.0, 3.0),
    ("hardswish", functional.hardswish, -4.0, 4.0),
    ("hardsigmoid", functional.hardsigmoid, -4.0, 4.0),
    ("silu", functional.silu, -5.0, 5.0),
    ("gelu", functional.gelu, -3.0, 3.0),
    ("gelu_tanh", partial(functional.gelu, approximate="tanh"), -3.0, 3.0),
    ("mish", functional.mish, -4.0, 4.0),
    ("elu", functional.elu, -3.0, 3.0),
    ("elu_alpha", partial(functional.elu, alpha=0.5), -3.0, 3.0),
    ("selu", functional.selu, -3.0, 3.0),
    ("celu", partial(functional.celu, alpha=2.0), -3.0, 3.0),
    ("leaky_relu", functional.leaky_relu, -3.0, 3.0),
    ("leaky_relu_slope", partial(functional.leaky_relu, negative_slope=0.2), -3.0, 3.0),
    ("logsigmoid", functional.logsigmoid, -4.0, 4.0),
    ("softplus", functional.softplus, -4.0, 4.0),
    ("softsign", functional.softsign, -4.0, 4.0),
    ("softshrink", functional.softshrink, -2.0, 2.0),
    ("hardshrink", functional.hardshrink, -2.0, 2.0),
    ("tanhshrink", functional.tanhshrink, -2.0, 2.0),
    ("threshold", partial(functional.threshold, threshold=0.3, value=-0.2), -2.0, 2.0),
    ("exp", torch.exp, -3.0, 1.5),
    ("exp2", torch.exp2, -3.0, 1.5),
    ("expm1", torch.expm1, -3.0, 1.5),
    ("log", torch.log, 0.1, 4.0),
    ("log2", torch.log2, 0.1, 4.0),
    ("log10", torch.log10, 0.1, 4.0),
    ("log1p", torch.log1p, -0.5, 4.0),
    ("sqrt", torch.sqrt, 0.0, 4.0),
    ("rsqrt", torch.rsqrt, 0.2, 4.0),
    ("reciprocal", torch.reciprocal, 0.25, 4.0),
    ("square", torch.square, -2.0, 2.0),
    ("abs", torch.abs, -2.0, 1.0),
    ("neg", torch.neg, -2.0, 1.0),
    ("sign", torch.sign, -2.0, 2.0),
    ("floor", torch.floor, -3.0, 3.0),
    ("ceil", torch.ceil, -3.0, 3.0),
    ("round", torch.round, -3.0, 3.0),
    ("trunc", torch.trunc, -3.0, 3.0),
    ("frac", torch.frac, -3.0, 3.0),
    ("sin", torch.sin, -3.0, 3.0),
    ("cos", torch.cos, -3.0, 3.0),
    ("tan", torch.tan, -1.0, 1.0),
    ("asin", torch.asin, -1.0, 1.0),
    ("acos", torch.acos, -1.0, 1.0),
    ("atan", torch.atan, -3.0, 3.0),
    ("sinh", torch.sinh, -2.0, 2.0),
    ("cosh", torch.cosh, -2.0, 2.0),
    ("asinh", torch.asinh, -3.0, 3.0),
    ("acosh", torch.acosh, 1.0, 4.0),
    ("atanh", torch.atanh, -0.9, 0.9),
    ("erf", torch.erf, -2.0, 2.0),
    ("erfc", torch.erfc, -2.0, 2.0),
    ("logit", partial(torch.logit, eps=0.05), 0.0, 1.0),
    ("pow_3", partial(torch.pow, exponent=3), -1.5, 1.5),
    ("pow_half", partial(torch.pow, exponent=0.5), 0.0, 4.0),
    ("remainder", partial(torch.remainder, other=0.7), -2.0, 2.0),
    ("fmod", partial(torch.fmod, other=0.7), -2.0, 2.0),
    ("add_scalar", lambda x: x + 1.25, -2.0, 2.0),
    ("add_scalar_alpha", lambda x: torch.add(x, 2, alpha=0.5), -2.0, 2.0),
    ("scalar_sub", lambda x: 1.0 - x, -2.0, 2.0),
    ("sub_scalar", lambda x: x - 3, -2.0, 2.0),
    ("mul_scalar", lambda x: x * 0.3, -2.0, 2.0),
    ("mul_negative_scalar", lambda x: -2 * x, -2.0, 1.0),
    ("div_scalar", lambda x: x / 3.0, -2.0, 2.0),
    ("scalar_div", lambda x: 2.0 / x, 0.5, 4.0),
    ("where", lambda x: torch.where(x > 0.5, 0.25 * x, -x), -2.0, 2.0),
    ("scalar_pow", lambda x: 2.0**x, -2.0, 2.0),
    ("float_power", lambda x: torch.float_power(x, 3).float(), -1.5, 1.5),
    ("mask_times_itself", lambda x: x * (x > 0), -2.0, 2.0),
    ("heaviside", lambda x: (x > 0).float(), -2.0, 2.0),
    ("isnan", lambda x: torch.nan_to_num(x), -2.0, 2.0),
    ("sgn", torch.sgn, -2.0, 2.0),
    ("signbit", lambda x: torch.signbit(x).float(), -2.0, 2.0),
    ("copysign", lambda x: torch.copysign(x, -1.0), -2.0, 2.0),
    ("lerp_itself", lambda x: torch.lerp(x, x.abs(), 0.3), -2.0, 2.0),
    ("deg2rad", torch.deg2rad, -90.0, 90.0),
    ("rad2deg", torch.rad2deg, -2.0, 2.0),
    ("sinc", torch.sinc, -2.0, 2.0),
    ("erfinv", torch.erfinv, -0.9, 0.9),
    ("lgamma", torch.lgamma, 0.5, 4.0),
    ("digamma", torch.digamma, 0.5, 4.0),
    ("polygamma", lambda x: torch.polygamma(1, x), 0.5, 4.0),
    ("i0", torch.i0, -2.0, 2.0),
    ("i1", torch.special.i1, -2.0, 2.0),
    ("entr", torch.special.entr, 0.1, 2.0),
    ("log_ndtr", torch.special.log_ndtr, -2.0, 2.0),
    ("bessel_j0", torch.special.bessel_j0, -2.0, 2.0),
    ("xlogy", lambda x: torch.xlogy(2.0, x), 0.5, 2.0),
)


def _examples() -> Iterator[Case]:
    """Yield the examples of ops with their own rules, kept next to their kernels."""
    for family in FAMILIES:
        for count, example in enumerate(family.examples):
            name = f"{next(iter(example.ops))}_example_{count}"
            module = partial(Function, example.function)
            yield Case(name, module, (Input(example.shape),), example.ops)


def cases() -> Iterator[Case]:
    module: Callable[[], nn.Module]
    yield from _examples()
    for name, op, operation in _BINARY:
        module = partial(Function, operation)
        for what, a, b in _BROADCASTS:
            inputs = (Input(a), Input(b, -0.5, 1.0))
            yield Case(f"{name}_{what}", module, inputs, {op: 1})
        itself = partial(_Itself, operation)  # A function of one value after all.
        yield Case(f"{name}_itself", itself, (Input((1, 9)),), {"lut": 1})
        yield Case(f"{name}_constant", partial(_Constant, operation), (Input((2, 6)),), {op: 1})
        yield Case(
            f"{name}_relu", partial(_Relu, operation), (Input((3, 5)), Input((3, 5))), {op: 1}
        )
        shape = (1, 4, 3, 5)
        layouts = (Input(shape, channels_last=True), Input(shape, channels_last=True))
        yield Case(f"{name}_channels_last", module, layouts, {op: 1})
    for name, function, ops, shapes, ranges in _SEVERAL:
        taken = tuple(Input(shape, *r) for shape, r in zip(shapes, ranges, strict=False))
        yield Case(name, partial(Function, function), taken, ops)
    image = Input((1, 3, 4, 5), channels_last=True)
    gate = Input((1, 1, 4, 5), channels_last=True)
    masked = partial(Function, lambda x, y: torch.where(y > 0, x, -0.5))
    yield Case("where_channels_last", masked, (image, gate), {"lut": 1, "where": 1})
    largest = partial(Function, torch.maximum)
    yield Case("maximum_channels_last", largest, (image, gate), {"lut": 2, "maximum": 1})
    yield Case("prelu", partial(nn.PReLU, 3), (image,), {"prelu": 1})
    yield Case("prelu_rows", partial(nn.PReLU, 5), (Input((2, 5)),), {"prelu": 1})
    alphas = {"add": torch.add, "sub": torch.sub}
    pair = (Input((2, 7)), Input((2, 7), -4.0, 1.0))
    for name, scaled in alphas.items():
        for what, alpha in (("fraction", 0.25), ("negative", -3)):
            module = partial(Function, partial(scaled, alpha=alpha))
            yield Case(f"{name}_alpha_{what}", module, pair, {"add": 1})
    far = (Input((2, 7), -1e-3, 1e-3), Input((2, 7), -100.0, 100.0))
    yield Case("add_scales_far_apart", partial(Function, operator.add), far, {"add": 1})
    yield Case("mul_scales_far_apart", partial(Function, operator.mul), far, {"mul": 1})
    for name, function, low, high in _UNARY:
        yield Case(
            f"unary_{name}", partial(Function, function), (Input((2, 3, 7), low, high),), {"lut": 1}
        )
    yield Case("unary_channels_last", nn.Hardswish, (image,), {"lut": 1})
    yield Case("unary_prelu_one_parameter", nn.PReLU, (Input((1, 3, 4, 4)),), {"lut": 1})


class _Itself(Function):
    def forward(self, *inputs: torch.Tensor) -> object:
        return self.function(inputs[0], inputs[0])


class _Constant(Function):
    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        self.register_buffer("constant", torch.linspace(-1.0, 2.0, 6))

    def forward(self, *inputs: torch.Tensor) -> object:
        return self.function(inputs[0], self.constant)


class _Relu(Function):
    def forward(self, *inputs: torch.Tensor) -> object:
        return functional.relu(self.function(*inputs))  # type: ignore[arg-type]


factory, calibration, test_inputs = as_model(cases)
