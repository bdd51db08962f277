# SPDX-License-Identifier: Apache-2.0
"""Lowering of unquantized integers.

- Arithmetic becomes pl::integer_add and similar ops.
- Comparisons become masks.
- Sums of integers and of masks become pl::integer_sum.
- The largest of integers becomes pl::topk.
- A conversion to float becomes pl::integer_quantize, or pl::integer_to_float.
"""

from __future__ import annotations

import copy
import math
from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.arithmetic import INT32_MAX, quantize_multiplier
from aot.dialect.graph import Edge, edge_of, quantization_of, shape_of
from aot.dialect.library import Op
from aot.dialect.quantization import WHOLE_NUMBERS, Quantization
from aot.dialect.results import taken_from
from aot.dialect.rule import Call, Exact, Integers, Observed, Output, Rule, argument, reduction
from aot.rules.function import WHOLE, is_integers, is_unquantized, of_samples
from aot.rules.maximum import best
from aot.rules.unary import requantized
from kernels.dequantize.op import dequantize
from kernels.integer.op import (
    integer_add,
    integer_and,
    integer_divide,
    integer_equal,
    integer_less,
    integer_maximum,
    integer_minimum,
    integer_modulo,
    integer_mul,
    integer_quantize,
    integer_sub,
    integer_sum,
    integer_to_float,
)
from kernels.max_with_indices.op_topk import topk
from kernels.strided_copy.op_reshape import reshape
from kernels.where.op import where

_aten = torch.ops.aten
_ARITHMETIC: dict[object, Op] = {
    _aten.add.Tensor: integer_add,
    _aten.sub.Tensor: integer_sub,
    _aten.mul.Tensor: integer_mul,
    _aten.minimum.default: integer_minimum,
    _aten.maximum.default: integer_maximum,
    _aten.floor_divide.default: integer_divide,
    _aten.div.Tensor_mode: integer_divide,
    _aten.remainder.Scalar: integer_modulo,
    _aten.remainder.Tensor: integer_modulo,
    _aten.bitwise_and.Scalar: integer_and,
    _aten.bitwise_and.Tensor: integer_and,
}
_MAY_WRAP = (_aten.add.Tensor, _aten.sub.Tensor, _aten.mul.Tensor)
# The op, and two flags: the operands are swapped, and the result is negated.
_COMPARISONS = {
    "eq": (integer_equal, False, False),
    "ne": (integer_equal, False, True),
    "lt": (integer_less, False, False),
    "ge": (integer_less, False, True),
    "gt": (integer_less, True, False),
    "le": (integer_less, True, True),
}


class _OfIntegers:
    output: ClassVar[Output] = Integers()
    fuses_clamp: ClassVar[bool] = False

    def activations(self, node: Node) -> list[Node]:
        return []

    def weights(self, node: Node) -> Node | None:
        return None

    def reject(self, node: Node) -> tuple[str, str] | None:
        numbers = [a for a in node.args if isinstance(a, int | float)]
        if any(a != int(a) or abs(a) > INT32_MAX for a in numbers):
            return f"it calculates with {numbers[0]}, which is no int32", "a number that is"
        return None


class Arithmetic(_OfIntegers):
    def op(self, node: Node) -> Op:
        return _ARITHMETIC[node.target]

    def reject(self, node: Node) -> tuple[str, str] | None:
        if node.target in (_aten.add.Tensor, _aten.sub.Tensor) and argument(node, "alpha") != 1:
            return "alpha is not 1", "a product"
        if node.target in _MAY_WRAP and (problem := narrow(node)) is not None:
            return problem
        return super().reject(node)

    def emit(self, call: Call) -> Node:
        return call.emit(self.op(call.node), *_operands(call))


class IntegerClamp(_OfIntegers):
    def op(self, node: Node) -> Op:
        return integer_minimum if argument(node, "max") is not None else integer_maximum

    def emit(self, call: Call) -> Node:
        x = call.unquantized(call.node.args[0])  # type: ignore[arg-type]
        for name, op in (("min", integer_maximum), ("max", integer_minimum)):
            if (limit := argument(call.node, name)) is not None:
                x = call.emit(op, x, _number(call, limit))
        return x


class Comparison(_OfIntegers):
    def op(self, node: Node) -> Op:
        return _comparison(node)[0]

    def emit(self, call: Call) -> Node:
        op, swaps, negates = _comparison(call.node)
        operands = _operands(call)
        mask = call.emit(op, *(reversed(operands) if swaps else operands), edge=Edge())
        if not negates:
            return mask
        false, true = (call.constant(str(t), torch.tensor(t)) for t in (False, True))
        return call.emit(where, mask, false, true, edge=Edge())


def _comparison(node: Node) -> tuple[Op, bool, bool]:
    return _COMPARISONS[str(node.target).split(".")[1]]


class Sum(_OfIntegers):
    """Rule for sums of integers, or of a mask, counting its true elements."""

    def op(self, node: Node) -> Op:
        return integer_sum

    def reject(self, node: Node) -> tuple[str, str] | None:
        return narrow(node)

    def emit(self, call: Call) -> Node:
        x = call.unquantized(call.node.args[0])  # type: ignore[arg-type]
        dims, keepdim = reduction(call.node, len(shape_of(x)))
        if dims:
            return call.emit(integer_sum, x, dims, keepdim)
        return call.emit(integer_sum, call.emit(reshape, x, [1, 1]), [1], False)


class Best(_OfIntegers):
    """The largest or smallest along a dimension, or of all, in order, and where they are: values
    and indices, or one of the two.
    """

    def op(self, node: Node) -> Op:
        return topk

    def reject(self, node: Node) -> tuple[str, str] | None:
        call, _ = taken_from(node)
        if 0 in node.meta["val"].shape:
            return "it takes none of the values", "at least one"
        if call.target in _OVER_DIMS and len(argument(call, "dim")) > 1:
            return "it is over several dimensions of integers", "one dimension after the other"
        return None

    def emit(self, call: Call) -> Node:
        node, index = taken_from(call.node)
        x = call.unquantized(node.args[0])  # type: ignore[arg-type]
        return best(call, x, topk, 1 if node.target in _PLACES else index)


class Same(_OfIntegers):
    """Rule for conversions between integer types. All are int32 on the device. Conversions to fewer
    bits wrap around.
    """

    def op(self, node: Node) -> Op:
        return reshape

    def emit(self, call: Call) -> Node:
        x = call.unquantized(call.node.args[0])  # type: ignore[arg-type]
        (source,) = call.node.all_input_nodes
        before, after = (torch.iinfo(n.meta["val"].dtype) for n in (source, call.node))
        if after.bits >= 32 or after.min <= before.min and before.max <= after.max:
            return call.emit(reshape, x, list(shape_of(x)))
        count = _number(call, after.max - after.min + 1)
        x = call.emit(integer_modulo, x, count)
        if after.min == 0:
            return x
        x = call.emit(integer_modulo, call.emit(integer_sub, x, _number(call, after.min)), count)
        return call.emit(integer_add, x, _number(call, after.min))


class Widened(_OfIntegers):
    """Rule for int16 integer inputs as integers: sums of one element each."""

    def activations(self, node: Node) -> list[Node]:
        return node.all_input_nodes

    def op(self, node: Node) -> Op:
        return integer_sum

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        shape = list(shape_of(x))
        column = call.emit(reshape, x, [math.prod(shape), 1], edge=edge_of(x))
        return call.emit(reshape, call.emit(integer_sum, column, [1], False), shape)


class GivenIntegers(_OfIntegers):
    """Rule for the float32 form of integer inputs. The device keeps them unchanged."""

    def __init__(self, quantization: Quantization) -> None:
        self.output = Exact(quantization)  # type: ignore[misc]

    def op(self, node: Node) -> Op:
        return reshape

    def emit(self, call: Call) -> Node:
        given = call.unquantized(call.node.args[0])  # type: ignore[arg-type]
        return requantized(call, given, call.output)


class GivenToFloat(_OfIntegers):
    """The same rule, for values that have to stay float32."""

    def op(self, node: Node) -> Op:
        return dequantize

    def emit(self, call: Call) -> Node:
        given = call.unquantized(call.node.args[0])  # type: ignore[arg-type]
        quantization = quantization_of(given)
        return call.emit(dequantize, given, quantization.scale, quantization.zero_point)


class ToFloat(_OfIntegers):
    output: ClassVar[Output] = Observed()

    def op(self, node: Node) -> Op:
        return integer_quantize

    def emit(self, call: Call) -> Node:
        x = call.unquantized(call.node.args[0])  # type: ignore[arg-type]
        factor = quantize_multiplier(1.0 / call.output.scale)
        bits = 8 * call.output.type.dtype.itemsize
        return call.emit(integer_quantize, x, call.output.zero_point, *factor, bits)


class ExactToFloat(_OfIntegers):
    """Rule for conversions of integers or a mask to values that stay float32."""

    def op(self, node: Node) -> Op:
        return integer_to_float

    def emit(self, call: Call) -> Node:
        x = call.unquantized(call.node.args[0])  # type: ignore[arg-type]
        if x.meta["val"].dtype == torch.bool:
            zero, one = (call.constant(str(i), torch.tensor(float(i))) for i in (0, 1))
            return call.emit(where, x, one, zero)
        return call.emit(integer_to_float, x)


def _operands(call: Call) -> list[Node]:
    return [
        _counted(call, a) if isinstance(a, Node) else _number(call, held(call.node, a))
        for a in call.node.args[:2]
    ]


def _counted(call: Call, value: Node) -> Node:
    """Return an operand; of a mask 1 and 0."""
    x = call.unquantized(value)
    if x.meta["val"].dtype != torch.bool:
        return x
    zero, one = (call.constant(str(i), torch.tensor(i, dtype=torch.int32)) for i in (0, 1))
    return call.emit(where, x, one, zero)


def _number(call: Call, value: object) -> Node:
    return call.constant("number", torch.tensor(value, dtype=torch.int32))


_PLACES = (_aten.argmax.default, _aten.argmin.default)
_OVER_DIMS = (_aten.amax.default, _aten.amin.default)
_BEST = (
    _aten.topk.default,
    *_PLACES,
    *_OVER_DIMS,
    *(getattr(_aten, name).dim for name in ("max", "min")),
    *(getattr(_aten, name).default for name in ("max", "min")),
)
_GIVEN = {dtype: GivenIntegers(quantization) for dtype, quantization in WHOLE_NUMBERS.items()}
_GIVEN_TO_FLOAT = GivenToFloat()
_WIDENED = Widened()
_SUM, _SAME, _ORDER, TO_FLOAT, EXACT_TO_FLOAT = Sum(), Same(), Best(), ToFloat(), ExactToFloat()
_SUMS = (_aten.sum.dim_IntList, _aten.sum.default)
_RULES: dict[object, Rule] = {
    **dict.fromkeys(_ARITHMETIC, Arithmetic()),
    _aten.clamp.default: IntegerClamp(),
    _aten._to_copy.default: TO_FLOAT,
    **{
        getattr(getattr(_aten, name), overload): Comparison()
        for name in _COMPARISONS
        for overload in ("Tensor", "Scalar")
    },
}


def integer_rule(node: Node) -> Rule | None:
    """Return the rule of an op with only integer tensors, or of a sum of a mask; None for other
    ops.
    """
    if of_samples(node):
        return _WIDENED
    if node.target in _SUMS and all(map(is_unquantized, node.all_input_nodes)):
        return None if node.meta["val"].is_floating_point() else _SUM
    call, _ = taken_from(node)
    if call.target in _BEST and isinstance(node.meta["val"], torch.Tensor):
        return _ORDER if all(map(is_integers, call.all_input_nodes)) else None
    counts = node.target in _ARITHMETIC and is_integers(node)  # a mask among its operands
    alike = is_unquantized if counts else is_integers
    if node.target not in _RULES or not all(map(alike, node.all_input_nodes)):
        return None
    gives_floats = node.meta["val"].dtype == torch.float32
    if is_given(node):
        return _GIVEN[node.args[0].meta["val"].dtype]  # type: ignore[union-attr]
    if node.target is _aten._to_copy.default:
        return _RULES[node.target] if gives_floats else _SAME if is_integers(node) else None
    return None if gives_floats else _RULES[node.target]


def is_given(node: Node) -> bool:
    """Return True if a node converts integer inputs to float32."""
    if node.target is not _aten._to_copy.default or node.meta["val"].dtype != torch.float32:
        return False
    (source,) = node.all_input_nodes
    return source.op == "placeholder" and source.meta["val"].dtype in WHOLE_NUMBERS


def whole_quantization(node: Node) -> Quantization | None:
    """Return the quantization of integer inputs that are float32 now; None for other values."""
    value = node.meta.get("val")
    is_float = isinstance(value, torch.Tensor) and value.dtype == torch.float32
    return WHOLE_NUMBERS[node.meta[WHOLE]] if is_float and WHOLE in node.meta else None


def of_whole_numbers(rule: Rule, node: Node) -> Rule:
    """Return the rule of a node. If its result is integer inputs, the result stays exact."""
    whole = whole_quantization(node)
    if whole is None or not isinstance(rule.output, Observed):
        return rule
    exact = copy.copy(rule)
    exact.output = Exact(whole)  # type: ignore[misc]
    return exact


def held(node: Node, value: object) -> object:
    """Return a number as an op reads it: torch wraps it around in the other operand's dtype."""
    (dtype,) = (n.meta["val"].dtype for n in node.all_input_nodes)
    wraps = isinstance(value, int) and dtype in (torch.uint8, torch.int8, torch.int16)
    return torch.tensor(value).to(dtype).item() if wraps else value


def narrow(node: Node) -> tuple[str, str] | None:
    """Return the error text for arithmetic on integers narrower than the device's; None if not
    narrower.
    """
    bits = 8 * node.meta["val"].dtype.itemsize
    if bits >= 32:
        return None
    return f"its integers have {bits} bits, the device's 32", "x.to(torch.int32) before"


def of_narrow_input(node: Node) -> tuple[str, str] | None:
    """Return the same for an op on an integer input, except its conversion to float32."""
    given = [n for n in node.all_input_nodes if n.op == "placeholder" and is_unquantized(n)]
    wrong = [n for n in given if n.meta["val"].dtype in WHOLE_NUMBERS and not is_given(node)]
    return narrow(wrong[0]) if wrong else None


def exact_to_float(node: Node) -> Rule | None:
    """Return the rule for conversions of integers or masks to values that stay float32; None for
    other ops.
    """
    if is_given(node):
        return _GIVEN_TO_FLOAT
    to_float = node.target is _aten._to_copy.default and node.meta["val"].dtype == torch.float32
    return EXACT_TO_FLOAT if to_float and all(map(is_unquantized, node.all_input_nodes)) else None
