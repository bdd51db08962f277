# SPDX-License-Identifier: Apache-2.0
"""Models whose first input has the quantization of another model's first output."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.functional import pad

from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Io, Measure, Quantize
from aot.quality.decibels import decibels, power
from aot.testing.fixtures import lower_with, model, samples
from aot.testing.lockstep import compare

DATA = samples((1, 3, 8, 8), count=12)


def _front(last: Callable[[torch.Tensor], torch.Tensor] = torch.relu) -> nn.Module:
    return model(lambda conv, x: last(conv(x)), nn.Conv2d(3, 4, 3))


# Readers of the front's output, [1, 4, 6, 6]: (name: function of a layer each, and the value)
BACKS: dict[str, Callable[..., object]] = {
    "a layer": lambda conv, linear, x: linear(conv(x).flatten(1)),
    "a pool": lambda conv, linear, x: linear(conv(torch.max_pool2d(x, 3, 1, 1)).flatten(1)),
    "beside what is made of it": lambda conv, linear, x: (
        torch.cat([x, conv(pad(x, [1] * 4))], 1).mean((2, 3)),
        linear(x.flatten(1)[:, :64]),
    ),
    "a sum": lambda conv, linear, x: linear((x + conv(pad(x, [1] * 4)) * 3.0).flatten(1)[:, :64]),
    "padded": lambda conv, linear, x: linear(
        conv(pad(x, [1] * 4, value=-9.0))[..., :4].flatten(1)[:, :64]
    ),
    "of a second, too": lambda conv, linear, x, y: linear(conv(x).flatten(1)) + y,
}


def _back(name: str) -> nn.Module:
    return model(BACKS[name], nn.Conv2d(4, 4, 3), nn.Linear(64, 5))


def _sqnr(wanted: torch.Tensor, found: torch.Tensor) -> float:
    return decibels(power(wanted), power(wanted - found)) or 0.0


def _port(report: Any, side: str) -> list[Any]:
    return [report[side][0][name] for name in ("dtype", "scale", "zero_point")]


@pytest.mark.parametrize("name", BACKS)
@pytest.mark.parametrize(
    ("of_front", "of_back"), [("int8", "int8"), ("int8", "int16"), ("int16", "int8")]
)
def test_a_chain(name: str, of_front: str, of_back: str) -> None:
    front, back = _front(), _back(name)
    first = lower(front, DATA[0], calibration=DATA, quantize=Quantize(quantization=of_front))
    between: list[tuple[torch.Tensor, ...]] = [(front(*sample),) for sample in DATA]
    if "second" in name:
        between = [(*sample, torch.full((1, 5), 0.1 * i)) for i, sample in enumerate(between)]
    report = json.loads(json.dumps(first.report))
    second = lower(
        back,
        between[0],
        calibration=between,
        quantize=Quantize(quantization=of_back),
        io=Io(input_from=report),
        measure=Measure(per_op=False),
    )
    assert _port(second.report, "inputs") == _port(first.report, "outputs")
    assert compare(second, between).largest <= 1


@pytest.mark.parametrize(
    ("of_front", "layout"), [("keep", "nchw"), ("nhwc", "nhwc"), ("auto", "nhwc")]
)
def test_images_in_either_order(of_front: str, layout: str) -> None:
    front, back = _front(), _back("a layer")
    first = lower(
        front, DATA[0], calibration=DATA, io=Io(io_layout=of_front), measure=Measure(per_op=False)
    )
    between = [(front(*sample),) for sample in DATA]
    options: dict[str, Any] = {"input_from": first.report, "io_layout": of_front, "per_op": False}
    second = lower_with(back, between[0], calibration=between, **options)
    output, taken = first.report["outputs"][0], second.report["inputs"][0]
    same = ("dtype", "scale", "zero_point", "shape", "layout")
    assert [output[name] for name in same] == [taken[name] for name in same]
    assert output["layout"] == layout


def test_values_are_handed_on_as_they_are() -> None:
    front, back = _front(torch.sigmoid), _back("a layer")
    first = lower(front, DATA[0], calibration=DATA)
    between = [(front(*sample),) for sample in DATA]
    second = lower(back, between[0], calibration=between, io=Io(input_from=first.report))
    alone = lower(back, between[0], calibration=between)
    wanted, found, apart = [], [], []
    for sample, values in zip(DATA, between, strict=True):
        given = first.reference(sample)
        wanted.append(back(*values))
        found.append(second.dequantize_outputs(second.reference(given))[0])
        again = alone.reference(first.dequantize_outputs(given))
        apart.append(alone.dequantize_outputs(again)[0])
    of_chain, of_two = (_sqnr(torch.cat(wanted), torch.cat(values)) for values in (found, apart))
    assert of_chain > max(25.0, of_two - 1.0)


_SCALED = {"dtype": "int8", "scale": 0.5, "zero_point": 3}


@pytest.mark.parametrize(
    ("before", "options", "says"),
    [
        ({}, {}, "must be the report of the previous model"),
        (
            {"outputs": [{"dtype": "int8", "scale": 0.5}]},
            {},
            "must be the report of the previous model",
        ),
        (
            {"dtype": "float32"},
            {},
            "the first output of the previous model is float32 and has no scale",
        ),
        (
            {"dtype": "int32"},
            {},
            "the first output of the previous model is int32 and has no scale",
        ),
        ({"dtype": "int8"}, {}, "the first output of the previous model is int8 and has no scale"),
        (_SCALED, {"float_io": True}, r"is float32.*int8, 0\.5, 3.*float_io is off"),
        (
            {**_SCALED, "shape": [1, 3]},
            {},
            r"model is \[1, 3\], but the first input of this one is \[1, 4\]",
        ),
        (
            {**_SCALED, "shape": [1, 2, 2, 4], "layout": "nhwc"},
            {},
            r"model is \[1, 4, 2, 2\], but the first input of this one is \[1, 4\]",
        ),
    ],
)
def test_what_cannot_be_taken(before: Any, options: dict[str, Any], says: str) -> None:
    if "dtype" in before:
        before = {"outputs": [{"name": "y", "shape": [1, 4], "layout": "row_major", **before}]}
    net = nn.Sequential(nn.Linear(4, 3)).eval()
    data = samples((1, 4))
    with pytest.raises(LoweringError, match=says):
        lower_with(net, data[0], calibration=data, input_from=before, min_sqnr=-999.0, **options)
