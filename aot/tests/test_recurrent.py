# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers from end to end: a stream is the whole sequence to the bit, and both are close
to float.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest
import torch
from torch import nn

from aot.dialect.graph import calls, dialect_op, tensor_constant
from aot.lower import Lowered, lower
from aot.options import Io, Measure, Quantize
from aot.testing.fixtures import op_counts

X, H, STEPS = 5, 8, 48
KINDS = ("LSTM", "GRU", "RNN")
SQNR = 32.0  # dB, of the whole output over all steps


class Stream(nn.Module):
    """One step a run; all states are buffers."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.layer = getattr(nn, kind)(X, H)
        for name in ("h", "c") if kind == "LSTM" else ("h",):
            self.register_buffer(name, torch.zeros(1, 1, H))

    def forward(self, x: torch.Tensor) -> Any:
        m: Any = self
        if "c" in self._buffers:
            y, (m.h, m.c) = self.layer(x, (m.h, m.c))
        else:
            y, m.h = self.layer(x, m.h)
        return y


class Given(nn.Module):
    """One step a run; states are inputs and outputs."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor, *states: torch.Tensor) -> Any:
        y, last = self.layer(x, states if len(states) == 2 else states[0])
        return y, *(last if len(states) == 2 else [last])


def sequence(seed: int) -> list[tuple[torch.Tensor, ...]]:
    """Return steps [1, 1, X] of a slowly changing signal with noise."""
    random = torch.Generator().manual_seed(seed)
    time = torch.arange(STEPS)[:, None] * torch.linspace(0.05, 0.6, X) + seed
    signal = torch.sin(time) * 1.5 + torch.randn(STEPS, X, generator=random) * 0.3
    return [(step[None, None].contiguous(),) for step in signal]


@cache
def stream(kind: str) -> Lowered:
    torch.manual_seed(0)
    data = [sequence(seed) for seed in range(4)]
    return lower(Stream(kind).eval(), data[0][0], calibration=data)


def whole(lowered: Lowered, x: torch.Tensor) -> torch.Tensor:
    """Return the result of the stream's op for all steps at once, in its integers."""
    (call,) = (n for n in lowered.module.graph.nodes if _is_recurrent(n))
    op = dialect_op(call)
    assert op is not None
    zeros = [torch.zeros(1, H, dtype=torch.int16)] * (op.results - 1)
    constants = [
        tensor_constant(lowered.module, a) if isinstance(a, torch.fx.Node) else a
        for a in call.args[1 + len(zeros) :]
    ]
    result: torch.Tensor = op.reference(x, *zeros, *constants)[0]
    return result


def _is_recurrent(node: torch.fx.Node) -> bool:
    op = dialect_op(node)
    return op is not None and op.name.upper() in KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_is_the_whole_sequence(kind: str) -> None:
    lowered, steps = stream(kind), sequence(9)
    assert op_counts(lowered.module)[f"pl.{kind.lower()}"] == 1
    lowered.reset()
    outputs = torch.cat([lowered.reference(step)[0] for step in steps])
    inputs = torch.cat([lowered.quantize_inputs(step)[0] for step in steps])
    assert torch.equal(outputs, whole(lowered, inputs))


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_stream_is_close_to_float(kind: str) -> None:
    lowered, steps = stream(kind), sequence(9)
    torch.manual_seed(0)
    model = Stream(kind).eval()
    lowered.reset()
    with torch.no_grad():
        wanted = torch.cat([model(*step) for step in steps])
    outputs = torch.cat([lowered.reference(step)[0] for step in steps])
    (values,) = lowered.dequantize_outputs((outputs,))
    noise = (values - wanted).square().sum()
    assert 10.0 * float(torch.log10(wanted.square().sum() / noise)) >= SQNR


@pytest.mark.parametrize("kind", ["LSTM", "RNN"])
def test_a_state_that_nothing_bounds_has_room(kind: str) -> None:
    """Sequences on the device are longer than calibration's: a state may become twice as
    large before it saturates.
    """
    torch.manual_seed(5)
    options = {"nonlinearity": "relu"} if kind == "RNN" else {}
    layer = getattr(nn, kind)(X, H, batch_first=True, **options).eval()
    data = [(3.0 * torch.randn(1, 12, X),) for _ in range(8)]
    with torch.no_grad():
        last = [layer(*sample)[1][-1] for sample in data]
    lowered = lower(layer, data[0], calibration=data, measure=Measure(per_op=False))
    (op,) = (n for n in lowered.module.graph.nodes if calls(n, kind.lower()))
    arguments = {a.name: v for a, v in zip(op.target._schema.arguments, op.args, strict=True)}
    bits = arguments["cell_bits" if kind == "LSTM" else "hidden_bits"]
    assert 2.0 ** (15 - bits) >= 2.0 * max(float(state.abs().max()) for state in last)


def test_states_that_are_inputs_and_outputs_carry_on_to_the_bit() -> None:
    torch.manual_seed(0)
    layer, state = nn.LSTM(X, H), torch.zeros(1, 1, H)
    data = []
    for seed in range(3):
        states = (state, state)
        for step in sequence(seed):
            data.append((*step, *states))
            with torch.no_grad():
                states = layer(*step, states)[1]
    lowered = lower(Given(layer).eval(), data[0], calibration=data)
    assert [x.dtype for x in lowered.quantize_inputs(data[0])] == [torch.int8] + [torch.int16] * 2
    given: tuple[torch.Tensor, ...] = lowered.quantize_inputs(data[0])[1:]
    outputs, inputs = [], []
    for step in sequence(9):
        x = lowered.quantize_inputs((*step, *given))[0]
        y, *last = lowered.reference((x, *given))
        given = tuple(last)
        inputs.append(x)
        outputs.append(y)
    assert torch.equal(torch.cat(outputs), whole(lowered, torch.cat(inputs)))


class Pair(nn.Module):
    """An encoder's state is another layer's first, also computed with."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = nn.LSTM(X, H), nn.LSTM(X, H)
        self.bridge = nn.Linear(H, H)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h, c = self.encoder(x)[1]
        y, (_, last) = self.decoder(x, (self.bridge(h), c))
        return y, last + c


@pytest.mark.parametrize(
    "wide", [{"encoder": "int16"}, {"decoder": "int16"}, {"bridge": "int16"}, {"default": "int16"}]
)
def test_states_between_layers_of_two_types(wide: dict[str, str]) -> None:
    """A state is int16 in both cases, so the setting of one layer never makes it worse."""
    torch.manual_seed(0)
    data = [(torch.cat([step for (step,) in sequence(seed)]),) for seed in range(8)]
    model = Pair().eval()

    def worst(quantization: dict[str, str]) -> float:
        lowered = lower(
            model,
            data[0],
            calibration=data[:6],
            quantize=Quantize(quantization=quantization),
            measure=Measure(evaluation=data[6:], per_op=False),
        )
        return min(output.sqnr_db or math.inf for output in lowered.quality.outputs)

    assert worst(wide) >= max(SQNR, worst({}) - 1.0)


def test_a_state_at_a_float_border_is_converted() -> None:
    """If inputs and outputs are float, so is a state carried outside."""
    layer, data = Given(nn.GRU(X, H)), sequence(0)
    samples = [(*sample, torch.zeros(1, 1, H)) for sample in data]
    lowered = lower(
        layer.eval(),
        samples[0],
        calibration=samples,
        io=Io(float_io=True),
        measure=Measure(min_sqnr=-math.inf),
    )
    counts = op_counts(lowered.module)
    assert (counts["pl.quantize"], counts["pl.dequantize"]) == (2, 2)
    for given in samples:
        exact, found = layer(*given), lowered.reference(given)
        for a, b in zip(exact, found, strict=True):
            torch.testing.assert_close(a, b, rtol=0.0, atol=0.03)
