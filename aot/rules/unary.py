# SPDX-License-Identifier: Apache-2.0
"""Functions of one value to pl::lut: the table is the float function itself, evaluated by torch on
the 256 inputs; to pl::integer_lut where its results are integers. Functions of one mask to
pl::where, for they have two values.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.fx import Node

from aot.dialect.graph import Edge, edge_of, quantization_of
from aot.dialect.grid import common_step, exact_scale
from aot.dialect.library import Op
from aot.dialect.quantization import INT8, INT16, Quantization
from aot.dialect.rule import ON_DEVICE, Call, Fixed, Integers, Output, Rule, UnaryRule, as_clamp
from aot.errors import LoweringError, problem_at
from aot.rules.function import (
    Roots,
    evaluate,
    function_root,
    is_integers,
    is_mask,
    is_unquantized,
    masks_of,
)
from kernels.binary.op_compare import factors, less
from kernels.integer.op import integer_lut
from kernels.lut.op import MISSED, lut, missed, table_of
from kernels.quantize.op_requantize import requantize, requantize_arguments
from kernels.where.op import where

_MOST_CHANGES = 8
"""Limit for a mask that is a function of an int16 value: each change is a comparison."""

# TFLite's output quantization of functions with a known range. It is a finer one if calibration
# shows only a part of the range.
_FIXED = {
    torch.ops.aten.sigmoid.default: Fixed(Quantization(1.0 / 256.0, -128), finer=True),
    torch.ops.aten.hardsigmoid.default: Fixed(Quantization(1.0 / 256.0, -128), finer=True),
    torch.ops.aten.tanh.default: Fixed(Quantization(1.0 / 128.0), finer=True),
}


class Unary(UnaryRule):
    def __init__(self, output: Output) -> None:
        self.output = output  # type: ignore[misc]

    def activations(self, node: Node) -> list[Node]:
        root = function_root(node)
        return [root] if root is not None else super().activations(node)

    def op(self, node: Node) -> Op:
        return integer_lut if is_integers(node) else lut

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs

        def function(values: torch.Tensor) -> torch.Tensor:
            return evaluate(call.module, call.node, values)

        of = quantization_of(x)
        if is_integers(call.node):
            return _integers(call, x, function)
        if is_mask(call.node):
            return mask_of(call, x, function(of.dequantize(of.every_value())))
        table = table_of(function, of, call.output)
        made = call.emit(lut, x, call.constant("table", table))
        if of.type is INT16 and call.output.type is INT16:
            made.meta[MISSED] = missed(function, of, call.output, table)
        return made


def _integers(call: Call, x: Node, function: Callable[[torch.Tensor], torch.Tensor]) -> Node:
    """Return integers that are a function of an int8 value.

    Raises:
      LoweringError: it is an int16 value.
    """
    of = quantization_of(x)
    if of.type is INT16:
        hint = "int8 for this layer; of an input's whole numbers, arithmetic without floats"
        problem = problem_at(call.node, "integers of an int16 value", hint)
        raise LoweringError("1 op of the model cannot be lowered as asked:", [problem])
    table = function(of.dequantize(of.every_value())).to(torch.int32)
    return call.emit(integer_lut, x, call.constant("table", table), edge=Edge())


def mask_of(call: Call, x: Node, values: torch.Tensor) -> Node:
    """Return a mask that is a function of one value: a table for int8, comparisons for int16.

    Args:
      call, x, values: as in _mask_of_int16.

    Raises:
      LoweringError: see there.
    """
    if quantization_of(x).type is INT16:
        return _mask_of_int16(call, x, values)
    return call.emit(lut, x, call.constant("table", values), edge=Edge())


def _mask_of_int16(call: Call, x: Node, values: torch.Tensor) -> Node:
    """Return a mask that is a function of an int16 value, from the positions of its changes.

    Args:
      call: of the function.
      x: the value.
      values: the function of every integer, in order.

    Raises:
      LoweringError: it changes more than _MOST_CHANGES times.
    """
    edge, of = edge_of(x), quantization_of(x)
    changes = (values[1:] != values[:-1]).nonzero().flatten()
    if len(changes) > _MOST_CHANGES:
        reason = f"it changes {len(changes)} times over the values of int16"
        problem = problem_at(call.node, reason, "int8 for this layer")
        raise LoweringError("1 op of the model cannot be lowered as asked:", [problem])
    table = call.constant("factors", factors(of, of))
    false, true = (call.constant(str(t), torch.tensor(t)) for t in (False, True))
    if len(changes) == 0:
        never = call.emit(less, x, x, table, edge=Edge())
        return call.emit(where, never, false, true, edge=Edge()) if values[0] else never
    mask: Node | None = None
    for index, change in enumerate(changes.tolist()):
        limit = of.every_value()[change].clone()
        above = call.emit(less, call.constant(f"limit{index}", limit, edge), x, table, edge=Edge())
        if mask is None:
            mask = above
        else:  # exclusive or: each further change flips the mask
            opposite = call.emit(where, above, false, true, edge=Edge())
            mask = call.emit(where, mask, opposite, above, edge=Edge())
    assert mask is not None
    return call.emit(where, mask, false, true, edge=Edge()) if values[0] else mask


class OfMask(UnaryRule):
    """Rule for a function of one mask, with two known result values."""

    def __init__(self, values: torch.Tensor) -> None:
        self._values = values  # for False and True
        self.output = (  # type: ignore[misc]
            Fixed(_exact_for(values)) if values.is_floating_point() else Integers()
        )

    def activations(self, node: Node) -> list[Node]:
        return []

    def op(self, node: Node) -> Op:
        return where

    def emit(self, call: Call) -> Node:
        (mask,) = map(call.unquantized, masks_of(call.node))
        values, edge = self._values, Edge(call.quantization)
        values = values.to(ON_DEVICE.get(values.dtype, values.dtype))
        if call.quantization is not None:
            values = call.quantization.quantize(values)
        false, true = (
            call.constant(name, value, edge)
            for name, value in zip(("false", "true"), values, strict=True)
        )
        return call.emit(where, mask, true, false, edge=edge)


def _exact_for(values: torch.Tensor) -> Quantization:
    """Return a quantization holding 0 and the largest magnitude exactly.

    Both ends are exact if a scale allows it. Infinite values saturate, beyond the other value.
    """
    finite = values[values.isfinite()]
    far = 2.0 * float(finite.abs().max()) if finite.numel() else 0.0
    far = min(far or 1.0, torch.finfo(values.dtype).max)
    values = values.nan_to_num(nan=0.0, posinf=far, neginf=-far)
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    if low < 0.0 < high:
        integers = INT8.quant_min, INT8.quant_max, False
        step = common_step(values.to(torch.float32).numpy())
        exact = exact_scale(integers, (low, high), step, (low, high), ())
        return Quantization(*exact) if exact else Quantization(max(-low, high) / INT8.quant_max)
    span = INT8.quant_max - INT8.quant_min
    scale = (high - low) / span or 1.0 / span
    return Quantization(scale, INT8.quant_max if low < 0.0 else INT8.quant_min)


def requantized(call: Call, x: Node, result: Quantization) -> Node:
    """Return a value, or a constant, as another quantization has it."""
    if quantization_of(x) == result:
        return x
    constant = call.builder.constant_value(x)
    if INT16 in (quantization_of(x).type, result.type):
        args = requantize_arguments(quantization_of(x), result)
        if constant is not None:
            return call.constant(x.name, requantize.reference(constant, *args), Edge(result))
        return call.emit(requantize, x, *args, edge=Edge(result))
    table = table_of(lambda values: values, quantization_of(x), result)
    if constant is not None:
        return call.constant(x.name, lut.reference(constant, table), Edge(result))
    return call.emit(lut, x, call.constant(f"{x.name}_table", table), edge=Edge(result))


_RULE = Unary(UnaryRule.output)
_UNQUANTIZED_RULE = Unary(Integers())
_FIXED_RULES: dict[object, Unary] = {target: Unary(fixed) for target, fixed in _FIXED.items()}


def unary_rule(node: Node, roots: Roots | None) -> Rule | None:
    """Return the rule of a pointwise function, or of a clamp (its producer may fuse it); None
    otherwise.

    `roots`: the function roots up to the node, where they are known.
    """
    root = function_root(node) if roots is None else roots.get(node)
    if root is None:
        return _RULE if as_clamp(node) is not None and not is_integers(node) else None
    if is_mask(root):
        return _of_mask(node)
    if is_unquantized(node):
        return _UNQUANTIZED_RULE
    return _FIXED_RULES.get(node.target, _RULE)


def mask_rule(node: Node) -> Rule | None:
    """Return the rule of a function of one mask; None if it is none."""
    root = function_root(node)
    return _of_mask(node) if root is not None and is_mask(root) else None


def _of_mask(node: Node) -> Rule:
    module = node.graph.owning_module
    assert module is not None
    return OfMask(evaluate(module, node, torch.tensor([False, True])))
