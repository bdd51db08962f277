# SPDX-License-Identifier: Apache-2.0
"""Settings of layers by name: float32, observers, and conflicts with another quantizer."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from torch import nn
from torch.fx import GraphModule

from aot.dialect.graph import edge_of
from aot.errors import LoweringError
from aot.lower import Lowered, lower
from aot.options import Measure, Quantize
from aot.quantizer.observers import OBSERVERS, begin_sample
from aot.quantizer.third_party import KEY
from aot.testing.fixtures import lower_with, op_counts, samples
from aot.upstream.torchao import QuantizationAnnotation, Quantizer

DATA = samples((1, 3, 6, 6), count=8)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.middle = nn.Sequential(nn.Linear(4, 16), nn.ReLU6(), nn.Linear(16, 8, bias=False))
        self.head, self.drop = nn.Linear(8, 5), nn.Dropout()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = self.drop(self.middle(torch.relu(self.conv(x))))
        result: torch.Tensor = self.head(rows * 2.0 + 1.0)
        return result


@functools.cache
def net() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return Net().eval()


def lowered(**options: Any) -> Lowered:
    return lower_with(net(), DATA[0], calibration=DATA, per_op=False, **options)


@functools.cache
def default() -> Lowered:
    return lowered()


def sqnr(result: Lowered) -> float:
    return result.quality.outputs[0].sqnr_db or 0.0


FLOATS: dict[str, tuple[Any, dict[str, int]]] = {
    "the last layer": ({"head": "float32"}, {"aten.bmm": 1, "aten.add": 1, "pl.linear": 2}),
    "a layer between": (
        {"default": "int8", "middle.0": "float32"},
        {"aten.bmm": 1, "aten.add": 1, "pl.linear": 2, "pl.quantize": 1},
    ),
    "a pattern": (
        {"middle.*": "float32"},
        {"aten.bmm": 2, "aten.add": 1, "aten.maximum": 1, "aten.minimum": 1, "pl.linear": 1},
    ),
    "a convolution": ({"conv": "float32"}, {"aten.convolution": 1, "pl.linear": 3}),
    "but one": ({"middle": "float32", "middle.0": "int8"}, {"aten.bmm": 1, "pl.linear": 2}),
    "all but one": (
        {"default": "float32", "conv": "int8"},
        {"aten.bmm": 3, "aten.add": 3, "aten.mul": 1, "pl.conv2d": 1},
    ),
}


@pytest.mark.parametrize("name", FLOATS)
def test_layers_stay_float(name: str) -> None:
    quantization, expected = FLOATS[name]
    result = lowered(quantization=quantization)
    counts = op_counts(result.module)
    assert {op: counts.get(op, 0) for op in expected} == expected
    assert sqnr(result) > sqnr(default()) - 2.0
    rows = [row for row in result.report["ops"] if row["op"].startswith("aten.")]
    assert rows and all(row["precision"] == "float32" for row in rows)
    assert result.report["float_ops"] == len(rows)
    assert result.report["quantization"] == "mixed"


def test_a_float_layer_computes_as_torch_does() -> None:
    """The layer runs on the results of the int8 layers before it."""
    result = lowered(quantization={"head": "float32"})
    inner = lower(_Body().eval(), DATA[0], calibration=DATA, measure=Measure(per_op=False))
    (x,) = DATA[0]
    body = inner.dequantize_outputs(inner.reference([x]))[0]
    parts: Any = net()
    with torch.no_grad():
        expected = parts.head(body)
    torch.testing.assert_close(result.reference([x])[0], expected, rtol=1e-5, atol=1e-5)


class _Body(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts: Any = net()
        result: torch.Tensor = parts.middle(torch.relu(parts.conv(x))) * 2.0 + 1.0
        return result


@pytest.mark.parametrize(
    "options, message",
    [
        ({"quantization": {"haed": "float32"}}, "'haed' matches no layer; the nearest are head"),
        (
            {"quantization": "int4"},
            "quantization 'int4' does not exist. Choices: int8, int16, int8w4, int8w4g32",
        ),
        (
            {"quantization": {"head": "int7"}},
            "quantization 'int7', of 'head' does not exist. Choices: int8",
        ),
        (
            {"quantization": {"drop": "int16"}},
            "'drop' matches no layer: no op is left of that Dropout, .*; the nearest are",
        ),
        (
            {"quantization": {":relu": "int8w4"}},
            "':relu' cannot be int8w4: nothing that it matches has weights",
        ),
        (
            {"quantization": {"middle.0": "int16", "middle.*": "float32"}},
            "'middle.0' has no effect: 'middle..', later in the dict",
        ),
        (
            {"observer": {"head": "mse", "h*": "minmax", "*:linear": "percentile"}},
            "observer: 'head' has no effect: 'h.', '.:linear', later in the dict",
        ),
        ({"quantization": ["head"]}, "quantization is list: give one text .* or a dict by layer"),
        ({"observer": 3}, "observer is int: give one text for the whole model, or a dict by layer"),
        (
            {"observer": {3: "mse"}},
            r"observer has the key 3; a key must be a layer's name .* .layers.3",
        ),
        (
            {"equalize": {"middle": True}},
            r"equalize must be True or False .* got \{'middle': True\}",
        ),
        ({"observer": {"middle.7": "mse"}}, "observer: 'middle.7' matches no layer"),
        ({"quantization": {"mul": "int16"}}, "'mul' matches no layer; the nearest are :mul"),
        ({"quantization": {":mull": "int16"}}, "':mull' matches no function; the nearest are :mul"),
        ({"quantization": {"head:add": "int16"}}, "'head:add' matches no function; .* head:"),
        ({"observer": "best"}, "observer 'best' does not exist. Choices: histogram, minmax"),
    ],
)
def test_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LoweringError, match=message):
        lowered(**options)


FUNCTIONS: dict[str, tuple[str, list[str]]] = {
    "of the model's own forward": (":relu", ["pl.conv2d"]),
    "of a function in two steps": (":mul", ["pl.lut"]),
    "by the value's name": (":ad*", ["pl.lut"]),
    "everywhere": ("*:linear", ["pl.linear"] * 3),
    "in a module": ("middle:linear", ["pl.linear"] * 2),
    "in modules inside": ("middle.*:linear", ["pl.linear"] * 2),
}


def of_int16(result: Lowered) -> list[str]:
    """Return the ops that compute int16."""
    moved = ("pl.transpose", "pl.requantize", "pl.quantize")
    rows = result.report["ops"]
    return [r["op"] for r in rows if r["precision"] == "int16" and r["op"] not in moved]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_names(name: str) -> None:
    pattern, expected = FUNCTIONS[name]
    assert of_int16(lowered(quantization={pattern: "int16"})) == expected


class Gate(nn.Module):
    """A pointwise function. A module computes only a part of it."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Tanh()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.gate(x) * 0.5 + 0.25
        return result


@pytest.mark.parametrize(
    ("quantization", "expected"),
    [
        ({}, {"pl.lut": 1}),
        ({"gate": "int16"}, {"pl.lut": 2}),
        ({"gate": "float32"}, {"aten.tanh": 1, "pl.lut": 1}),
        ({"default": "int16", "gate": "int8"}, {"pl.lut": 2}),
        ({"default": "float32", "gate": "int8"}, {"pl.lut": 1, "aten.mul": 1, "aten.add": 1}),
    ],
)
def test_a_function_is_split_where_layers_differ(
    quantization: dict[str, str], expected: dict[str, int]
) -> None:
    data = samples((1, 8), count=8)
    result = lower(
        Gate().eval(),
        data[0],
        calibration=data,
        quantize=Quantize(quantization=quantization),
        measure=Measure(per_op=False),
    )
    counts = op_counts(result.module)
    assert {op: counts.get(op, 0) for op in expected} == expected
    wide = list(quantization.values()).count("int16")
    assert of_int16(result) == ["pl.lut"] * wide
    assert sqnr(result) > 30.0


class Scores(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x @ x.mT, -1) @ x


@pytest.mark.parametrize("pattern", [":softmax", "*:softmax"])
def test_a_function_in_float_is_so_in_all_that_becomes_of_it(pattern: str) -> None:
    """The function has no kernel of its own and is decomposed into five ops with kernels."""
    data = samples((1, 4, 8), count=4)
    result = lower(
        Scores().eval(),
        data[0],
        calibration=data,
        quantize=Quantize(quantization={pattern: "float32"}),
        measure=Measure(per_op=False),
    )
    counts = op_counts(result.module)
    assert counts["pl.bmm"] == 2 and "pl.softmax" not in counts
    assert counts["aten.exp"] == counts["aten.div"] == counts["aten.amax"] == 1


class InverseErrors(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.erfinv(x.tanh())


def test_a_layer_without_a_float_kernel_is_an_error() -> None:
    layers = nn.Sequential(nn.Linear(8, 4), InverseErrors()).eval()
    data = [torch.randn(2, 8)] * 4
    with pytest.raises(LoweringError, match=r"erfinv.*no float kernel\n.*at 1 \(InverseErrors\)"):
        lower(layers, data[0], calibration=data, quantize=Quantize(quantization={"1": "float32"}))


class KeepsFloat(Quantizer):  # type: ignore[misc]
    """Another's: one layer has no quantization."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self._place = place

    def annotate(self, model: GraphModule) -> GraphModule:
        layers = [n for n in model.graph.nodes if n.target is torch.ops.aten.linear.default]
        layers[self._place].meta[KEY] = QuantizationAnnotation(_annotated=True)
        return model

    def validate(self, model: GraphModule) -> None:
        pass


@pytest.mark.parametrize("place", [0, 1, 2])
def test_another_quantizer_goes_first(place: int) -> None:
    result = lowered(quantizer=KeepsFloat(place))
    counts = op_counts(result.module)
    assert (counts["aten.bmm"], counts["pl.linear"], counts["pl.conv2d"]) == (1, 2, 1)
    assert sqnr(result) > sqnr(default()) - 2.0


def scales(result: Lowered) -> list[float]:
    nodes = [n for n in result.folded.graph.nodes if n.op == "call_function"]
    return [edge_of(n).scale for n in nodes if edge_of(n).quantization is not None]


def test_an_observer_of_a_layer_is_of_that_layer() -> None:
    changed = lowered(observer={"middle.2": "moving_average"})
    pairs = list(zip(scales(default()), scales(changed), strict=True))
    assert sum(a != b for a, b in pairs) == 1


LIMITS = {"quant_min": -128, "quant_max": 127}

# An observer, and the largest value inside its range for 100,000 normal values and one of 50.
OUTLIER = {
    "histogram": (4.0, 51.0),
    "minmax": (49.9, 50.1),
    "moving_average": (3.0, 10.0),
    # The sum of rounding, 100,000 (c + 4)^2 / (12 * 255^2), and clipping, (50 - c)^2, has its
    # minimum at c = 44.
    "mse": (42.0, 46.0),
    "percentile": (3.5, 5.0),
}


@pytest.mark.parametrize("name", OBSERVERS)
def test_observers_with_an_outlier(name: str) -> None:
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(100, 1000, generator=generator)
    values[60, 7] = 50.0
    observer = OBSERVERS[name](dtype=torch.int8, qscheme=torch.per_tensor_affine, **LIMITS)
    for sample in values:
        begin_sample(observer)
        observer(sample)
    scale, zero_point = observer.calculate_qparams()
    low, high = OUTLIER[name]
    assert low < float(scale) * (127 - int(zero_point)) < high


def test_the_mean_squared_error_is_the_least() -> None:
    """Compares all observers on values with tails, within the precision of a histogram."""
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(64, 1000, generator=generator)
    values = values * values.abs().square()
    errors = {}
    for name, observer in OBSERVERS.items():
        made = observer(dtype=torch.int8, qscheme=torch.per_tensor_affine, **LIMITS)
        for sample in values:
            made(sample)
        scale, zero_point = (float(q) for q in made.calculate_qparams())
        q = (values / scale + zero_point).round().clamp(-128, 127)
        errors[name] = float(((q - zero_point) * scale - values).square().mean())
    assert errors["mse"] <= 1.02 * min(errors.values())


def test_an_average_is_of_all_values_that_share_a_range() -> None:
    """The order of the values makes no difference. A constant does not pull the range towards
    itself.
    """
    generator = torch.Generator().manual_seed(1)
    found = []
    for order in ((0.1, 1.0, -3.0), (-3.0, 1.0, 0.1)):
        observer = OBSERVERS["moving_average"](dtype=torch.int8, **LIMITS)
        generator.manual_seed(1)
        for sample in torch.rand(50, 100, generator=generator):
            begin_sample(observer)
            for scale in order:
                observer(sample * scale)
        found.append((float(observer.min_val), float(observer.max_val)))
    assert found[0] == pytest.approx(found[1])
    assert found[0] == pytest.approx((-3.0, 1.0), rel=0.05)
