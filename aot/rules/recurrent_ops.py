# SPDX-License-Identifier: Apache-2.0
"""torch.ops.recurrent.lstm, gru and rnn: float ops of one layer in one direction.

aot/passes/aten/recurrent/split_recurrent.py makes them from torch's LSTM, GRU, RNN and cells. They
also return the states after every step, so calibration observes their ranges.
torch.ops.recurrent.convert stands between states and the values of other ops
(aot/passes/aten/recurrent/recurrent_states.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

_ARGUMENTS = (
    "Tensor input_weight, Tensor hidden_weight, Tensor? input_bias, Tensor? hidden_bias, "
    "bool reverse, bool batch_first"
)
_LIBRARY = torch.library.Library("recurrent", "DEF")
_LIBRARY.define("convert(Tensor input) -> Tensor")
_LIBRARY.define(
    f"lstm(Tensor input, Tensor hidden, Tensor cell, {_ARGUMENTS}) -> "
    "(Tensor output, Tensor last_hidden, Tensor last_cell, Tensor hiddens, Tensor cells)"
)
_LIBRARY.define(
    f"gru(Tensor input, Tensor hidden, {_ARGUMENTS}) -> "
    "(Tensor output, Tensor last_hidden, Tensor hiddens)"
)
_LIBRARY.define(
    f"rnn(Tensor input, Tensor hidden, {_ARGUMENTS}, bool relu) -> "
    "(Tensor output, Tensor last_hidden, Tensor hiddens)"
)

States = tuple[torch.Tensor, ...]


def _run(
    input: torch.Tensor,
    states: States,
    step: Callable[[torch.Tensor, States], States],
    reverse: bool,
    batch_first: bool,
) -> States:
    """Return the output, in the input's order; the last states; all states of each.

    Args:
      input: [T, N, I], or [N, T, I] if batch_first.
      states: each [N, H], the hidden state first.
      step: gives the next states.
      reverse: the last value of the sequence is the first to be taken.
      batch_first: see input.
    """
    sequence = input.transpose(0, 1) if batch_first else input
    all_states = []
    for x in sequence.flip(0) if reverse else sequence:
        states = step(x, states)
        all_states.append(states)
    columns = [torch.stack(column) for column in zip(*all_states, strict=True)]
    output = columns[0].flip(0) if reverse else columns[0].clone()
    if batch_first:
        output = output.transpose(0, 1).contiguous()
    return output, *(state.clone() for state in states), *columns


@torch.library.impl(_LIBRARY, "lstm", "CPU")
def _lstm(
    input: torch.Tensor,
    hidden: torch.Tensor,
    cell: torch.Tensor,
    input_weight: torch.Tensor,
    hidden_weight: torch.Tensor,
    input_bias: torch.Tensor | None,
    hidden_bias: torch.Tensor | None,
    reverse: bool,
    batch_first: bool,
) -> States:
    def step(x: torch.Tensor, states: States) -> States:
        h, c = states
        a = functional.linear(x, input_weight, input_bias)
        gates = a + functional.linear(h, hidden_weight, hidden_bias)
        i, f, g, o = gates.chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    return _run(input, (hidden, cell), step, reverse, batch_first)


@torch.library.impl(_LIBRARY, "gru", "CPU")
def _gru(
    input: torch.Tensor,
    hidden: torch.Tensor,
    input_weight: torch.Tensor,
    hidden_weight: torch.Tensor,
    input_bias: torch.Tensor | None,
    hidden_bias: torch.Tensor | None,
    reverse: bool,
    batch_first: bool,
) -> States:
    def step(x: torch.Tensor, states: States) -> States:
        (h,) = states
        a = functional.linear(x, input_weight, input_bias).chunk(3, 1)
        b = functional.linear(h, hidden_weight, hidden_bias).chunk(3, 1)
        r, z = torch.sigmoid(a[0] + b[0]), torch.sigmoid(a[1] + b[1])
        n = torch.tanh(a[2] + r * b[2])
        return (n + z * (h - n),)

    return _run(input, (hidden,), step, reverse, batch_first)


@torch.library.impl(_LIBRARY, "rnn", "CPU")
def _rnn(
    input: torch.Tensor,
    hidden: torch.Tensor,
    input_weight: torch.Tensor,
    hidden_weight: torch.Tensor,
    input_bias: torch.Tensor | None,
    hidden_bias: torch.Tensor | None,
    reverse: bool,
    batch_first: bool,
    relu: bool,
) -> States:
    function = torch.relu if relu else torch.tanh

    def step(x: torch.Tensor, states: States) -> States:
        a = functional.linear(x, input_weight, input_bias)
        return (function(a + functional.linear(states[0], hidden_weight, hidden_bias)),)

    return _run(input, (hidden,), step, reverse, batch_first)


def _shapes(states: int) -> Callable[..., States]:
    def empty(input: torch.Tensor, *arguments: Any) -> States:
        hidden, batch_first = arguments[0], arguments[states + 5]
        steps = input.shape[int(batch_first)]
        output = input.new_empty(*input.shape[:2], hidden.shape[1])
        last = [torch.empty_like(state) for state in arguments[:states]]
        return output, *last, *(state.new_empty(steps, *state.shape) for state in last)

    return empty


_LIBRARY.impl("lstm", _shapes(2), "Meta")
_LIBRARY.impl("gru", _shapes(1), "Meta")
_LIBRARY.impl("rnn", _shapes(1), "Meta")

_LIBRARY.impl("convert", torch.clone, "CompositeExplicitAutograd")

LSTM = torch.ops.recurrent.lstm.default
GRU = torch.ops.recurrent.gru.default
RNN = torch.ops.recurrent.rnn.default
OPS = (LSTM, GRU, RNN)
CONVERT = torch.ops.recurrent.convert.default
"""Converts a state to a value for other ops, or a value to a state."""
