# SPDX-License-Identifier: Apache-2.0
"""Import of MEAN, SUM, REDUCE_MAX, REDUCE_MIN and ARG_MAX."""

from __future__ import annotations

import math

from ethosu.vela.tflite.ArgMaxOptions import ArgMaxOptions
from ethosu.vela.tflite.ReducerOptions import ReducerOptions
from torch.fx import Node

from aot.dialect.graph import Edge, shape_of
from aot.dialect.library import Op
from aot.importers.tflite.arithmetic import mean_multiplier
from aot.importers.tflite.call import OperatorCall, Unsupported, named
from kernels.max_with_indices.op import max_with_indices
from kernels.mean.op import mean as pl_mean
from kernels.reduce.op_extremes import amax, amin


def mean(call: OperatorCall) -> Node:
    return _sum(call, divided=True)


def sum(call: OperatorCall) -> Node:
    return _sum(call, divided=False)


def _sum(call: OperatorCall, divided: bool) -> Node:
    x, (dim, keepdim) = call.value(0), _dimensions(call)
    of, out = call.of(x), call.quantization
    count = math.prod(shape_of(x)[d] for d in dim) if divided else 1
    multiplier, shift = mean_multiplier(of.scale / out.scale, count)
    return call.emit(
        pl_mean,
        x,
        dim,
        keepdim,
        of.zero_point,
        out.zero_point,
        multiplier,
        shift,
        edge=call.edge,
    )


def reduce_max(call: OperatorCall) -> Node:
    return _extreme(call, amax)


def reduce_min(call: OperatorCall) -> Node:
    return _extreme(call, amin)


def _extreme(call: OperatorCall, op: Op) -> Node:
    x, (dim, keepdim) = call.value(0), _dimensions(call)
    call.same_quantization(x)
    return call.emit(op, x, dim, keepdim, edge=call.edge)


def _dimensions(call: OperatorCall) -> tuple[list[int], bool]:
    rank = len(shape_of(call.value(0)))
    dim = sorted({call.axis(axis, rank) for axis in call.integers(1)})
    if not dim:
        raise Unsupported("reduces no dimension")
    return dim, bool(call.options(ReducerOptions).KeepDims())


def arg_max(call: OperatorCall) -> Node:
    x = call.value(0)
    call.of(x)
    (axis,) = call.integers(1) if call.tensor(1).shape in ((), (1,)) else (None,)
    if axis is None or not call.has_options(ArgMaxOptions):
        raise Unsupported("it reduces more than one dimension; one is supported")
    if call.output.type != "INT32":
        raise Unsupported(f"{named(call.output)} is {call.output.type}; indices must be INT32")
    dim = call.axis(axis, len(shape_of(x)))
    both = call.emit(max_with_indices, x, dim, False, edge=Edge())
    return call.builder.result(both, 1, edge=call.edge, origin=call.origin)
