# SPDX-License-Identifier: Apache-2.0
"""FULLY_CONNECTED."""

from __future__ import annotations

import math

from ethosu.vela.tflite.FullyConnectedOptions import FullyConnectedOptions
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.dialect.ops.linear import linear
from aot.importers.tflite.arithmetic import activation_range, float32
from aot.importers.tflite.call import Call, Unsupported
from aot.importers.tflite.weights import bias_of, factors, per_channel, weight_of


def fully_connected(call: Call) -> Node:
    """The input's values are rows of as many as the weights have columns, whatever its shape."""
    options = call.options(FullyConnectedOptions)
    if options.WeightsFormat() != 0:
        raise Unsupported("shuffled weights")
    x, weight = call.value(0), weight_of(call, 1, rank=2)
    of, out = call.of(x), call.quantization
    units, depth = weight.shape
    elements = math.prod(shape_of(x))
    if depth == 0 or elements % depth != 0:
        raise Unsupported(f"weights {list(weight.shape)} for an input {list(shape_of(x))}")
    scales = per_channel(call, 1, units, axis=0)
    if len(call.tensor(1).scales) == 1:
        # TFLite multiplies the two in float32 here, and in float64 per channel.
        reals = [float32(of.scale * scales[0]) / out.scale] * units
    else:
        reals = [of.scale * scale / out.scale for scale in scales]
    multiplier, shift = factors(reals, of.type.dtype)
    rows = x if shape_of(x)[-1:] == (depth,) else call.reshaped(x, [elements // depth, depth])
    shape = (*shape_of(rows)[:-1], units)
    result = call.emit(
        linear,
        rows,
        call.constant("weight", weight),
        call.constant("bias", bias_of(call, 2, units, of)),
        call.constant("multiplier", multiplier),
        call.constant("shift", shift),
        of.zero_point,
        out.zero_point,
        *activation_range(call.activation(options), out),
        edge=call.edge,
    )
    wanted = call.output.shape
    return call.reshaped(result, wanted) if math.prod(wanted) == math.prod(shape) else result
