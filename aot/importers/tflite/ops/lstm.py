# SPDX-License-Identifier: Apache-2.0
"""UNIDIRECTIONAL_SEQUENCE_LSTM: pl::lstm; its hidden state keeps 16 bits between two steps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from ethosu.vela.tflite.ActivationFunctionType import ActivationFunctionType
from ethosu.vela.tflite.UnidirectionalSequenceLSTMOptions import UnidirectionalSequenceLSTMOptions
from torch.fx import Node

from aot.dialect.graph import Edge, shape_of
from aot.dialect.quantization import INT8, INT16, Quantization
from aot.dialect.recurrence import FRACTION_BITS, STATE_BITS, gate_table
from aot.importers.tflite.arithmetic import quantize_multiplier
from aot.importers.tflite.call import OperatorCall, Unsupported, edge_for, named
from aot.importers.tflite.weights import bias_of, factors, weight_of
from kernels.recurrent.op import NO_CELL_LIMIT
from kernels.recurrent.op import lstm as pl_lstm

_WEIGHTS, _HIDDEN_WEIGHTS, _BIASES = range(1, 5), range(5, 9), range(12, 16)
_OUTPUT_STATE, _CELL_STATE = 18, 19
_REFUSED = {9: "peepholes", 10: "peepholes", 11: "peepholes", 16: "a projection"}
_REFUSED |= dict.fromkeys(range(20, 24), "layer normalization")


def unidirectional_sequence_lstm(call: OperatorCall) -> Node:
    """Convert the op. Its gates have the order of pl::lstm: input, forget, cell, output."""
    options = call.options(UnidirectionalSequenceLSTMOptions)
    x, of, out = call.value(0), call.of(call.value(0)), call.quantization
    _check(call, options)
    weights = [weight_of(call, index, rank=2) for index in _WEIGHTS]
    hidden_weights = [weight_of(call, index, rank=2) for index in _HIDDEN_WEIGHTS]
    size = hidden_weights[0].shape[1]
    shapes = [tuple(w.shape) for w in (*weights, *hidden_weights)]
    if len(shape_of(x)) != 3 or shapes != [(size, shape_of(x)[2])] * 4 + [(size, size)] * 4:
        raise Unsupported(f"weights {shapes} do not fit the input {list(shape_of(x))}")
    bits, limit = _cell(call, options)
    batch = shape_of(x)[1 if options.TimeMajor() else 0]
    hidden, cell = (
        _state(call, index, (batch, size), places)
        for index, places in ((_OUTPUT_STATE, STATE_BITS), (_CELL_STATE, bits))
    )
    inner, outer = (
        _factors(call, places, size, source)
        for places, source in ((_WEIGHTS, of.scale), (_HIDDEN_WEIGHTS, 2.0**-STATE_BITS))
    )
    both = call.emit(
        pl_lstm,
        x,
        hidden,
        cell,
        call.constant("weight", torch.cat(weights)),
        call.constant("bias", torch.cat([bias_of(call, index, size, of) for index in _BIASES])),
        *inner,
        call.constant("hidden_weight", torch.cat(hidden_weights)),
        *outer,
        call.constant("table", gate_table()),
        of.zero_point,
        STATE_BITS,
        bits,
        limit,
        *quantize_multiplier(2.0**-STATE_BITS / out.scale),
        out.zero_point,
        False,
        not options.TimeMajor(),
        edge=Edge(),
    )
    edges = call.edge, hidden.meta["edge"], cell.meta["edge"]
    y, *new = (
        call.builder.result(both, index, edge=edge, origin=call.origin)
        for index, edge in enumerate(edges)
    )
    for old, value in zip((hidden, cell), new, strict=True):
        call.update(old, value)
    return y


def _check(call: OperatorCall, options: UnidirectionalSequenceLSTMOptions) -> None:
    for index, what in _REFUSED.items():
        if call.has(index):
            raise Unsupported(f"{what}, {named(call.tensor(index))}")
    missing = [i for i in (*_WEIGHTS, *_HIDDEN_WEIGHTS, *_BIASES) if not call.has(i)]
    if missing:
        raise Unsupported(f"input {missing[0]} is missing; all four gates need weights and biases")
    if options.FusedActivationFunction() != ActivationFunctionType.TANH:
        number = options.FusedActivationFunction()
        raise Unsupported(
            f"activation number {number} is not supported; it must be TANH "
            f"({ActivationFunctionType.TANH})"
        )
    if call.of(call.value(0)).type is not INT8 or call.quantization.type is not INT8:
        raise Unsupported("int16 is not supported here; int8 is")


def _cell(call: OperatorCall, options: UnidirectionalSequenceLSTMOptions) -> tuple[int, int]:
    """Return the bits of the cell's scale, a power of two, and its largest magnitude."""
    state = call.tensor(_CELL_STATE)
    of = call.quantized(edge_for(state).quantization)
    bits = -math.log2(of.scale)
    if of.type is not INT16 or bits not in range(STATE_BITS + 1):
        raise Unsupported(f"its cell state, {named(state)}, has scale {of.scale}, type {of.type}")
    clip = options.CellClip()
    limit = min(int(clip / of.scale), of.type.quant_max) if clip > 0.0 else NO_CELL_LIMIT
    return int(bits), limit


def _state(call: OperatorCall, index: int, shape: tuple[int, int], bits: int) -> Node:
    state = call.tensor(index)
    if not state.is_variable or state.shape != shape:
        raise Unsupported(f"its state, {named(state)}, must be a variable of shape {list(shape)}")
    edge = Edge(Quantization(2.0**-bits, 0, INT16))
    initial = torch.zeros(shape, dtype=torch.int16)
    return call.persistent(state.name or f"state {state.index}", initial, edge)


def _factors(call: OperatorCall, places: Sequence[int], size: int, source: float) -> list[Node]:
    """Return multiplier and shift from the sums of all gates to FRACTION_BITS."""
    reals = []
    for index in places:
        scales = call.tensor(index).scales
        if len(scales) != 1:
            raise Unsupported(
                f"its weights, {named(call.tensor(index))}, must have one scale, not one per "
                "channel"
            )
        reals += [source * scales[0] * 2.0**FRACTION_BITS] * size
    multiplier, shift = factors(reals, torch.int8)
    return [call.constant("multiplier", multiplier), call.constant("shift", shift)]
