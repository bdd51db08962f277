# SPDX-License-Identifier: Apache-2.0
"""add, sub, mul and every function of one value."""

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

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
)


def cases() -> Iterator[Case]:
    module: Callable[[], nn.Module]
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
    image = Input((1, 3, 4, 5), channels_last=True)
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
