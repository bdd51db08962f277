# SPDX-License-Identifier: Apache-2.0
"""Outputs have their own scale if a shared or fixed one costs accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.fx import GraphModule

from aot.dialect.graph import edge_of, quantization_of
from aot.dialect.quantization import Quantization
from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Measure, Quantize
from aot.passes.fold_qdq import fold_qdq
from aot.quantizer.observers import KnownRange
from aot.testing.fixtures import lower_with, model, op_counts, quantized, samples
from aot.upstream.torch import tree_leaves

IMAGE, ROW = (1, 16, 8, 8), (1, 1000)
DATA: dict[tuple[int, ...], list[tuple[torch.Tensor, ...]]] = {
    shape: samples(shape, count=48) for shape in (IMAGE, ROW)
}

# Function, its input, the resulting op, required dB of signal to noise.
CASES: dict[str, tuple[Callable[..., torch.Tensor], tuple[int, ...], str, float]] = {
    "pool of relu": (lambda x: F.adaptive_avg_pool2d(x.relu(), 1), IMAGE, "mean", 44.0),
    "pool of hardswish": (lambda x: F.adaptive_avg_pool2d(F.hardswish(x), 1), IMAGE, "mean", 40.0),
    "window of the whole": (lambda x: F.avg_pool2d(x.relu(), 8), IMAGE, "mean", 44.0),
    "pool": (lambda x: F.avg_pool2d(x, 2), IMAGE, "mean_pool2d", 37.0),
    "pool behind relu": (lambda x: F.avg_pool2d(x.relu(), 2), IMAGE, "mean_pool2d", 41.0),
    "pool that overlaps": (lambda x: F.avg_pool2d(x, 3, 1, 1), IMAGE, "mean_pool2d", 34.5),
    "pool of what is inside": (
        lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
        IMAGE,
        "mean_pool2d",
        34.5,
    ),
    "large pool": (lambda x: F.avg_pool2d(x, 6, 3, 3), IMAGE, "mean_pool2d", 35.5),
    "pool over time": (lambda x: F.avg_pool1d(x.flatten(2), 4), IMAGE, "mean_pool2d", 36.5),
    "pool of a volume": (lambda x: F.avg_pool3d(x[:, None], 3), IMAGE, "mean_pool2d", 32.0),
    "adaptive pool": (
        lambda x: F.adaptive_avg_pool2d(x, (3, 5)),
        IMAGE,
        "mean_pool2d",
        35.5,
    ),
    "softmax of many": (lambda x: x.softmax(1), ROW, "softmax", 22.0),
    "sigmoid of the small": (lambda x: (x - 6.0).sigmoid(), ROW, "lut", 22.0),
    "padding outside of tanh": (lambda x: F.pad(x.tanh(), (9, 9), value=-9.0), ROW, "pad", 34.0),
    "padding outside of sigmoid": (
        lambda x: F.pad(x.sigmoid(), (9, 9), value=3.0),
        ROW,
        "pad",
        38.0,
    ),
    "the largest of what infinity is around": (
        lambda x: F.max_pool2d(F.pad(x, (0, 1, 0, 1), value=-math.inf), 3, 2),
        IMAGE,
        "max_pool2d",
        38.0,
    ),
    "tanh of the small": (lambda x: (x * 0.1).tanh(), ROW, "lut", 36.0),
}


@pytest.mark.parametrize("name", CASES)
def test_signal_to_noise(name: str) -> None:
    function, shape, op, reached = CASES[name]
    data = DATA[shape]
    module = model(function)
    graph = fold_qdq(quantized(module, data[:32]), float_io=True)
    assert f"pl.{op}" in op_counts(graph)
    expected, actual = (
        torch.cat([result for x in data[32:] for result in tree_leaves(m(*x))])
        for m in (module, graph)
    )
    noise = (actual - expected).square().sum()
    assert float(10 * torch.log10(expected.square().sum() / noise)) > reached


def output_of(function: Callable[..., torch.Tensor]) -> Quantization:
    graph: GraphModule = fold_qdq(quantized(model(function), DATA[ROW][:4]))
    return quantization_of(graph.graph.output_node().all_input_nodes[0])


def test_most_of_a_known_range_is_all_of_it() -> None:
    assert output_of(torch.sigmoid) == Quantization(1 / 256, -128)
    assert output_of(torch.tanh) == Quantization(1 / 128)
    assert output_of(lambda x: (10.0 * x).softmax(1)) == Quantization(1 / 256, -128)


def test_a_finer_scale_is_of_an_integer_and_keeps_the_zero_point() -> None:
    for function, zero_point in ((lambda x: x.softmax(1), -128), (lambda x: (x / 9).tanh(), 0)):
        quantization = output_of(function)
        assert quantization.zero_point == zero_point
        assert quantization.scale == float(torch.tensor(1.0 / round(1.0 / quantization.scale)))


def test_padding_inside_of_a_known_range_keeps_it() -> None:
    assert output_of(lambda x: F.pad(x.tanh(), (1, 1), value=-1.0)) == Quantization(1 / 128)
    assert output_of(lambda x: F.pad(x.sigmoid(), (1, 1))) == Quantization(1 / 256, -128)


def test_values_side_by_side_have_one_finer_scale() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([(x - 6.0).sigmoid(), (x - 4.0).sigmoid()], 1)

    graph = fold_qdq(quantized(model(function), DATA[ROW][:4]))
    assert op_counts(graph) == {"pl.lut": 2, "pl.cat": 1}
    nodes = [n for n in graph.graph.nodes if n.op == "call_function"]
    assert len({edge_of(n).quantization for n in nodes}) == 1 and edge_of(nodes[0]).scale < 1 / 512


@pytest.mark.parametrize(
    "largest, steps",
    [(0.0, 256), (1.0, 256), (0.7, 256), (0.5, 453), (0.001, 226666), (1e-9, 2**18)],
)
def test_the_scale_of_a_known_range(largest: float, steps: int) -> None:
    observer = KnownRange(
        known_scale=1 / 256,
        known_zero_point=-128,
        headroom=1 / 8,
        dtype=torch.int8,
        quant_min=-128,
        quant_max=127,
    )
    observer(torch.tensor([0.0, largest]))
    scale, zero_point = observer.calculate_qparams()
    assert float(scale) == pytest.approx(1 / steps, rel=1e-4) and int(zero_point) == -128


@pytest.mark.parametrize("observer", ["histogram", "minmax", "moving_average"])
@pytest.mark.parametrize("quantization", ["int8", "int16"])
def test_what_is_infinite_saturates(quantization: str, observer: str) -> None:
    """The cases are logarithms of 0 and values beyond the largest float32. The latter also tests
    ranges with headroom.
    """

    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.log(x.relu()).clamp(min=-4.0), (x * 60.0).exp()

    data = DATA[ROW]
    options: dict[str, Any] = {"quantization": quantization, "observer": observer}
    result = lower_with(model(function), data[0], calibration=data, min_sqnr=-math.inf, **options)
    for node in result.module.graph.output_node().all_input_nodes:
        assert math.isfinite(quantization_of(node).scale)
    logarithms = result.quality.outputs[0].sqnr_db
    assert logarithms is not None and logarithms > 25.0


@pytest.mark.parametrize("observer", ["histogram", "minmax", "moving_average"])
def test_what_is_no_number_is_an_error(observer: str) -> None:
    data = DATA[ROW]
    with pytest.raises(LoweringError, match="sample 0, aten.sqrt.default gives NaN"):
        lower(model(torch.sqrt), data[0], calibration=data, quantize=Quantize(observer=observer))


@pytest.mark.parametrize("padding", ["zeros", "border"])
def test_samples_near_their_pixels_have_all_weights(padding: str) -> None:
    """Some sampling positions are slightly after a pixel in calibration. Rounding moves some of
    them before it.
    """
    lines = torch.arange(11) / 5.5 - 1.0
    grid = torch.stack(torch.meshgrid(lines, lines, indexing="xy"), -1)[None]

    def function(x: torch.Tensor, flow: torch.Tensor) -> torch.Tensor:
        places = grid + 0.01 * flow.sigmoid()
        return F.grid_sample(x, places, padding_mode=padding, align_corners=True)

    data = samples((1, 3, 12, 12), (1, 11, 11, 2), count=32)
    result = lower(model(function), data[0], calibration=data)
    sqnr = result.quality.outputs[0].sqnr_db
    assert sqnr is not None and sqnr > 24.0


SMALL: dict[str, Callable[[torch.Tensor, float], torch.Tensor]] = {
    "sums": lambda x, s: (x * s + x.flip(0) * s) / s,
    "products": lambda x, s: (x * s) * x.flip(1) / s,
    "means": lambda x, s: (x * s).mean(1) / s,
    "comparisons": lambda x, s: torch.where(x * s < x.flip(1) * s, x, -x),
}


@pytest.mark.parametrize("kind", ["int8", "int16"])
@pytest.mark.parametrize("name", SMALL)
def test_values_below_a_millionth_are_as_good_as_others(name: str, kind: str) -> None:
    generator = torch.Generator().manual_seed(0)
    data = [torch.randn(2, 4, 8, generator=generator) for _ in range(8)]
    found = [
        lower(
            model(lambda x, size=size: SMALL[name](x, size)),
            data[0],
            calibration=data,
            quantize=Quantize(quantization=kind),
            measure=Measure(per_op=False),
        )
        .quality.outputs[0]
        .sqnr_db
        for size in (1.0, 1e-9, 1e-25)
    ]
    assert all(found) and max(found) - min(found) < 1.0  # type: ignore[type-var, operator]
