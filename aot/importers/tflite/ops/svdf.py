# SPDX-License-Identifier: Apache-2.0
"""SVDF: pl::svdf for a state of int16. With a state of int8 it is a matrix product of each frame,
and a convolution over the last frames.

The kept state has memory - 1 frames, without the frame that a run shifts out.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from ethosu.vela.tflite.SVDFOptions import SVDFOptions
from torch.fx import Node

from aot.dialect.graph import NHWC, Edge, shape_of
from aot.dialect.quantization import INT8, INT16, Quantization
from aot.importers.tflite.arithmetic import quantize_multiplier
from aot.importers.tflite.call import OperatorCall, Unsupported, edge_for
from aot.importers.tflite.weights import bias_of, factors, weight_of
from kernels.cat.op import cat
from kernels.conv2d.op import conv2d
from kernels.depthwise_conv2d.op import depthwise_conv2d
from kernels.linear.op import linear
from kernels.strided_copy.op_slice import slice as pl_slice
from kernels.svdf.op import svdf as pl_svdf

_STATE = 4


@dataclass(frozen=True)
class _Filters:
    """Arguments of a call.

    Attributes:
      features: int8 [F, I].
      time: [F, M], of the state's type.
      bias: int32 [U].
      state: its name and quantization.
      factors: of the sums over a frame, and over time.
    """

    features: torch.Tensor
    time: torch.Tensor
    bias: torch.Tensor
    state: tuple[str, Quantization]
    factors: tuple[float, float]


def svdf(call: OperatorCall) -> Node:
    filters = _filters(call)
    wide = filters.state[1].type is INT16
    return _of_int16_state(call, filters) if wide else _of_int8_state(call, filters)


def _filters(call: OperatorCall) -> _Filters:
    x, state, rank = call.value(0), call.tensor(_STATE), call.options(SVDFOptions).Rank()
    of, out, kept = call.of(x), call.quantization, call.quantized(edge_for(state).quantization)
    features = weight_of(call, 1, rank=2)
    time = weight_of(call, 2, rank=2, type="INT16" if kept.type is INT16 else "INT8")
    filters, memory = time.shape
    if of.type is not INT8 or out.type is not INT8:
        raise Unsupported("int16 is not supported here; int8 is")
    if len(call.tensor(1).scales) != 1 or len(call.tensor(2).scales) != 1:
        raise Unsupported("its weights must have one scale, not one per channel")
    if rank < 1 or features.shape[0] != filters or filters % rank != 0 or memory < 2:
        raise Unsupported(
            f"rank {rank}, weights {list(features.shape)} and {list(time.shape)}: at least two "
            "frames, and filters in groups of the rank"
        )
    if not state.is_variable or len(shape_of(x)) != 2 or shape_of(x)[1] != features.shape[1]:
        raise Unsupported(
            f"its input is {list(shape_of(x))}, which does not fit, or its state is not a variable"
        )
    return _Filters(
        features,
        time,
        bias_of(call, 3, filters // rank, of),
        (state.name or f"state {state.index}", kept),
        (
            of.scale * call.tensor(1).scales[0] / kept.scale,
            kept.scale * call.tensor(2).scales[0] / out.scale,
        ),
    )


def _of_int16_state(call: OperatorCall, filters: _Filters) -> Node:
    x, (name, kept) = call.value(0), filters.state
    count, memory = filters.time.shape
    initial = torch.zeros((shape_of(x)[0], count, memory - 1), dtype=torch.int16)
    old = call.persistent(name, initial, Edge(kept))
    both = call.emit(
        pl_svdf,
        x,
        old,
        call.constant("weight", filters.features),
        *quantize_multiplier(filters.factors[0]),
        call.constant("time", filters.time),
        call.constant("bias", filters.bias),
        *quantize_multiplier(filters.factors[1]),
        call.of(x).zero_point,
        call.quantization.zero_point,
        edge=Edge(),
    )
    y, new = (
        call.builder.result(both, index, edge=edge, origin=call.origin)
        for index, edge in enumerate((call.edge, Edge(kept)))
    )
    call.update(old, new)
    return y


def _of_int8_state(call: OperatorCall, filters: _Filters) -> Node:
    x, (name, kept), time = call.value(0), filters.state, filters.time
    (count, memory), units = time.shape, len(filters.bias)
    batch, rank, edge = shape_of(x)[0], count // units, Edge(kept, NHWC)
    column = call.emit(
        linear,
        x,
        call.constant("weight", filters.features),
        call.constant("bias", torch.zeros(count, dtype=torch.int32)),
        *_factors(call, filters.factors[0], count),
        call.of(x).zero_point,
        kept.zero_point,
        kept.type.quant_min,
        kept.type.quant_max,
        edge=Edge(kept),
    )
    shape = (batch, memory - 1, 1, count)
    old = call.persistent(name, torch.full(shape, kept.zero_point, dtype=torch.int8), edge)
    frame = call.reshaped(column, (batch, 1, 1, count))
    window = call.emit(cat, [old, frame], 1, edge=edge)
    call.update(old, call.emit(pl_slice, window, 1, 1, memory, 1, edge=edge))
    constants = call.constant("bias", filters.bias), *_factors(call, filters.factors[1], units)
    out = call.quantization
    tail = kept.zero_point, out.zero_point, out.type.quant_min, out.type.quant_max
    image = Edge(out, NHWC)
    steps = [1, 1], [0, 0, 0, 0], [1, 1]
    if rank == 1:
        weight = call.constant("time", time.T.reshape(memory, 1, count))
        result = call.emit(depthwise_conv2d, window, weight, *constants, *steps, *tail, edge=image)
    else:
        by_unit = time.reshape(units, rank, memory, 1).permute(0, 2, 3, 1)
        weight = call.constant("time", by_unit)
        result = call.emit(conv2d, window, weight, *constants, *steps, units, *tail, edge=image)
    return call.reshaped(result, (batch, units))


def _factors(call: OperatorCall, real: float, channels: int) -> list[Node]:
    multiplier, shift = factors([real] * channels, torch.int8)
    return [call.constant("multiplier", multiplier), call.constant("shift", shift)]
