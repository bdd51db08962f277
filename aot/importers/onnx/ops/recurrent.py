# SPDX-License-Identifier: Apache-2.0
"""LSTM and GRU, as torch's own layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from aot.importers.onnx.call import NodeCall, UnsupportedNode
from aot.importers.onnx.registry import layer

_LENGTHS, _HIDDEN, _CELL, _PEEPHOLES = 4, 5, 6, 7


class Recurrent(nn.Module):
    """A recurrent layer over a sequence [T, N, I].

    Args:
      cell: torch's layer.
      reverses: run from the end.
      states: which of hidden and cell state are computed inputs.
      initial: constant states by place; None for zeros or a computed one.
      lengths: of the sequences; None: the whole input.
    """

    def __init__(
        self,
        cell: nn.LSTM | nn.GRU,
        reverses: bool,
        states: list[bool],
        initial: list[Tensor | None],
        lengths: list[int] | None,
    ) -> None:
        super().__init__()
        self.cell = cell
        self._reverses = reverses
        self._states = states
        self._lengths = lengths
        for place, value in enumerate(initial):
            self.register_buffer(f"initial_{place}", value)

    def forward(self, x: Tensor, *given: Tensor) -> tuple[Tensor, ...]:
        if self._lengths is not None and {*self._lengths} != {x.shape[0]}:
            raise UnsupportedNode(
                f"sequence lengths {self._lengths} in an input of {x.shape[0]} steps"
            )
        directions = 2 if self.cell.bidirectional else 1
        size = self.cell.hidden_size
        computed = iter(given)
        states = []
        for place, is_computed in enumerate(self._states):
            constant = getattr(self, f"initial_{place}")
            state = next(computed) if is_computed else constant
            states.append(x.new_zeros(directions, x.shape[1], size) if state is None else state)
        x = x.flip(0) if self._reverses else x
        if isinstance(self.cell, nn.LSTM):
            y, last = self.cell(x, (states[0], states[1]))
        else:
            y, hidden = self.cell(x, states[0])
            last = (hidden,)
        y = y.flip(0) if self._reverses else y
        if directions == 1:
            return (y.unsqueeze(1), *last)
        return (y.reshape(*x.shape[:2], directions, size).permute(0, 2, 1, 3), *last)


@layer("LSTM")
def lstm(call: NodeCall) -> nn.Module:
    """Constant weights; default activations; no peepholes, `clip` or `layout`; sequences
    of full length."""
    _check(call, ["sigmoid", "tanh", "tanh"])
    return _made(call, nn.LSTM, [0, 2, 3, 1], [_HIDDEN, _CELL])


@layer("GRU")
def gru(call: NodeCall) -> nn.Module:
    """Like LSTM, with `linear_before_reset`, as torch exports it."""
    if not call.attribute("linear_before_reset", 0):
        raise UnsupportedNode("linear_before_reset 0; torch's GRU has 1")
    _check(call, ["sigmoid", "tanh"])
    return _made(call, nn.GRU, [1, 0, 2], [_HIDDEN])


def _check(call: NodeCall, activations: list[str]) -> None:
    given = call.optional("activations")
    names = [str(name).lower() for name in given or activations]
    if names != activations * (len(names) // len(activations)):
        raise UnsupportedNode(f"activations {given}")
    for name in ("clip", "layout", "input_forget", "activation_alpha", "activation_beta"):
        if call.optional(name):
            raise UnsupportedNode(f"attribute {name}")
    if call.is_constant(0):
        raise UnsupportedNode("a constant sequence")
    if call.has(_PEEPHOLES):
        raise UnsupportedNode("peepholes")


def _made(
    call: NodeCall, kind: type[nn.LSTM] | type[nn.GRU], order: list[int], states: list[int]
) -> nn.Module:
    inputs, recurrent = call.constants[1:3]
    bias = call.constants[3] if len(call.constants) > 3 else None
    if inputs is None or recurrent is None or (call.has(3) and bias is None):
        raise UnsupportedNode("weights that the model computes")
    direction = call.attribute("direction", "forward")
    directions = 2 if direction == "bidirectional" else 1
    size, gates = recurrent.shape[-1], len(order)
    if inputs.shape[:2] != recurrent.shape[:2] or inputs.shape[:2] != (directions, gates * size):
        raise UnsupportedNode(f"weights {[*inputs.shape]} and {[*recurrent.shape]}")
    if bias is None:
        bias = torch.zeros(directions, 2 * gates * size)
    cell = kind(inputs.shape[2], size, bidirectional=directions == 2)
    for place in range(directions):
        suffix = "l0_reverse" if place else "l0"
        of_inputs, of_state = bias[place].chunk(2)
        for name, value in {
            "weight_ih": inputs[place],
            "weight_hh": recurrent[place],
            "bias_ih": of_inputs,
            "bias_hh": of_state,
        }.items():
            parts = value.chunk(gates)
            ordered = torch.cat([parts[i] for i in order])
            getattr(cell, f"{name}_{suffix}").data.copy_(ordered)
    computed = [call.has(i) and not call.is_constant(i) for i in states]
    initial = [call.constants[i] if i < len(call.constants) else None for i in states]
    lengths = call.ints(_LENGTHS) if call.has(_LENGTHS) else None
    return Recurrent(cell, direction == "reverse", computed, initial, lengths)
