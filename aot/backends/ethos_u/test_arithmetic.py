# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the NPU's own arithmetic against real numbers. test_emitters.py compares it with the
NPU.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch
import torch.nn.functional as F

from aot.backends.ethos_u.ops.div import ethos_u_div
from aot.backends.ethos_u.ops.log_softmax import ethos_u_log_softmax, ethos_u_logsumexp
from aot.backends.ethos_u.ops.normalize import LEAST_DEVIATION, ethos_u_normalize
from aot.backends.ethos_u.ops.second_moment import ethos_u_second_moment
from aot.backends.ethos_u.ops.softmax import ethos_u_softmax
from aot.dialect.arithmetic import quantize_multiplier
from aot.dialect.quantization import Quantization
from kernels.binary.op_div import FRACTION_BITS, div
from kernels.log_softmax.op import log_constants
from kernels.normalize.op import constants, normalize
from kernels.reduce.op_second_moment import fraction_bits
from kernels.softmax.op import exponential_table

SIGNALS_MIN_DB = 35.0
OFF_BY = 0.53
"""Largest error in output steps: half a step for rounding, plus earlier rounding."""


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# name: (shape, scale, dim)
SOFTMAXES: dict[str, tuple[tuple[int, ...], float, int]] = {
    "attention": ((4, 128, 128), 0.05, 2),
    "wide": ((8, 40), 1.0, 1),
    "flat": ((16, 1000), 0.001, 1),
    "one": ((7, 1), 0.1, 1),
    "long": ((2, 65536), 0.02, 1),
    "of the first": ((10, 3, 5), 0.1, 0),
}


@pytest.mark.parametrize("name", SOFTMAXES)
def test_softmax_is_less_than_one_step_off(name: str) -> None:
    shape, scale, dim = SOFTMAXES[name]
    x = torch.randint(-128, 128, shape, generator=seeded(1), dtype=torch.int8)
    table, _ = exponential_table(scale, shape[dim])
    y = ethos_u_softmax.reference(x, table, dim, 256).double() + 128
    exact = torch.softmax(x.double() * scale, dim) * 256
    assert ((y - exact.clamp(max=255)).abs() < 1).all()


# name: (shape, scale, dim)
LOGARITHMS: dict[str, tuple[tuple[int, ...], float, int]] = {
    "classes": ((12, 10), 0.1, 1),
    "wide": ((8, 40), 0.8, 1),
    "flat": ((4, 1000), 0.001, 1),
    "of the first": ((10, 3, 5), 0.1, 0),
    "one": ((7, 1), 0.1, 1),
}


@pytest.mark.parametrize("name", LOGARITHMS)
def test_logarithms_are_rounded_nearly_once(name: str) -> None:
    shape, scale, dim = LOGARITHMS[name]
    x = torch.randint(-128, 128, shape, generator=seeded(6), dtype=torch.int8)
    before, real = Quantization(scale, 7), (x.double() - 7) * scale
    for op, function in (
        (ethos_u_log_softmax, torch.log_softmax),
        (ethos_u_logsumexp, torch.logsumexp),
    ):
        exact = function(real, dim)
        after = Quantization(max(float(exact.abs().max()), 0.1) / 127, -3)
        table, bits, factors = log_constants(before, after, shape[dim])
        if op is ethos_u_log_softmax:
            y = op.reference(x, table, dim, bits, *factors, -3)
        else:
            y = op.reference(x, table, [dim], False, 7, bits, *factors, -3)
        wanted = (exact / after.scale - 3).clamp(-128, 127)
        assert (y - wanted).abs().max() < OFF_BY


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("deviation", [1.0, 30.0])
def test_second_moments_are_rounded_nearly_once(
    centered: bool, root: bool, deviation: float
) -> None:
    values = torch.randn(20, 300, generator=seeded(7)) * deviation + 11
    x = values.round().clamp(-128, 127).to(torch.int8)
    real = x.double() - 5
    moments = real.var(1, correction=0) if centered else real.square().sum(1)
    exact = moments.sqrt() if root else moments
    step, bits = float(exact.max()) / 250, fraction_bits(300, centered, root, torch.int8)
    factor = (300.0 if root else 300.0**2) if centered else 1.0
    numbers = quantize_multiplier(1 / (step * factor * 2.0 ** (bits / 2 if root else bits)))
    y = ethos_u_second_moment.reference(x, [1], False, centered, root, 5, -128, *numbers)
    assert (y - (exact / step - 128).clamp(-128, 127)).abs().max() < OFF_BY


def test_quotients_are_rounded_nearly_once() -> None:
    a, b = torch.meshgrid(torch.arange(-128, 128), torch.arange(-128, 128), indexing="ij")
    for factor, limits in ((100.0, (-128, 127)), (3.0, (-128, 127)), (40.0, (-100, 90))):
        numbers = quantize_multiplier(factor / 2 ** FRACTION_BITS[torch.int8])
        args = (a.to(torch.int8), b.to(torch.int8), 3, -20, 5, *numbers, *limits)
        y, cpu = ethos_u_div.reference(*args), div.reference(*args)
        exact = ((a - 3) / (b + 20) * factor + 5).nan_to_num(5.0).clamp(*limits)
        assert (y - exact).abs().max() < OFF_BY
        by_zero = b == -20
        assert torch.equal(y[by_zero], cpu[by_zero])


def norms(
    x: torch.Tensor, parts: Sequence[int], gain: torch.Tensor, centered: bool, epsilon: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The NPU's and the CPU's of the same call, in steps of the output."""
    count = x.numel() // math.prod(parts)
    numbers = constants(count, centered, epsilon, gain, torch.zeros(()).double())
    args = (x, *numbers[:2], parts, centered, *numbers[2:], 3, -5, -128, 127)
    npu, cpu = (op.reference(*args).double() + 5 for op in (ethos_u_normalize, normalize))
    return npu, cpu


def decibels(signal: torch.Tensor, other: torch.Tensor) -> float:
    return float(10 * torch.log10(signal.square().mean() / (signal - other).square().mean()))


@pytest.mark.parametrize("deviation", [10.0, 40.0])
def test_layer_norm_keeps_its_signal(deviation: float) -> None:
    values = torch.randn(150, 384, generator=seeded(2)).double()
    x = (values * deviation).round().clamp(-128, 127).to(torch.int8)
    gain = torch.rand(384, generator=seeded(3)).double() * 20 + 20
    npu, _ = norms(x, [150, 1], gain, True, 1e-3)
    exact = F.layer_norm(x.double(), (384,), eps=1e-3) * gain
    assert decibels(exact.clamp(-123, 132), npu) > (SIGNALS_MIN_DB if deviation > 20 else 28.0)


# name: (shape, parts, gain's shape, centered)
NORMS: dict[str, tuple[tuple[int, ...], list[int], tuple[int, ...], bool]] = {
    "rms": ((50, 64), [50, 1], (64,), False),
    "group, channels behind the batch": ((2, 12, 8, 8), [2, 3, 1, 1], (12, 1, 1), True),
    "group, channels last": ((2, 8, 8, 12), [2, 1, 1, 3], (12,), True),
    "instance": ((2, 6, 9, 9), [2, 6, 1, 1], (6, 1, 1), True),
    "instance, channels last, one gain": ((2, 9, 9, 6), [2, 1, 1, 6], (), True),
}


@pytest.mark.parametrize("name", NORMS)
def test_norms_are_the_cpus_but_for_the_rounded_mean(name: str) -> None:
    shape, parts, channels, centered = NORMS[name]
    x = torch.randint(-100, 101, shape, generator=seeded(4), dtype=torch.int8)
    gain = torch.rand(channels, generator=seeded(5)).double() * 40 - 10
    npu, cpu = norms(x, parts, gain, centered, 0.1)
    assert (npu - cpu).abs().max() <= 1


def test_parts_that_hardly_deviate_are_divided_by_the_least_deviation() -> None:
    x = torch.zeros(2, 400, dtype=torch.int8)
    x[0, 0] = 1
    npu, cpu = norms(x, [2, 1], torch.tensor(2.0).double(), True, 1e-9)
    assert npu[0, 0] == 2 / LEAST_DEVIATION and cpu[0, 0] == 40
    assert not npu[1].any()
