# SPDX-License-Identifier: Apache-2.0
"""Lowering of recurrent.lstm, gru and rnn (aot/rules/recurrent_ops.py) to the dialect ops of the
same names, and of recurrent.convert to pl::requantize.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.arithmetic import quantize_multiplier
from aot.dialect.graph import Edge, quantization_of
from aot.dialect.library import Op
from aot.dialect.qdq import QUANTIZE, activation_quantization
from aot.dialect.quantization import Quantization
from aot.dialect.recurrence import FRACTION_BITS, STATE_BITS, gate_table
from aot.dialect.results import results_of, taken_from
from aot.dialect.rule import Call, Carries, Family, Observed, Output, UnaryRule, argument
from aot.rules import recurrent_ops
from aot.rules.conversion import converted
from aot.rules.weights import constant_of, quantize_weights
from kernels.quantize.op_requantize import requantize
from kernels.recurrent.op import NO_CELL_LIMIT, gru, lstm, rnn

_OPS: dict[object, Op] = {recurrent_ops.LSTM: lstm, recurrent_ops.GRU: gru, recurrent_ops.RNN: rnn}

_SPARE_BITS = 1


class _Result:
    """Rule for result `index` of a call. The first lowered result emits the call for all."""

    fuses_clamp: ClassVar[bool] = False

    def __init__(self, index: int, spare_bits: int = 0) -> None:
        self._index = index
        self._spare_bits = spare_bits

    @property
    def output(self) -> Output:
        return Carries(self._index, self._spare_bits) if self._index else Observed()

    def activations(self, node: Node) -> list[Node]:
        call = taken_from(node)[0]
        names = [a.name for a in call.target._schema.arguments]  # type: ignore[union-attr]
        return [argument(call, name) for name in names[: names.index("input_weight")]]

    def weights(self, node: Node) -> list[Node]:
        call = taken_from(node)[0]
        return [argument(call, name) for name in ("input_weight", "hidden_weight")]

    def op(self, node: Node) -> Op:
        return _OPS[taken_from(node)[0].target]

    def reject(self, node: Node) -> tuple[str, str] | None:
        return None

    def emit(self, call: Call) -> Node:
        source = taken_from(call.node)[0]
        made = next((u for u in call.inputs[0].users if u.meta.get("source") is source), None)
        if made is None:
            made = _emit(call, source)
            made.meta["source"] = source
        return call.result(made, self._index)


def _emit(call: Call, node: Node) -> Node:
    op = _OPS[node.target]
    x, *states = map(quantization_of, call.inputs)
    constants = _constants(call, node, x, states[0])
    output = _output_quantization(node)
    return call.emit(
        op,
        *call.inputs,
        *(call.constant(name, value) for name, value in constants.items()),
        x.zero_point,
        *(_fraction_bits(state) for state in states),
        *([NO_CELL_LIMIT] if op is lstm else []),
        *([bool(argument(node, "relu"))] if op is rnn else []),
        *quantize_multiplier(states[0].scale / output.scale),
        output.zero_point,
        bool(argument(node, "reverse")),
        bool(argument(node, "batch_first")),
        edge=Edge(),
    )


def _constants(
    call: Call, node: Node, x: Quantization, hidden: Quantization
) -> dict[str, torch.Tensor]:
    """Return the constants by argument of the dialect's op, in its order."""
    input_bias, hidden_bias = (
        constant_of(call.module, node, name) for name in ("input_bias", "hidden_bias")
    )
    of_sums = hidden_bias
    if node.target is recurrent_ops.GRU and hidden_bias is not None:
        # For n, the gate r scales the hidden state's part and its bias.
        of_sums = hidden_bias.clone()
        of_sums[2 * len(hidden_bias) // 3 :] = 0.0
        hidden_bias = hidden_bias - of_sums
    bias = None if input_bias is None or of_sums is None else input_bias + of_sums
    result = 2.0**-FRACTION_BITS
    inner = quantize_weights(call, argument(node, "input_weight"), bias, source=x, result=result)
    outer = quantize_weights(
        call, argument(node, "hidden_weight"), hidden_bias, source=hidden, result=result
    )
    constants = {
        "weight": inner.values,
        "bias": inner.bias,
        "multiplier": inner.multiplier,
        "shift": inner.shift,
        "hidden_weight": outer.values,
        "hidden_bias": outer.bias[2 * len(outer.bias) // 3 :],
        "hidden_multiplier": outer.multiplier,
        "hidden_shift": outer.shift,
        "table": gate_table(),
    }
    if node.target is not recurrent_ops.GRU:
        del constants["hidden_bias"]
    return constants


def _output_quantization(node: Node) -> Quantization:
    """Return the quantization of the first result; any quantization if it has no readers."""
    for result in results_of(node):
        for user in result.users if taken_from(result)[1] == 0 else ():
            if user.target is QUANTIZE:
                return activation_quantization(user)
    return Quantization(2.0**-7)


def _fraction_bits(state: Quantization) -> int:
    bits = round(-math.log2(state.scale))
    assert state.scale == 2.0**-bits and 0 <= bits <= STATE_BITS, state
    return bits


class Convert(UnaryRule):
    def op(self, node: Node) -> Op:
        return requantize

    def emit(self, call: Call) -> Node:
        return converted(call.builder, call.inputs[0], call.output, call.origin, call.node.name)


_OUTPUT = _Result(0)
_HIDDEN = _Result(1)  # an average of its old value and of values in [-1, 1]
_UNBOUNDED_HIDDEN = _Result(1, _SPARE_BITS)
_UNBOUNDED_CELL = _Result(2, _SPARE_BITS)

FAMILY = Family(
    {recurrent_ops.CONVERT: Convert()},
    results={
        recurrent_ops.LSTM: (_OUTPUT, _HIDDEN, _UNBOUNDED_CELL, _HIDDEN, _UNBOUNDED_CELL),
        recurrent_ops.GRU: (_OUTPUT, _HIDDEN, _HIDDEN),
        recurrent_ops.RNN: (_OUTPUT, _UNBOUNDED_HIDDEN, _UNBOUNDED_HIDDEN),
    },
)
