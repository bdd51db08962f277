# SPDX-License-Identifier: Apache-2.0
"""SVDF with an int8 state: a matrix product of each frame, and a convolution over the last ones."""

from __future__ import annotations

import torch
from ethosu.vela.tflite.SVDFOptions import SVDFOptions
from torch.fx import Node

from aot.dialect.graph import NHWC, Edge, shape_of
from aot.dialect.ops.cat import cat
from aot.dialect.ops.conv2d import conv2d
from aot.dialect.ops.depthwise_conv2d import depthwise_conv2d
from aot.dialect.ops.linear import linear
from aot.dialect.ops.slice import slice as pl_slice
from aot.dialect.quantization import INT8
from aot.importers.tflite.arithmetic import float32
from aot.importers.tflite.call import Call, Unsupported, edge_for
from aot.importers.tflite.weights import bias_of, factors, weight_of

_STATE = 4


def svdf(call: Call) -> Node:
    """The state that is kept is [N, memory - 1, 1, filters]: what a run shifts out is not."""
    x, state, rank = call.value(0), call.tensor(_STATE), call.options(SVDFOptions).Rank()
    features, time = weight_of(call, 1, rank=2), weight_of(call, 2, rank=2)
    of, kept = call.of(x), call.quantized(edge_for(state).quantization)
    filters, memory = time.shape
    if of.type is not INT8 or kept.type is not INT8:
        raise Unsupported("a state of int16; one of int8 can be")
    if len(call.tensor(1).scales) != 1 or len(call.tensor(2).scales) != 1:
        raise Unsupported("scales by channel")
    if rank < 1 or features.shape[0] != filters or filters % rank != 0 or memory < 2:
        raise Unsupported(
            f"rank {rank}, weights {list(features.shape)} and {list(time.shape)}: at least two "
            "frames, and filters in groups of the rank"
        )
    if not state.is_variable or len(shape_of(x)) != 2 or shape_of(x)[1] != features.shape[1]:
        raise Unsupported(f"an input {list(shape_of(x))}, or a state that is no variable")
    batch, edge = shape_of(x)[0], Edge(kept, NHWC)
    # In float32, step by step, as TFLite's expressions have it.
    first = float32(float32(of.scale * call.tensor(1).scales[0]) / kept.scale)
    second = float32(float32(kept.scale * call.tensor(2).scales[0]) / call.quantization.scale)
    column = call.emit(
        linear,
        x,
        call.constant("weight", features),
        call.constant("bias", torch.zeros(filters, dtype=torch.int32)),
        *_factors(call, first, filters),
        of.zero_point,
        kept.zero_point,
        kept.type.quant_min,
        kept.type.quant_max,
        edge=Edge(kept),
    )
    shape = (batch, memory - 1, 1, filters)
    initial = torch.full(shape, kept.zero_point, dtype=torch.int8)
    old = call.persistent(state.name or f"state {state.index}", initial, edge)
    frame = call.reshaped(column, (batch, 1, 1, filters))
    window = call.emit(cat, [old, frame], 1, edge=edge)
    call.update(old, call.emit(pl_slice, window, 1, 1, memory, 1, edge=edge))
    units = filters // rank
    constants = [
        call.constant("bias", bias_of(call, 3, units, of)),
        *_factors(call, second, units),
    ]
    out = call.quantization
    tail = kept.zero_point, out.zero_point, out.type.quant_min, out.type.quant_max
    image = Edge(out, NHWC)
    steps = [1, 1], [0, 0, 0, 0], [1, 1]
    if rank == 1:
        weight = call.constant("time", time.T.reshape(memory, 1, filters))
        result = call.emit(depthwise_conv2d, window, weight, *constants, *steps, *tail, edge=image)
    else:
        by_unit = time.reshape(units, rank, memory, 1).permute(0, 2, 3, 1)
        weight = call.constant("time", by_unit)
        result = call.emit(conv2d, window, weight, *constants, *steps, units, *tail, edge=image)
    return call.reshaped(result, (batch, units))


def _factors(call: Call, real: float, channels: int) -> list[Node]:
    multiplier, shift = factors([real] * channels, torch.int8)
    return [call.constant("multiplier", multiplier), call.constant("shift", shift)]
