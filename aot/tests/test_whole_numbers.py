# SPDX-License-Identifier: Apache-2.0
"""Integers with fewer bits than the device's: inputs of uint8, int8 and int16, and casts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import nn

from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Measure, Quantize
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
    """Return numbers from the whole range of a type, so results leave it."""
    generator = torch.Generator().manual_seed(0)
    kind = torch.iinfo(dtype)
    draw = partial(torch.randint, kind.min, kind.max + 1, (1, 40), generator=generator)
    return [draw().to(dtype) for _ in range(16)]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_in_few_bits_wraps_around(name: str, dtype: torch.dtype) -> None:
    module, samples = Computed(name).eval(), _numbers(dtype)
    lowered = lower(module, samples[0], calibration=samples, measure=Measure(per_op=False))
    assert (lowered.quality.outputs[0].sqnr_db or 0.0) > 34.0


SAMPLES: dict[str, Callable[[torch.Tensor], object]] = {
    "shifts": lambda x: (torch.maximum(x, x.flip(1)) >> 1, x << 3),
    "signs": lambda x: (-x, x.abs(), x.sign()),
    "bits": lambda x: (x ^ 3, x | x[:, :1], ~x),
    "products": lambda x: (x * x.flip(1), x.to(torch.int32) * 3),
    "sums": lambda x: (x.sum(1), x.cumsum(1), x.scatter_add(1, x.long() & 7, x)),
    "other types": lambda x: (x.to(torch.uint8), x.to(torch.int8), x.bool()),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_arithmetic_of_int16_is_exact(name: str) -> None:
    module, samples = model(SAMPLES[name]), _numbers(torch.int16)
    _check_exact(module, samples[:1], samples)


def test_what_floats_are_between_is_refused() -> None:
    samples = _numbers(torch.int16)
    module = model(lambda x: (x.float() * 0.5).long())
    with pytest.raises(LoweringError, match="integers of an int16 value(.|\n)*without floats"):
        lower(module, samples[0], calibration=samples)


CAST: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "uint8": lambda i: i.to(torch.uint8),
    "int8": lambda i: i.to(torch.int8),
    "int16": lambda i: (i * 300).to(torch.int16),
    "wider again": lambda i: i.to(torch.uint8).to(torch.int16) + i.to(torch.int8).long(),
    "masks": lambda i: (i > 3).to(torch.uint8),
    "masks that are counted": lambda i: (i > 3).to(torch.int8).sum(1),
    "summed": lambda i: (i * 99).sum(1, dtype=torch.int16),
    "with numbers of more bits": lambda i: i.to(torch.int8) & 200,
    "compared with numbers of more bits": lambda i: i.to(torch.int8) < 200,
    "divided by numbers below 0": lambda i: i.to(torch.uint8) // -2,
    "moved": lambda i: torch.cat([i.to(torch.uint8), i.to(torch.uint8).flip(1)], 1),
}


@pytest.mark.parametrize("name", CAST)
def test_integers_of_few_bits_wrap_around(name: str) -> None:
    module = model(CAST[name])
    samples = [torch.arange(-700, 700, 7).reshape(10, 20) * sign for sign in (1, -1)]
    lowered = lower(module, samples[0], calibration=samples, measure=Measure(min_agreement=0.0))
    for sample in samples:
        (result,) = lowered.reference([sample])
        assert torch.equal(result.long(), module(sample).long())


def test_functions_of_bytes_are_exact_in_int16() -> None:
    """Step functions among them are not interpolated between their values."""
    module = model(lambda x: torch.where(x == 255, 0.0, x.float() % 7.0) * x.bool())
    samples = [torch.arange(256).reshape(1, 256).to(torch.uint8)] * 16
    lowered = lower(
        module, samples[0], calibration=samples, quantize=Quantize(quantization="int16")
    )
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
    lowered = lower(module, samples[0], calibration=samples, measure=Measure(min_agreement=0.0))
    assert all(map(torch.equal, lowered.reference([samples[0]]), module(samples[0])))


MASK, AT = torch.eye(6, 8).bool(), torch.tensor([0, 3, 5])
SHIFTS = torch.tensor([0, 1, 7, 8, 15, 30, 31, 40], dtype=torch.int32)

MOVED: dict[str, Callable[[torch.Tensor], object]] = {
    "where": lambda x: (torch.where(MASK, 0, x), torch.where(MASK, x, x.new_tensor(3))),
    "where, then shifted": lambda x: torch.where(MASK, 0, x) >> 1,
    "filled": lambda x: (x.masked_fill(MASK, 7), x.masked_fill(x > 9, 1)),
    "joined with a constant": lambda x: torch.cat([x, torch.ones(1, 8, dtype=x.dtype)]),
    "joined with what is computed": lambda x: torch.cat([x, x & 15, -x]),
    "padded": lambda x: nn.functional.pad(x, (1, 2), value=5),
    "triangles": lambda x: (x.tril(), x.triu(1)),
    "running extremes": lambda x: (x.cummax(1)[0], x.cummin(0)[0], x.cummax(1)[0].int()),
    "diagonals": lambda x: (x[0].diag_embed(), torch.block_diag(x, x[:2]), torch.diagflat(x[1])),
    "clamped": lambda x: (x.clamp(3, 90), x.clamp(min=-2), nn.functional.relu(x)),
    "written by index": lambda x: x.index_put((AT,), x.flip(0)[:3]),
    "filled by index": lambda x: (x.index_fill(0, AT, 4), x.index_copy(0, AT, x[:3] | 1)),
    "written by element": lambda x: x.scatter(0, AT[None].expand(2, 3), 9),
    "best": lambda x: (x.topk(3, 1)[0], x.sort(0)[0], x.median(1)[0], x.amax(0), x.aminmax()[1]),
    "compared with more bits": lambda x: (x < x.long() * 3, x.flip(0) == x.int() // 2),
    "cast": lambda x: (x.roll(1).to(torch.int8), x.flip(0).to(torch.uint8)),
    "added by place": lambda x: x.index_add(0, AT, x[:3]),
    "counted": lambda x: (x.cumsum(1, dtype=x.dtype), x.long().cumsum(0)),
    "shifted by themselves": lambda x: (x << (x & 15), x >> (x & 15), x << x, x >> x),
    "shifted by constants": lambda x: (x.int() >> SHIFTS, x.int() >> 31, x.int() << 31, x << 9),
    "numbers that are shifted": lambda x: (3 << (x.int() & 15), -99 >> (x.int() & 7)),
    "powers of numbers": lambda x: (2 ** (x.int() % 31), (-3) ** (x.int() % 20), 2**x),
    "products of matrices": lambda x: (x @ x.mT, x @ x[0], x[0].int().dot(x[1].int())),
    "products with constants": lambda x: (nn.functional.linear(x, torch.eye(3, 8).to(x.dtype)),),
    "multiplied": lambda x: x.prod(1, dtype=x.dtype),
}


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16], ids=str)
@pytest.mark.parametrize("name", MOVED)
def test_numbers_that_calibration_did_not_show_are_exact(name: str, dtype: torch.dtype) -> None:
    module, kind = model(MOVED[name]), torch.iinfo(dtype)
    generator = torch.Generator().manual_seed(0)
    shown = [torch.randint(1, 9, (6, 8), generator=generator).to(dtype) for _ in range(4)]
    draw = partial(torch.randint, kind.min, kind.max + 1, (6, 8), generator=generator)
    _check_exact(module, shown, [draw().to(dtype) for _ in range(4)])


def _check_exact(
    module: nn.Module,
    shown: list[torch.Tensor],
    samples: list[torch.Tensor],
    quantization: str = "int8",
) -> None:
    """Calibrated with some, of others."""
    lowered = lower(
        module,
        shown[0],
        calibration=shown,
        quantize=Quantize(quantization=quantization),
        measure=Measure(per_op=False),
    )
    for given in samples:
        expected = module(given)
        expected = expected if isinstance(expected, tuple) else (expected,)
        results = lowered.dequantize_outputs(lowered.reference([given]))
        for result, wanted in zip(results, expected, strict=True):
            assert torch.equal(result.double(), wanted.double())


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int64], ids=str)
def test_integers_are_no_floats_where_layers_stay_float32(dtype: torch.dtype) -> None:
    module = model(
        lambda x: (x + 1, x // 3, x.sum(1), x.long() * 2, x > 50, x.flip(1), x.float() * 0.25)
    )
    samples = [torch.arange(-40, 200, 3).reshape(4, 20).to(dtype) for _ in range(4)]
    _check_exact(module, samples, samples, "float32")


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32], ids=str)
def test_integer_functions_without_a_form_have_one_reason(dtype: torch.dtype) -> None:
    samples = [torch.arange(1, 25).reshape(4, 6).to(dtype)] * 2
    for function in (torch.gcd, torch.lcm, torch.pow):
        module = model(lambda x, f=function: f(x, x.flip(1)))
        with pytest.raises(LoweringError, match=r"neither(.|\n)*instead: for integers: .*a table"):
            lower(module, samples[0], calibration=samples)


def test_averages_in_bytes_are_refused() -> None:
    """Torch rounds them to bytes."""
    images = [torch.arange(32).reshape(1, 2, 4, 4).to(torch.uint8)]
    resized = model(lambda x: nn.functional.interpolate(x, size=(3, 3), mode="bilinear"))
    with pytest.raises(LoweringError, match=r"uint8\["):
        lower(resized, images[0], calibration=images)


def test_integers_have_to_be_equal_where_no_float_is() -> None:
    """Numbers of more than 32 bits are not."""
    module = model(lambda i: i * 2**20)
    samples = [torch.arange(4096).reshape(64, 64)]
    with pytest.raises(LoweringError, match="no float is on the way, so all must be"):
        lower(module, samples[0], calibration=samples)
    lower(module, samples[0], calibration=samples, measure=Measure(min_agreement=0.0))
