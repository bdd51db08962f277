# SPDX-License-Identifier: Apache-2.0
"""FULLY_CONNECTED; where weights are computed, or have a zero point, a product of matrices."""

from __future__ import annotations

import math
from typing import Any

from ethosu.vela.tflite.FullyConnectedOptions import FullyConnectedOptions
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.importers.tflite.arithmetic import activation_range, float32, sums_multiplier
from aot.importers.tflite.call import OperatorCall, Unsupported
from aot.importers.tflite.weights import (
    bias_of,
    factors,
    has_narrow_bias,
    per_channel,
    weight_of,
)
from kernels.bmm.op import bmm
from kernels.linear.op import linear


def fully_connected(call: OperatorCall) -> Node:
    """Convert the op. An input of any shape is read as rows with the weights' number of columns."""
    options = call.options(FullyConnectedOptions)
    if options.WeightsFormat() != 0:
        raise Unsupported("shuffled weights are not supported")
    product = not call.is_constant(1) or any(call.tensor(1).zero_points)
    units, rows = _rows(call)
    result = _product(call, rows, options) if product else _layer(call, rows, options)
    wanted, shape = call.output.shape, (*shape_of(rows)[:-1], units)
    return call.reshaped(result, wanted) if math.prod(wanted) == math.prod(shape) else result


def _rows(call: OperatorCall) -> tuple[int, Node]:
    """Return the number of units, and the input as rows for them."""
    x, weights = call.value(0), call.tensor(1).shape
    if len(weights) != 2:
        raise Unsupported(f"its weights have {len(weights)} dimensions; 2 are needed")
    units, depth = weights
    elements = math.prod(shape_of(x))
    if depth == 0 or elements % depth != 0:
        raise Unsupported(f"weights {list(weights)} do not fit the input {list(shape_of(x))}")
    whole = shape_of(x)[-1:] == (depth,)
    return units, x if whole else call.reshaped(x, [elements // depth, depth])


def _layer(call: OperatorCall, x: Node, options: Any) -> Node:
    weight = weight_of(call, 1, rank=2)
    of, out, units = call.of(x), call.quantization, weight.shape[0]
    scales = per_channel(call, 1, units, axis=0)
    if len(call.tensor(1).scales) == 1:
        # TFLite multiplies the two in float32 here, and in float64 per channel.
        reals = [float32(of.scale * scales[0]) / out.scale] * units
    else:
        reals = [of.scale * scale / out.scale for scale in scales]
    multiplier, shift = factors(reals, of.type.dtype)
    result = call.emit(
        linear,
        x,
        call.constant("weight", weight),
        call.constant("bias", bias_of(call, 2, units, of)),
        call.constant("multiplier", multiplier),
        call.constant("shift", shift),
        of.zero_point,
        out.zero_point,
        *activation_range(call.activation(options), out),
        edge=call.edge,
    )
    if has_narrow_bias(call, 2, of):
        call.differs(result, "bias of int32")
    return result


def _product(call: OperatorCall, x: Node, options: Any) -> Node:
    weights, of, out = call.value(1), call.of(x), call.quantization
    of_weights = call.of(weights)
    if call.has(2) or of.type is not of_weights.type:
        raise Unsupported(
            "computed weights, and weights with a zero point, support no bias and no int16"
        )
    real = float32(of.scale * of_weights.scale) / out.scale
    if len(shape_of(x)) == 1:
        x = call.reshaped(x, [1, *shape_of(x)])
    return call.emit(
        bmm,
        x,
        weights,
        True,
        [],
        [],
        of.zero_point,
        of_weights.zero_point,
        out.zero_point,
        *sums_multiplier(real, of.type.dtype),
        *activation_range(call.activation(options), out),
        edge=call.edge,
    )
