# SPDX-License-Identifier: Apache-2.0
"""Lowering of aten.amax, amin, var, std, linalg_vector_norm, logsumexp and cumsum."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.arithmetic import sums_multiplier
from aot.dialect.graph import Edge, quantization_of, shape_of
from aot.dialect.library import Op
from aot.dialect.quantization import INT8, INT16, Quantization
from aot.dialect.results import taken_from
from aot.dialect.rule import Call, Family, Output, Shares, UnaryRule, argument, reduction
from aot.errors import LoweringError, problem_at
from aot.rules.mean import Mean, sum_over
from aot.rules.unary import requantized
from kernels.log_softmax.op import log_constants
from kernels.lut.op import lut, table_of
from kernels.mean.op import mean
from kernels.reduce.op_cumsum import cumsum, guard_bits
from kernels.reduce.op_extremes import amax, amin
from kernels.reduce.op_logsumexp import logsumexp
from kernels.reduce.op_second_moment import MAX_INT16_COUNT, fraction_bits, second_moment

_aten = torch.ops.aten
_AMAX = (_aten.amax.default, _aten.max.default)
_AMIN = (_aten.amin.default, _aten.min.default)
_VAR, _STD = _aten.var.correction, _aten.std.correction
_VAR_MEAN, _STD_MEAN = _aten.var_mean.correction, _aten.std_mean.correction
_NORM = _aten.linalg_vector_norm.default
_LOGSUMEXP, _CUMSUM = _aten.logsumexp.default, _aten.cumsum.default

_FINEST_OF_INPUT, _FINEST_LOGARITHM = 2.0**-10, 2.0**-15
"""Finest steps of an int8 logsumexp. Its terms add up in int32 and may cancel, for example if the
result is always 0. Calibration would then give a finer step.
"""


def _dims(call: Call) -> tuple[list[int], bool, int]:
    """Return the reduced dimensions, the keepdim flag and the number of reduced values."""
    shape = shape_of(call.inputs[0])
    dims, keepdim = reduction(taken_from(call.node)[0], len(shape))
    return dims, keepdim, math.prod(shape[d] for d in dims)


class Extreme(UnaryRule):
    output: ClassVar[Output] = Shares()

    def op(self, node: Node) -> Op:
        return amax if node.target in _AMAX else amin

    def emit(self, call: Call) -> Node:
        dims, keepdim, _ = _dims(call)
        return call.emit(self.op(call.node), call.inputs[0], dims, keepdim)


def _second_moment(call: Call, divisor: float, centered: bool, root: bool) -> Node:
    """Return the sum of the squares, or the variance times the count's square, over divisor."""
    (x,) = call.inputs
    dims, keepdim, count = _dims(call)
    of = quantization_of(x)
    dtype = of.type.dtype
    if of.type is INT16 and count > MAX_INT16_COUNT:
        problem = problem_at(
            call.node,
            f"it is of {count} values, more than {MAX_INT16_COUNT} of int16",
            "int8 for this layer",
        )
        raise LoweringError("1 op of the model cannot be lowered as asked:", [problem])
    factor = of.scale**2 / divisor / 2.0 ** fraction_bits(count, centered, root, dtype)
    factor = (math.sqrt(factor) if root else factor) / call.output.scale
    zero_points = (of.zero_point, call.output.zero_point)
    arguments = (dims, keepdim, centered, root, *zero_points, *sums_multiplier(factor, dtype))
    return call.emit(second_moment, x, *arguments)


class Deviation(UnaryRule):
    """Rule for var and std, alone or as the first of two results."""

    def op(self, node: Node) -> Op:
        return second_moment

    def reject(self, node: Node) -> tuple[str, str] | None:
        (x,) = self.activations(node)
        call = taken_from(node)[0]
        dims, _ = reduction(call, x.meta["val"].dim())
        if math.prod(x.meta["val"].shape[d] for d in dims) <= _correction(call):
            return "it divides by the number of values less the correction, 0", "correction=0"
        return None

    def emit(self, call: Call) -> Node:
        node, _ = taken_from(call.node)
        _, _, count = _dims(call)
        divisor = count * (count - _correction(node))
        return _second_moment(call, divisor, centered=True, root=node.target in (_STD, _STD_MEAN))


def _correction(node: Node) -> float:
    correction = argument(node, "correction")
    return 1.0 if correction is None else float(correction)


class VectorNorm(UnaryRule):
    """The Euclidean norm; sums, and the largest, of absolute values. Other norms are compositions
    (aot/passes/aten/decompositions/rare_ops.py).
    """

    def op(self, node: Node) -> Op:
        order = float(argument(node, "ord"))
        return {2.0: second_moment, 1.0: mean, math.inf: amax, -math.inf: amin}[order]

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        order, of = float(argument(call.node, "ord")), quantization_of(x)
        if order == 2.0:
            return _second_moment(call, 1.0, centered=False, root=True)
        # Summands are not rounded: int8 holds 0 to 255 steps.
        steps = of if of.type is INT16 else Quantization(of.scale, -128)
        absolute = steps if order == 1.0 else call.output
        table = call.constant("table", table_of(torch.abs, of, absolute))
        x = call.emit(lut, x, table, edge=Edge(absolute))
        dims, keepdim, _ = _dims(call)
        if order == 1.0:
            return sum_over(call, x, dims, keepdim, 1)
        return call.emit(self.op(call.node), x, dims, keepdim)


class LogSumExp(UnaryRule):
    def op(self, node: Node) -> Op:
        return logsumexp

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        dims, keepdim, count = _dims(call)
        of = quantization_of(x)
        scale = max(call.output.scale, of.scale * _FINEST_OF_INPUT, _FINEST_LOGARITHM)
        result = replace(call.output, scale=scale) if of.type is INT8 else call.output
        table, bits, factors = log_constants(of, result, count)
        exp_table = call.constant("exp_table", table)
        zero_points = (of.zero_point, result.zero_point)
        arguments = (exp_table, dims, keepdim, zero_points[0], bits, *factors, zero_points[1])
        sums = call.emit(logsumexp, x, *arguments, edge=Edge(result))
        return requantized(call, sums, call.output)


class CumSum(UnaryRule):
    def op(self, node: Node) -> Op:
        return cumsum

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        dim = int(argument(call.node, "dim")) % len(shape_of(x))
        of = quantization_of(x)
        bits = guard_bits(shape_of(x)[dim], of.type.dtype)
        factor = sums_multiplier(of.scale / call.output.scale / 2**bits, of.type.dtype)
        return call.emit(cumsum, x, dim, bits, of.zero_point, call.output.zero_point, *factor)


FAMILY = Family(
    {
        **dict.fromkeys((*_AMAX, *_AMIN), Extreme()),
        **dict.fromkeys((_VAR, _STD), Deviation()),
        _NORM: VectorNorm(),
        _LOGSUMEXP: LogSumExp(),
        _CUMSUM: CumSum(),
    },
    kept=(_STD, _STD_MEAN, _LOGSUMEXP),
    results=dict.fromkeys((_VAR_MEAN, _STD_MEAN), (Deviation(), Mean())),
)
