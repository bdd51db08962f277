# SPDX-License-Identifier: Apache-2.0
"""Weights of four bits: rounding, eligible layers, savings and costs."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from torch import nn

from aot.dialect.quantization import INT4_GROUPS_WEIGHT
from aot.errors import LoweringError
from aot.lower import Lowered, lower
from aot.options import Quantize
from aot.quantizer.int4 import rounded_to_groups
from aot.rules.four_bits import _in_groups
from aot.testing.fixtures import lower_with, op_counts, samples
from aot.testing.lockstep import compare
from kernels.linear.op import linear
from kernels.linear.op_w4 import linear_w4, packed

DATA = samples((1, 96, 2, 2), count=8)


class Net(nn.Module):
    """Each output channel of the head has small weights for most of its inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.pixels = nn.Conv2d(96, 96, 1)
        self.pool = nn.AvgPool2d(2)
        self.spread = nn.Conv2d(96, 96, 1, groups=4)
        self.head = nn.Linear(96, 8)
        with torch.no_grad():
            self.head.weight[:, 32:] *= 0.05

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.spread(self.pool(torch.relu(self.pixels(x))))
        result: torch.Tensor = self.head(x.flatten(1))
        return result


@functools.cache
def net() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return Net().eval()


@functools.cache
def lowered(*layers: tuple[str, str]) -> Lowered:
    options: dict[str, Any] = {"quantization": dict(layers), "per_op": False, "min_sqnr": 0.0}
    return lower_with(net(), DATA[0], calibration=DATA, **options)


def constant_bytes(result: Lowered, op: str) -> int:
    return sum(row["constant_bytes"] for row in result.report["ops"] if row["op"] == op)


def sqnr(result: Lowered) -> float:
    return result.quality.outputs[0].sqnr_db or 0.0


def test_layers_that_ask_have_half_the_bytes() -> None:
    asked = (("pixels", "int8w4"), ("head", "int8w4"))
    before, after = lowered(), lowered(*asked)
    assert op_counts(after.module)["pl.linear_w4"] == 2
    assert after.report["quantization"] == "mixed"
    weights, channels = 96 * 96 + 96 * 8, 96 + 8
    assert constant_bytes(after, "pl.linear_w4") == weights // 2 + channels * (1 + 12)
    assert len(before.pte) - len(after.pte) > 0.45 * weights


def test_groups_keep_what_channels_lose() -> None:
    plain, by_channel, by_group = (
        sqnr(lowered(*(() if name is None else (("head", name),))))
        for name in (None, "int8w4", "int8w4g32")
    )
    assert plain > by_group > by_channel + 2.0


def test_the_layer_is_the_linear_layer_of_its_weights() -> None:
    generator = torch.Generator().manual_seed(1)
    weight = torch.randint(-8, 8, (5, 33), generator=generator).to(torch.int8)
    x = torch.randint(-128, 128, (3, 33), generator=generator).to(torch.int8)
    constants = torch.zeros(5, dtype=torch.int32), torch.full((5,), 2**30, dtype=torch.int32)
    tail = (*constants, torch.full((5,), -4, dtype=torch.int32))
    last = (3, -5, -100, 100)
    ones = torch.ones(5, 1, dtype=torch.int8)
    expected = linear.reference(x, weight, *tail, *last)
    assert torch.equal(linear_w4.reference(x, packed(weight), ones, *tail, 33, *last), expected)


@pytest.mark.parametrize("shape", [(4, 64), (3, 70), (2, 5, 1, 1)])
def test_groups_are_rounded_to_a_fourteenth_of_their_range(shape: tuple[int, ...]) -> None:
    weight = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    weight.flatten(1)[:, :32] *= 0.01
    weight[-1] = 0.0
    error = (rounded_to_groups(weight) - weight).flatten(1).split(32, 1)
    for part, off in zip(weight.flatten(1).split(32, 1), error, strict=True):
        step = weight.flatten(1).abs().amax(1) / 889  # of the scales
        limit = part.abs().amax(1) / 14 + step / 2
        assert bool((off.abs().amax(1) <= limit * 1.001).all())


def test_other_convolutions_are_an_error_with_their_place() -> None:
    with pytest.raises(LoweringError, match=r"four bits.*\n.*at spread \(Conv2d\)"):
        lowered(("spread", "int8w4"))


def test_a_recurrent_layer_of_four_bits_is_one_error() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = nn.LSTM(4, 3, 2, bidirectional=True)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            values, (last, _) = self.rnn(x)
            result: torch.Tensor = values.mean(0) + torch.cat((last[0], last[1]), 1)
            return result

    data = samples((5, 2, 4), count=16)
    with pytest.raises(LoweringError, match=r"four bits.*\n.*at rnn \(LSTM\)") as error:
        lower(
            Net().eval(),
            data[0],
            calibration=data,
            quantize=Quantize(quantization={"rnn": "int8w4"}),
        )
    assert len(error.value.problems) == 1


def test_groups_have_no_training() -> None:
    with pytest.raises(LoweringError, match="int8w4g32 cannot be trained; int8w4 can"):
        lower(
            net(),
            DATA[0],
            calibration=DATA,
            quantize=Quantize(quantization="int8w4g32", train=lambda _: None),
        )


@pytest.mark.parametrize("depth", [1, 2, 33, 64])
@pytest.mark.parametrize("is_even", [False, True])
def test_groups_of_few_or_equal_weights(depth: int, is_even: bool) -> None:
    """All weights of a group may be multiples of a number larger than its one-byte scale."""
    weight = torch.randn((6, depth), generator=torch.Generator().manual_seed(depth))
    weight[0] = 0.0
    rounded = rounded_to_groups(weight.sign() if is_even else weight)
    step = rounded.abs().amax(1, keepdim=True).clamp(min=1e-30) / INT4_GROUPS_WEIGHT.quant_max
    values = torch.round(rounded / step).to(torch.int16)
    four_bits, scales, group = _in_groups(values, grouped=True)
    assert four_bits.abs().max() <= 7 and scales.min() >= 1
    spread = scales.to(torch.int32).repeat_interleave(group, 1)[:, :depth]
    assert torch.equal(four_bits * spread, values.to(torch.int32))


def test_a_layer_of_one_input() -> None:
    data = [(torch.tensor([[i / 8.0 - 1.0]]),) for i in range(16)]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = nn.Sequential(nn.Linear(1, 4)).eval()
    result = lower(layer, data[0], calibration=data, quantize=Quantize(quantization="int8w4g32"))
    assert all(found.largest <= 1 for found in compare(result, data).by_op.values())
    assert sqnr(result) > 35.0


@pytest.mark.parametrize("setting", ["int8w4", "int8w4g32"])
def test_a_clamp_of_another_setting_is_one_op_with_the_layer(setting: str) -> None:
    """The ReLU after the first layer is the model's own and set to int16."""
    result = lowered(("default", "int16"), ("pixels", setting))
    rows = {row["op"]: row["precision"] for row in result.report["ops"]}
    assert (rows["pl.linear_w4"], rows["pl.linear"]) == ("int8", "int16")
    assert all(d.largest <= 1 for d in compare(result, DATA[:2]).by_op.values())
