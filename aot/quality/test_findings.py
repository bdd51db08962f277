# SPDX-License-Identifier: Apache-2.0
"""Warnings of lowering on calibration data and ranges, by name, and the errors they cause."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from aot.errors import LoweringError
from aot.lower import Lowered, lower
from aot.options import Measure
from aot.testing.fixtures import lower_with, model, samples
from aot.testing.gestures import (
    Samples,
    gesture,
    good,
    mostly_zeros,
    noise,
    of_different_scale,
    one_outlier,
    recordings,
    with_a_dead_channel,
    with_a_far_floor,
    zeros,
)

ANYTHING: dict[str, Any] = {"min_sqnr": -math.inf, "min_agreement": 0.0}


def lowered(calibration: Samples, **options: Any) -> Lowered:
    return lower_with(gesture(), calibration[0], calibration=calibration, **options)


def warned(result: Lowered) -> set[str]:
    return {finding["kind"] for finding in result.report["warnings"]}


@pytest.mark.parametrize("calibration", [one_outlier, noise, zeros])
def test_held_out_samples_expose_a_bad_calibration(calibration: Callable[[], Samples]) -> None:
    with pytest.raises(LoweringError) as error:
        lowered(calibration(), evaluation=recordings(64, seed=2))
    text = str(error.value)
    assert text.startswith("int8 is too far from float on 64 held-out samples:\n  output `softmax`")
    assert "its class is the float model's in" in text and "min_agreement is 0.9" in text
    assert ("calibration sample 17 stretches" in text) == (calibration is one_outlier)
    assert error.value.problems[0].op.startswith("input `input_1`")
    assert "dB with it alone quantized; int8 holds [" in error.value.problems[0].reason
    assert any("(Softmax)" in problem.where for problem in error.value.problems)


class Behind(nn.Module):
    """A function of the trained network's result."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.network, self.function = gesture(), function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(self.network(x))


def held_out() -> Samples:
    return [(x,) for x in torch.split(recordings(64, seed=2)[0], 1)]


CHOICES: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "index": (lambda y: y.argmax(-1), "its class is"),
    "one more": (lambda y: y.argmax(-1) + 1, "its class is"),
    "of another shape": (lambda y: y.argmax(-1, keepdim=True).squeeze()[None], "its class is"),
    "of another type": (lambda y: y.max(-1)[1].to(torch.int32), "its class is"),
    "several": (lambda y: torch.stack([y.argmax(-1), y.argmin(-1)]), "its integers are"),
    "one hot": (lambda y: nn.functional.one_hot(y.argmax(-1), 4), "its integers are"),
    "mask": (lambda y: y > 0.5, "its integers are"),
}


@pytest.mark.parametrize("name", CHOICES)
def test_what_is_made_of_a_class_is_judged_as_its_scores_are(name: str) -> None:
    function, text = CHOICES[name]
    network = Behind(function).eval()
    with pytest.raises(LoweringError, match=rf"`\w+`: {text} the float model's in \d"):
        lower(
            network,
            noise()[0],
            calibration=noise(),
            measure=Measure(evaluation=held_out(), per_op=False),
        )


def test_a_number_whose_mean_hides_the_noise_is_doubted() -> None:
    network = Behind(lambda y: 20.0 + 5.0 * y[:, :1]).eval()
    texts = []
    for data in (noise(), good()):
        found = lower(
            network, data[0], calibration=data, measure=Measure(evaluation=held_out(), per_op=False)
        )
        texts.append([f["text"] for f in found.report["warnings"] if f["kind"] == "flat_output"])
        assert found.report["quality"]["outputs"][0]["sqnr_db"] > 20.0
    ((text,), nothing) = texts
    assert text.startswith("`add` differs little between samples: without each") and not nothing


def test_made_up_samples_and_classes_are_not_doubted_for_what_they_have_in_common() -> None:
    """Both hide nothing: means of noise are much the same, and classes are compared."""
    data = samples((1, 64), count=32)
    ramps = [(torch.linspace(0, 0.1 * i, 64)[None].sin(),) for i in range(32)]
    scores, level = (model(lambda layer, x: 50.0 + layer(x), nn.Linear(64, n)) for n in (4, 1))
    found = []
    for network, given in ((scores, ramps), (level, data), (level, ramps)):
        result = lower_with(network, given[0], calibration=given, per_op=False, **ANYTHING)
        found.append("flat_output" in warned(result))
    assert found == [False, False, True]


@pytest.mark.parametrize("value", [True, False])
def test_a_mask_that_is_always_the_same_is_doubted(value: bool) -> None:
    network = model(lambda layer, x, m: layer(x).masked_fill(m, 0.0), nn.Linear(8, 4))
    data = samples((3, 8), count=32)
    same, some = ([(x, torch.full((3, 4), value) ^ m) for (x,) in data] for m in _MASKS)
    texts = []
    for given in (same, some):
        result = lower_with(network, given[0], calibration=given, per_op=False, **ANYTHING)
        found = [f["text"] for f in result.report["warnings"] if f["kind"] == "constant_input"]
        texts.append(found)
    ((text,), nothing) = texts
    assert f" is all {value} in every calibration sample" in text and not nothing


_MASKS = (torch.zeros(3, 4, dtype=torch.bool), torch.eye(3, 4, dtype=torch.bool))


def test_what_is_infinite_is_not_measured_and_said() -> None:
    network = Behind(lambda y: torch.where(y > 0.5, y, -math.inf)).eval()
    result = lower(network, good()[0], calibration=good(), measure=Measure(per_op=False))
    (text,) = (f["text"] for f in result.report["warnings"] if f["kind"] == "endless_output")
    assert re.match(r"`where` is infinite or NaN in float in \d+ elements of 32 samples", text)
    sqnr = result.report["quality"]["outputs"][0]["sqnr_db"]
    assert sqnr is not None and 20.0 < sqnr < 60.0


@pytest.mark.parametrize(
    ("calibration", "kinds", "text"),
    [
        (one_outlier, {"stretched_range"}, "sample 17 stretches the range of input `input_1` to ["),
        (noise, {"noise"}, "input `input_1` looks like torch.randn"),
        (
            zeros,
            {"same_samples", "dead_input", "dead_range"},
            "`input_1` is 0 in every calibration",
        ),
        (mostly_zeros, {"same_samples"}, "the 64 calibration samples are only 4 different ones"),
        (with_a_far_floor, {"far_floor"}, "12.5% of input `input_1` is -87.5, its least value"),
        (of_different_scale, {"lost_channels"}, "along dimension 1, 2 of 3, the first of them 0"),
        (with_a_dead_channel, {"constant_input"}, "1 of 3 channels of input `input_1`, along dim"),
        (lambda: good()[:1], {"few_samples"}, "calibration has 1 sample: use 32 or more"),
    ],
)
def test_calibration_data_are_doubted_by_name(
    calibration: Callable[[], Samples], kinds: set[str], text: str
) -> None:
    result = lowered(calibration(), **ANYTHING)
    assert warned(result) >= kinds
    assert any(text in finding["text"] for finding in result.report["warnings"])
    quality = result.report["quality"]
    assert (quality["held_out"], quality["samples"]) == (False, min(32, len(calibration())))


def test_data_of_another_scale_than_calibrations_are_doubted() -> None:
    held = [(0.01 * x,) for x in torch.split(recordings(16, seed=2)[0], 1)]
    found = lowered(good(), evaluation=held, **ANYTHING).report["warnings"]
    (text,) = (f["text"] for f in found if f["kind"] == "coarse_range")
    assert text.startswith("input `input_1` is in [") and "Normalise both" in text


@pytest.mark.parametrize(
    ("sample", "hint"),
    [
        (torch.zeros(1, 3, 64, dtype=torch.uint8), r". Convert it with x\.to\(torch\.float32\)"),
        (torch.zeros(1, 3, 64, dtype=torch.complex64), r". Pass real numbers, such as torch.view_"),
        (torch.zeros(1, 64, 3), r". Try x\.permute\(0, 2, 1\), if that is the order"),
        (torch.zeros(1, 3, 65), r"\[1, 3, 64\]\.$"),
    ],
)
def test_a_sample_of_another_form_says_what_to_do(sample: torch.Tensor, hint: str) -> None:
    with pytest.raises(LoweringError, match=hint):
        lower(gesture(), good()[0], calibration=[(sample,)])


def test_an_index_outside_of_a_table_is_an_error() -> None:
    layer, example = nn.Embedding(4, 3).eval(), torch.zeros(2, dtype=torch.int64)
    for given in (example, example + 9):
        with pytest.raises(LoweringError, match="has an index outside of its table"):
            lower(layer, given, calibration=[example + 9])


def attend(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x @ x.mT + bias, -1) @ x


def test_a_bias_that_is_no_mask_is_an_error() -> None:
    """A row below the floor of masks is either hidden entirely or refused.

    The same holds for other numbers in an input that is a mask in the example: no range holds both.
    """
    some = torch.where(torch.arange(6) < 4, 0.0, -1e9)
    network = model(attend)

    def data_with(row: torch.Tensor) -> Samples:
        drawn = samples((2, 6, 8))
        return [(0.5 * x, row if i % 2 else some) for i, (x,) in enumerate(drawn)]

    data = data_with(torch.full((6,), -1e9))
    lower_with(network, data[0], calibration=data, per_op=False, **ANYTHING)
    data = data_with(torch.linspace(-20.0, 3.0, 6))
    with pytest.raises(LoweringError, match="calibration sample 1 holds -20"):
        lower(network, data[0], calibration=data)
    data = [(x, torch.linspace(-60.0, -30.0, 6)) for (x,) in samples((2, 6, 8))]
    text = r"softmax.*treated as a mask.* sample 0 a whole row is masked: its largest value is -30"
    with pytest.raises(LoweringError, match=text):
        lower(network, data[0], calibration=data)


def affine(scale: float, offset: float) -> Samples:
    return [(x * scale + offset,) for (x,) in samples((1, 8), count=32)]


def test_ranges_are_doubted_by_name() -> None:
    """A value far from zero gets few steps of a range that includes zero. Another value
    saturates.
    """
    layer = model(lambda a, x: a(x), nn.Linear(8, 4))
    pressure = affine(0.1, 1013.0)
    result = lower_with(layer, pressure[0], calibration=pressure, **ANYTHING)
    (coarse,) = (f for f in result.report["warnings"] if f["kind"] == "coarse_range")
    assert "is in [101" in coarse["text"] and "Subtract its mean" in coarse["text"]
    small, large = affine(0.1, 0.0), affine(1.0, 0.0)
    result = lower_with(layer, small[0], calibration=small, evaluation=large, **ANYTHING)
    saturated = [f["value"] for f in result.report["warnings"] if f["kind"] == "saturation"]
    assert saturated == ["inputs_0", "linear"]


@pytest.mark.parametrize("is_all", [False, True])
def test_a_coarse_value_inside_is_doubted_where_an_output_is_rough(is_all: bool) -> None:
    """Nearly uniform attention uses few steps.

    This costs nothing next to the value it is added to. It costs everything if it is all that
    varies.
    """
    data = samples((1, 8), count=32)

    def weighted(a: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
        weights = torch.softmax(1e-3 * x, -1)
        return (weights - 0.125) * 1e3 if is_all else a(x) + weights @ torch.ones(8, 4)

    layer = model(weighted, nn.Linear(8, 4))
    result = lower_with(layer, data[0], calibration=data, per_op=False, **ANYTHING)
    assert ("coarse_range" in warned(result)) == is_all


@pytest.mark.parametrize("function", [torch.relu, nn.functional.relu6, lambda y: y.clamp(-0.1, 1)])
def test_a_clamp_of_few_steps_of_a_value_with_other_readers_is_doubted(
    function: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    """The remedy in the message works."""
    layer, data = nn.Conv2d(3, 8, 3), samples((1, 3, 8, 8), count=32)
    with torch.no_grad():
        layer.weight[0] = 0.0
    shared = model(lambda a, x: (function(a(x)), a(x).mean((2, 3))), layer)

    class Once(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            y = self.layer(x)
            return function(y), y.mean((2, 3))

    found = []
    for offset, network, quantization in (
        (0.0, Once(), "int8"),
        (-160.0, Once(), "int8"),
        (-160.0, Once(), "int16"),
        (-160.0, shared, "int8"),
    ):
        with torch.no_grad():
            layer.bias[0] = offset  # type: ignore[index]
        result = lower_with(
            network.eval(), data[0], calibration=data, quantization=quantization, **ANYTHING
        )
        texts = [f["text"] for f in result.report["warnings"] if f["kind"] == "coarse_range"]
        sqnr = result.report["quality"]["outputs"][0]["sqnr_db"]
        found.append((len(texts), sqnr > 25.0))
        if texts:
            assert " steps of `convolution` (its input, which other ops also" in texts[0]
    assert found == [(0, True), (1, False), (0, True), (0, True)]


@pytest.mark.parametrize(("scale", "saturates"), [(1.03, False), (2.0, True)])
def test_what_is_hardly_outside_of_a_range_does_not_saturate(scale: float, saturates: bool) -> None:
    small = [(x.clamp(-1.0, 1.0),) for (x,) in affine(1.0, 0.0)]
    large = [(scale * x,) for (x,) in small]
    layer = model(lambda x: torch.tanh(x) * 2.0)
    result = lower_with(layer, small[0], calibration=small, evaluation=large, **ANYTHING)
    clipped = [row["clipped"] for row in result.report["quality"]["values"]]
    assert max(clipped) > 0.01
    assert ("saturation" in warned(result)) == saturates


def test_samples_that_are_in_the_order_of_their_classes_are_measured_all_over() -> None:
    """The samples of one class come last and differ from the calibration. The message gives their
    number.
    """
    small = [(x.clamp(-1.0, 1.0),) for (x,) in affine(1.0, 0.0)]
    held = [*small, *[(x * 3.0,) for (x,) in small[:16]]]
    layer = model(lambda a, x: a(x) * 2.0, nn.Linear(8, 4))
    result = lower_with(layer, small[0], calibration=small, evaluation=held, **ANYTHING)
    texts = [f["text"] for f in result.report["warnings"] if f["kind"] == "saturation"]
    assert texts and all(" on 48 held-out samples: " in text for text in texts)
    highest = max(float(x.max()) for (x,) in held)
    (row, *_) = result.report["quality"]["values"]
    assert row["high"] > 0.7 * highest
    measured = result.report["quality"]["outputs"][0]["sqnr_db"]
    assert row["sqnr_db"] == pytest.approx(measured, abs=3.0)


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_a_value_inside_that_saturates_is_doubted_where_an_output_is_rough(scale: float) -> None:
    """The output itself never leaves its range."""
    data = affine(1.0, 0.0)
    held = [(x.clamp(-1.0, 1.0) * scale,) for (x,) in data]
    network = model(lambda a, x: torch.sin(a(x)) * 4.0, nn.Linear(8, 16))
    result = lower_with(network, data[0], calibration=data, evaluation=held, **ANYTHING)
    rough = result.report["quality"]["outputs"][0]["sqnr_db"] < 25.0
    saturated = [f["value"] for f in result.report["warnings"] if f["kind"] == "saturation"]
    assert rough == (scale > 1.0) and ("linear" in saturated) == rough


def test_zeros_alone_calibrate_nothing() -> None:
    """Without held-out samples the int8 model is like the float one, on zeros."""
    with pytest.raises(
        LoweringError, match=r"and these hold no real data:\n  input `input_1` is 0 in every"
    ):
        lowered(zeros())
    assert "dead_input" in warned(lowered(zeros(), min_sqnr=-math.inf))
    with pytest.raises(LoweringError, match="int8 is too far from float on 64 held-out samples"):
        lowered(zeros(), evaluation=recordings(64, seed=2))


def constants(*values: float) -> Samples:
    """Return samples of two inputs, the second with one element."""
    generator = torch.Generator().manual_seed(0)
    return [(torch.randn(1, 8, generator=generator), torch.tensor([v])) for v in values]


@pytest.mark.parametrize(
    ("calibration", "kind"),
    [
        (constants(*[1.0] * 16), "constant_input"),
        (constants(*range(16)), None),
        (constants(*[0.0] * 16), "dead_input"),
        ([(torch.full((1, 8), 0.5), torch.tensor([1.0]))] * 16, "dead_input"),
        (
            [(torch.full((1, 8), float(i)), torch.tensor([1.0])) for i in range(16)],
            "constant_input",
        ),
    ],
)
def test_constant_inputs(calibration: Samples, kind: str | None) -> None:
    layer = model(lambda a, x, y: a(x) * y, nn.Linear(8, 4))
    found = warned(lower_with(layer, calibration[0], calibration=calibration, **ANYTHING))
    assert found & {"constant_input", "dead_input"} == ({kind} if kind else set())


def test_two_values_need_no_steps_between_them() -> None:
    """Neighbours of a graph, or a one-hot class, as float32."""
    data = [(((x > 0.8) * 1.0),) for (x,) in samples((1, 9, 9), count=32)]
    layer = model(lambda a, x: a(x), nn.Linear(9, 4))
    assert warned(lower_with(layer, data[0], calibration=data, **ANYTHING)) == set()


def test_a_range_that_is_too_wide_is_no_matter_of_channels() -> None:
    """One outlier makes all columns of an image lose their steps."""
    data = [(x.abs(),) for (x,) in samples((1, 1, 8, 8), count=32)]
    data[7][0][0, 0, 3, 3] = 2000.0
    kinds = warned(lower_with(nn.Conv2d(1, 4, 3).eval(), data[0], calibration=data, **ANYTHING))
    assert "stretched_range" in kinds and "lost_channels" not in kinds


@pytest.mark.parametrize(
    ("first", "text"),
    [
        (1, "32 of the calibration samples are nearly the same, within 2 steps of int8"),
        (4, "32 of the calibration samples are 4 in effect, within 2 steps of int8"),
        (9, None),
    ],
)
def test_samples_that_differ_by_a_little_noise(first: int, text: str | None) -> None:
    data = samples((1, 16), count=first)
    slightly = [(data[i % first][0] + 1e-3 * torch.randn(1, 16),) for i in range(40)]
    result = lower_with(nn.Linear(16, 4).eval(), slightly[0], calibration=slightly, **ANYTHING)
    found = [f["text"] for f in result.report["warnings"] if f["kind"] == "same_samples"]
    assert len(found) == (text is not None) and (text is None or found[0].startswith(text))
