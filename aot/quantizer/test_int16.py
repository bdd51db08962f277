# SPDX-License-Identifier: Apache-2.0
"""Layers set to int16 get it, with conversions next to int8, and gain accuracy."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.dialect.library import OPS
from aot.dialect.quantization import INT16, Quantization
from aot.errors import LoweringError
from aot.lower import Lowered, lower
from aot.options import Quantize
from aot.quantizer.int16 import widened
from aot.testing.fixtures import lower_with, model, op_counts, samples
from aot.testing.lockstep import compare
from kernels.lut.op import lut, table_of

DATA = samples((2, 6), count=8)


class Difference(nn.Module):
    """The small difference of two large values; the weights are exact in int8."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(6, 6, bias=False)
        self.b = nn.Linear(6, 6, bias=False)
        with torch.no_grad():
            self.a.weight.copy_(torch.eye(6))
            self.b.weight.copy_(torch.diag(torch.linspace(0.97, 1.03, 6)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.a(x) - self.b(x)
        return result


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = Difference()
        self.act = nn.ReLU()
        self.head = nn.Linear(6, 3)
        self.softmax = nn.Softmax(-1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.act(self.block(x))
        return y, self.softmax(self.head(y))


@functools.cache
def net() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return Net().eval()


@functools.cache
def lowered(*layers: str) -> Lowered:
    quantization = dict.fromkeys(layers, "int16")
    options: dict[str, Any] = {"quantization": quantization, "min_sqnr": 0.0, "per_op": False}
    return lower_with(net(), DATA[0], calibration=DATA, **options)


INT8 = {"add": "int8", "linear": "int8", "softmax": "int8"}

# Layers of int16, the precision of some ops, the number of conversions, and the types of the input
# and the first output.
LAYERS: dict[tuple[str, ...], tuple[dict[str, str], int, str, str]] = {
    (): (INT8, 0, "int8", "int8"),
    ("block",): ({"add": "int16", "softmax": "int8"}, 1, "int16", "int16"),
    # An op and its fused clamp are one op.
    ("act",): ({"add": "int16", "softmax": "int8"}, 3, "int8", "int16"),
    ("head",): ({"add": "int8", "softmax": "int8"}, 2, "int8", "int8"),
    ("block", "head"): ({"add": "int16", "linear": "int16"}, 1, "int16", "int16"),
    ("block.*",): ({"add": "int8"}, 2, "int16", "int8"),
}


@pytest.mark.parametrize("layers", LAYERS)
def test_layers_have_the_type_that_they_ask_for(layers: tuple[str, ...]) -> None:
    precisions, conversions, source, result = LAYERS[layers]
    report = lowered(*layers).report
    found = {row["op"].removeprefix("pl."): row["precision"] for row in report["ops"]}
    assert {op: found[op] for op in precisions} == precisions
    assert op_counts(lowered(*layers).module).get("pl.requantize", 0) == conversions
    assert (report["inputs"][0]["dtype"], report["outputs"][0]["dtype"]) == (source, result)
    assert report["quantization"] == ("mixed" if layers else "int8")


def test_small_differences_of_large_values_need_it() -> None:
    before, after = (lowered(*layers).quality.outputs[0].sqnr_db for layers in ((), ("block",)))
    assert before is not None and before < 15.0
    assert after is not None and after > 50.0


STEEP: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "logarithm": lambda x: torch.log(x.abs() + 1e-4),
    "root": lambda x: torch.sqrt(x.abs()),
    "reciprocal": lambda x: 1.0 / (x.abs() + 2e-3),
    "sign": torch.sign,
}


@pytest.mark.parametrize("name", STEEP)
def test_a_function_that_is_steep_near_zero_is_as_near_as_elsewhere(name: str) -> None:
    given = [(torch.cat([x[0], 1e-3 * x[0]], -1),) for x in DATA]
    options: dict[str, Any] = {"quantization": "int16", "min_sqnr": 0.0, "per_op": False}
    lowered = lower_with(model(STEEP[name]), given[0], calibration=given, **options)
    assert compare(lowered, given).by_op["lut int16"].largest <= 40


def test_no_int16_form_is_an_error_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test removes an int16 form, as for an op defined elsewhere. All ops of the dialect have
    one.
    """
    monkeypatch.setitem(OPS["log_softmax"].dtypes, "input", (torch.int8,))
    model = nn.Sequential(nn.Linear(6, 3), nn.LogSoftmax(-1)).eval()
    with pytest.raises(LoweringError, match=r"log_softmax.*no int16 form\n.*at 1 \(LogSoftmax\)"):
        lower(model, DATA[0], calibration=DATA, quantize=Quantize(quantization={"1": "int16"}))


class Sequence(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(16, 16, batch_first=True)
        self.head = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.head(self.lstm(x)[0])
        return y


def _encoder() -> nn.Module:
    return nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)


def _sqnr(make: Callable[[], nn.Module], quantization: str | dict[str, str]) -> float:
    data = samples((1, 10, 16), count=8)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = make().eval()
    options: dict[str, Any] = {"min_sqnr": 0.0, "per_op": False}
    quality = lower_with(
        model, data[0], calibration=data, quantization=quantization, **options
    ).quality
    found = quality.outputs[0].sqnr_db
    assert found is not None
    return found


# Gain of a whole model. A single int16 layer, or a float layer among int16 ones, lowers without a
# loss.
@pytest.mark.parametrize(
    ("make", "layers", "gain"),
    [
        (_encoder, ({"self_attn": "int16"}, {"default": "int16", "linear2": "float32"}), 15.0),
        (Sequence, ({"lstm": "int16"}, {"default": "int16", "head": "float32"}), 8.0),
    ],
)
def test_attention_and_recurrent_nets(
    make: Callable[[], nn.Module], layers: tuple[dict[str, str], ...], gain: float
) -> None:
    before = _sqnr(make, "int8")
    assert _sqnr(make, "int16") > before + gain
    for quantization in layers:
        assert _sqnr(make, quantization) > before - 0.5


# Pointwise functions with intermediate values read by several ops. The last op gives the result.
FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "x * sigmoid(x)": lambda x: x * torch.sigmoid(x),
    "where": lambda x: torch.where(x > 0.25, x, 0.5 - x),
    "x, then others": lambda x: torch.sigmoid(x) * x.abs() + x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("wide", ["linear", "function"])
def test_a_function_meets_the_other_type(name: str, wide: str) -> None:
    class Function(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return FUNCTIONS[name](x)

    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(6, 6)
            self.function = Function()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = self.function(self.linear(x))
            return result

    with torch.random.fork_rng():
        torch.manual_seed(0)
        both = Both().eval()
    options: dict[str, Any] = {"quantization": {wide: "int16"}, "per_op": False}
    result = lower_with(both, DATA[0], calibration=DATA, **options)
    assert op_counts(result.module)["pl.requantize"] == 1
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 34.0


# The largest values and their indices, in one call: (name of a function: the results read)
CHOICES: dict[str, Callable[[torch.Tensor], object]] = {
    "both": lambda x: (best := x.max(-1)).values * (best.indices + 1.0),
    "where": lambda x: x.max(-1).indices,
    "the first two": lambda x: (best := x.topk(2)).values * best.indices,
    "the least": lambda x: (best := x.min(-1)).values - best.indices,
    "of a window": lambda x: F.max_unpool1d(*F.max_pool1d(x, 2, return_indices=True), [2]),
}


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize(
    "quantization", [{"parts.0": "int16"}, {"default": "int16", "parts.0": "int8"}]
)
def test_a_choice_is_of_what_its_values_are(name: str, quantization: dict[str, str]) -> None:
    """The layer before has the other type."""
    net = model(lambda a, x: CHOICES[name](a(x)), nn.Linear(6, 6))
    options: dict[str, Any] = {"quantization": quantization, "per_op": False}
    result = lower_with(net, DATA[0], calibration=DATA, **options)
    agrees = compare(result, DATA)
    assert all(difference.largest <= 1 for difference in agrees.by_op.values())


@pytest.mark.parametrize("observer", ["histogram", "minmax", "percentile"])
def test_a_range_has_room_for_what_calibration_did_not_show(observer: str) -> None:
    """Held-out samples are a fifth larger. The range of the observed values alone would
    clip them.
    """
    held = [tuple(1.2 * x for x in sample) for sample in DATA]
    options: dict[str, Any] = {"quantization": "int16", "observer": observer, "min_sqnr": 0.0}
    result = lower_with(net(), DATA[0], calibration=DATA, evaluation=held, per_op=False, **options)
    found = result.quality.outputs[0].sqnr_db
    assert found is not None and (found > 50.0) == (observer != "percentile")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Quantization(1 / 256, -128), 1 / 32768),
        (Quantization(1 / 128), 1 / 32768),
        (Quantization(1 / 255, 127), 1 / 255 / 128),
    ],
)
def test_a_known_range_is_kept(before: Quantization, after: float) -> None:
    wide = widened(before)
    assert (wide.scale, wide.zero_point) == (after, 0)
    exact = before.dequantize(before.every_value())
    torch.testing.assert_close(wide.dequantize(wide.quantize(exact)), exact, rtol=0, atol=0)


# Any or all values of rows are nonzero: (the function, of a layer with zeros)
MASKS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "any": lambda x: x.any(1),
    "all": lambda x: x.all(1),
    "any of all": lambda x: x.any(),
    "any, to choose by": lambda x: torch.where(x.any(1, keepdim=True), x, x - 1.0),
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("quantization", ["int8", "int16"])
def test_a_mask_of_values_is_of_bools(name: str, quantization: str) -> None:
    class Mask(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return MASKS[name](torch.relu(x - 1.0))

    # No value is close to the threshold 1.
    data = [((2.0 * x).round() / 2.0 + 0.25,) for (x,) in samples((4, 5), count=16)]
    options: dict[str, Any] = {"quantization": quantization, "per_op": False}
    result = lower_with(Mask().eval(), data[0], calibration=data, min_sqnr=0.0, **options)
    for sample in data:
        expected, (found,) = Mask()(*sample), result.reference(sample)
        if expected.dtype is torch.bool:
            assert found.dtype is torch.bool and torch.equal(found, expected)
        else:
            (values,) = result.dequantize_outputs([found])
            assert torch.allclose(values, expected, atol=0.05)


ENDS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], float, float]] = {
    "acos": (torch.acos, -1.0, 1.0),
    "asin": (torch.asin, -1.0, 1.0),
    "log1p": (torch.log1p, -0.99, 9.0),
    "atanh": (torch.atanh, -0.99, 0.99),
    "acosh": (torch.acosh, 1.0, 4.0),
    "rsqrt": (lambda x: (x - 1.0).rsqrt(), 1.01, 3.0),
    "reciprocal": (lambda x: 1.0 / (x + 2.0), -1.98, 2.0),
    "logit": (torch.logit, 0.01, 0.99),
}


@pytest.mark.parametrize("name", ENDS)
def test_tables_are_near_at_the_ends_of_a_domain(name: str) -> None:
    function, low, high = ENDS[name]
    of = Quantization(max(-low, high) * 1.25 / 32767, 0, INT16)
    x = torch.linspace(low, high, 4001)
    exact = function(x)
    result = Quantization(float(exact.abs().max()) * 1.25 / 32767, 0, INT16)
    table = table_of(function, of, result)
    got = result.dequantize(lut.reference(of.quantize(x), table))
    noise = (got - exact).square().sum() / exact.square().sum()
    assert -10.0 * float(noise.log10()) > 34.0
