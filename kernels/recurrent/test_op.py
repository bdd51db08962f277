# SPDX-License-Identifier: Apache-2.0
"""The recurrent ops against exact arithmetic: their functions, and whole sequences."""

from __future__ import annotations

import math

import pytest
import torch

from aot.dialect.arithmetic import quantize_multiplier
from aot.dialect.recurrence import FRACTION_BITS, gate_table, sigmoid, tanh
from kernels.recurrent.op import NO_CELL_LIMIT, gru, lstm, rnn

UNITS, STEPS = 6, 256
X_SCALE, W_SCALE, BITS = 2.0**-6, 2.0**-7, 15
GATES = {"lstm": 4, "gru": 3, "rnn": 1}
MORE: dict[str, list[object]] = {"lstm": [11, NO_CELL_LIMIT], "gru": [], "rnn": [False]}
OPS = {"lstm": lstm, "gru": gru, "rnn": rnn}


def test_sigmoid_and_tanh_are_as_exact_as_they_say() -> None:
    x = torch.arange(-13 << FRACTION_BITS, 13 << FRACTION_BITS)
    exact = (x.double() / 2**FRACTION_BITS).sigmoid(), (x.double() / 2**FRACTION_BITS).tanh()
    values = sigmoid(x, gate_table()).double() / 2**16, tanh(x, gate_table()).double() / 2**15
    for value, wanted, bound in zip(values, exact, (2.5e-5, 5e-5), strict=True):
        assert float((value - wanted).abs().max()) <= bound
        assert bool((value.diff() >= 0).all())
    assert torch.equal(tanh(-x, gate_table()), -tanh(x, gate_table()))


def _sequence(op: str, bias: float = 0.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the hidden state after STEPS steps, in the op's integers and in float64.

    Weights and inputs are the integers' real values. bias belongs to every gate except the last.
    """
    random = torch.Generator().manual_seed(1)

    def int8(*shape: int) -> torch.Tensor:
        return torch.randint(-100, 101, shape, generator=random, dtype=torch.int8)

    rows = GATES[op] * UNITS
    x, w, u = int8(STEPS, 2, 4), int8(rows, 4), int8(rows, UNITS)
    b = torch.full((rows,), bias)
    b[-UNITS:] = 0.0
    state = torch.zeros(2, UNITS, dtype=torch.int16)

    def factors(scale: float) -> list[torch.Tensor]:
        pair = quantize_multiplier(scale * W_SCALE * 2**FRACTION_BITS)
        return [torch.full((rows,), value, dtype=torch.int32) for value in pair]

    results = OPS[op].reference(
        x,
        *[state] * (2 if op == "lstm" else 1),
        w,
        (b / (X_SCALE * W_SCALE)).to(torch.int32),
        *factors(X_SCALE),
        u,
        *([torch.zeros(UNITS, dtype=torch.int32)] if op == "gru" else []),
        *factors(2.0**-BITS),
        gate_table(),
        0,
        BITS,
        *MORE[op],
        *quantize_multiplier(2.0**-8),
        0,
        False,
        False,
    )
    h = c = torch.zeros(2, UNITS, dtype=torch.float64)
    for step in x.double() * X_SCALE:
        a = (step @ w.double().T * W_SCALE + b).chunk(GATES[op], 1)
        v = (h @ u.double().T * W_SCALE).chunk(GATES[op], 1)
        if op == "lstm":
            i, f, g, o = (p + q for p, q in zip(a, v, strict=True))
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        elif op == "gru":
            r, z = (a[0] + v[0]).sigmoid(), (a[1] + v[1]).sigmoid()
            n = (a[2] + r * v[2]).tanh()
            h = n + z * (h - n)
        else:
            h = (a[0] + v[0]).tanh()
    return results[1].double() * 2.0**-BITS, h


@pytest.mark.parametrize("op", GATES)
def test_a_long_sequence_stays_within_a_tenth_of_an_int8_step(op: str) -> None:
    ours, exact = _sequence(op)
    assert float(exact.abs().max()) > 0.3
    assert float((ours - exact).abs().max()) <= 0.1 / 128


def test_a_state_that_changes_by_less_than_an_int8_step_a_time_does_change() -> None:
    """A step with gates at 0.998 changes a GRU's state by less than 1/256: an int8 state would not
    change.
    """
    ours, exact = _sequence("gru", bias=6.0)
    assert float(exact.abs().max()) > 0.05
    assert float((ours - exact).abs().max()) <= 0.5 / 128


def test_the_table_is_of_the_size_that_kernels_know() -> None:
    assert gate_table().shape == (385,)
    assert gate_table()[32] == round(2**16 * (1 / (1 + math.exp(-1.0)) - 0.5))
