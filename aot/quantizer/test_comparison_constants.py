# SPDX-License-Identifier: Apache-2.0
"""Comparisons of integers, and with constants, agree with the float model."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from aot.lower import lower
from aot.options import Measure, Quantize
from aot.testing.fixtures import model

Function = Callable[..., object]
C = torch.tensor([0.1, 0.2, 0.3])
SIGNS, BITS, WHOLE, TENTHS = "signs", "bits", "whole", "tenths"
DRAWN: dict[str, Callable[[torch.Generator], torch.Tensor]] = {
    SIGNS: lambda g: torch.randint(0, 2, (4, 8), generator=g) * 2.0 - 1.0,
    BITS: lambda g: torch.randint(0, 2, (4, 8), generator=g) * 1.0,
    WHOLE: lambda g: torch.randint(0, 90, (4, 8), generator=g) * 1.0,
    TENTHS: lambda g: torch.randint(0, 8, (4, 8), generator=g) / 10.0,
}
CASES: dict[str, tuple[Function, tuple[str, ...]]] = {
    "equal": (lambda y: y == 1, (SIGNS,)),
    "not equal, or more": (lambda y: (y != 1, y >= 1), (BITS,)),
    "close": (lambda y: torch.isclose(y, torch.full_like(y, 7.0)), (WHOLE,)),
    "of a choice": (lambda y: torch.where(y == -1, y, -y).sum(1) == 8, (SIGNS,)),
    "of two": (lambda y, z: (y == z, y + z == 1, y * z >= z), (WHOLE, BITS)),
    "of two steps": (lambda y, z: (3 * y).reshape(8, 4) >= z.reshape(8, 4), (WHOLE, WHOLE)),
    "counts": (lambda y: (y.sum(1) == 4, y.amax(1) == 1, y.cumsum(1) > 3), (BITS,)),
    "side by side": (lambda y, z: torch.cat([y, z]) == 1, (SIGNS, BITS)),
    "pools": (lambda y: F.max_pool1d(y, 2) == 1, (SIGNS,)),
    "fractions": (lambda y: (y == 0.1) | (y > 0.6), (TENTHS,)),
    "a constant that is never there": (lambda y: (y == 100, y < 100), (BITS,)),
}
OF_INT8: dict[str, tuple[Function, tuple[str, ...]]] = {
    "a constant": (lambda y: y[..., None] == C, (TENTHS,)),
    "indices": (lambda y: F.one_hot(y.long(), 90).argmax(-1), (WHOLE,)),
    "remainders": (lambda y: torch.floor(y / 2) + y % 2 == 1, (WHOLE,)),
}
OF_INT16 = ("equal", "of two", "of two steps", "counts", "fractions")
ALL = [("int8", name) for name in (*CASES, *OF_INT8)] + [("int16", name) for name in OF_INT16]


@pytest.mark.parametrize("quantization, name", ALL)
def test_comparisons_are_equal(quantization: str, name: str) -> None:
    function, kinds = {**CASES, **OF_INT8}[name]
    generator = torch.Generator().manual_seed(0)
    data = [tuple(DRAWN[kind](generator) for kind in kinds) for _ in range(16)]
    module = model(function)
    lowered = lower(
        module,
        data[0],
        calibration=data,
        quantize=Quantize(quantization=quantization),
        measure=Measure(min_agreement=0, per_op=False),
    )
    for sample in data:
        expected = module(*sample)
        given = lowered.reference(sample)
        for a, b in zip(
            expected if isinstance(expected, tuple) else [expected], given, strict=True
        ):
            assert torch.equal(a.to(torch.int32), b.to(torch.int32))


@pytest.mark.parametrize("observer", ["histogram", "minmax", "moving_average", "mse", "percentile"])
def test_no_observer_cuts_off_a_rare_whole_number(observer: str) -> None:
    data = [torch.zeros(1, 500) for _ in range(16)]
    data[3][0, 17] = 1.0
    lowered = lower(
        model(lambda y: y == 1),
        data[0],
        calibration=data,
        quantize=Quantize(observer=observer),
        measure=Measure(min_agreement=0),
    )
    assert torch.equal(lowered.reference(data[3])[0], data[3] == 1)
