# SPDX-License-Identifier: Apache-2.0
"""Integers of fewer bits than the device's: inputs of uint8, int8 and int16, and what is cast."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import nn

from aot.errors import LoweringError
from aot.lower import lower
from aot.testing.fixtures import model

ARITHMETIC: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "products": lambda x: x * 2,
    "bits": lambda x: x & 15,
    "shifts": lambda x: x >> 4,
    "quotients": lambda x: x // 3,
    "rests, inside of a function": lambda x: (x % 7).long(),
    "joined": lambda x: torch.cat([x & 15, x >> 4], 1),
}


class Computed(nn.Module):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ARITHMETIC[self.name](x).float() * 0.5


def _numbers(dtype: torch.dtype) -> list[torch.Tensor]:
    """Of the whole range of a type of 8 bits, so that results leave it."""
    generator = torch.Generator().manual_seed(0)
    kind = torch.iinfo(torch.int8 if dtype is torch.int16 else dtype)
    draw = partial(torch.randint, kind.min, kind.max + 1, (1, 40), generator=generator)
    return [draw().to(dtype) for _ in range(16)]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_in_few_bits_wraps_around(name: str, dtype: torch.dtype) -> None:
    module, samples = Computed(name).eval(), _numbers(dtype)
    lowered = lower(module, samples[0], calibration=samples, per_op=False)
    assert (lowered.quality.outputs[0].sqnr_db or 0.0) > 34.0


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_of_int16_is_refused_and_the_hint_helps(name: str) -> None:
    samples = _numbers(torch.int16)
    with pytest.raises(LoweringError, match="its integers have 16 bits(.|\n)*an input of int32"):
        lower(Computed(name).eval(), samples[0], calibration=samples)
    wide = [sample.int() for sample in samples]
    lowered = lower(Computed(name).eval(), wide[0], calibration=wide, per_op=False)
    assert (lowered.quality.outputs[0].sqnr_db or 0.0) > 34.0


@pytest.mark.parametrize("sign", ["^", "|", "~"])
def test_operators_are_called_as_they_are_written(sign: str) -> None:
    functions = {"^": lambda x: x ^ 3, "|": lambda x: x | x[:1], "~": lambda x: ~x}
    samples = _numbers(torch.int16)
    with pytest.raises(LoweringError, match=rf"^1 op of .*\n  {re.escape(sign)} \(aten\.") as error:
        lower(model(functions[sign]), samples[0], calibration=samples)
    assert "its integers have 16 bits" in str(error.value)


CAST: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "uint8": lambda i: i.to(torch.uint8),
    "int8": lambda i: i.to(torch.int8),
    "int16": lambda i: (i * 300).to(torch.int16),
    "wider again": lambda i: i.to(torch.uint8).to(torch.int16) + i.to(torch.int8).long(),
    "masks": lambda i: (i > 3).to(torch.uint8),
    "masks that are counted": lambda i: (i > 3).to(torch.int8).sum(1),
    "with numbers of more bits": lambda i: i.to(torch.int8) & 200,
    "compared with numbers of more bits": lambda i: i.to(torch.int8) < 200,
    "divided by numbers below 0": lambda i: i.to(torch.uint8) // -2,
    "moved": lambda i: torch.cat([i.to(torch.uint8), i.to(torch.uint8).flip(1)], 1),
}


def test_sums_in_few_bits_are_refused() -> None:
    module = model(lambda i: i.sum(1, dtype=torch.int16))
    with pytest.raises(LoweringError, match="its integers have 16 bits"):
        lower(module, torch.zeros(2, 4, dtype=torch.int64), calibration=[torch.ones(2, 4).long()])


@pytest.mark.parametrize("name", CAST)
def test_integers_of_few_bits_wrap_around(name: str) -> None:
    module = model(CAST[name])
    samples = [torch.arange(-700, 700, 7).reshape(10, 20) * sign for sign in (1, -1)]
    lowered = lower(module, samples[0], calibration=samples, min_agreement=0.0)
    for sample in samples:
        (result,) = lowered.reference([sample])
        assert torch.equal(result.long(), module(sample).long())


def test_functions_of_bytes_are_exact_in_int16() -> None:
    """Of which those with steps have no straight lines between their values."""
    module = model(lambda x: torch.where(x == 255, 0.0, x.float() % 7.0) * x.bool())
    samples = [torch.arange(256).reshape(1, 256).to(torch.uint8)] * 16
    lowered = lower(module, samples[0], calibration=samples, quantization="int16")
    assert (lowered.quality.outputs[0].sqnr_db or 0.0) > 80.0


def test_samples_are_the_same_as_themselves_in_int8() -> None:
    module = model(lambda x: (x != x[:1], x <= x[:1]))
    generator = torch.Generator().manual_seed(0)
    draw = partial(torch.randint, -32768, 32768, (3, 20), generator=generator)
    samples = [draw().to(torch.int16) for _ in range(16)]
    lowered = lower(module, samples[0], calibration=samples)
    results = lowered.reference([samples[0]])
    assert all(map(torch.equal, results, module(samples[0])))


def test_inputs_are_compared_with_numbers_as_they_wrap() -> None:
    module = model(lambda x: (x >= -5, x < 300, x.flip(1) != -1, x > 99.5))
    samples = [torch.arange(256).reshape(1, 256).to(torch.uint8)] * 4
    lowered = lower(module, samples[0], calibration=samples, min_agreement=0.0)
    assert all(map(torch.equal, lowered.reference([samples[0]]), module(samples[0])))
