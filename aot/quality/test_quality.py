# SPDX-License-Identifier: Apache-2.0
"""What lowering says of its own quality, and what it refuses."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from aot.errors import LoweringError
from aot.inputs import Inputs
from aot.lower import Lowered, lower
from aot.quality.evaluation import held_out
from aot.quality.float_model import FloatModel
from aot.quality.outputs import Output
from aot.quality.suggest import suggest
from aot.quality.values import BINS, SAMPLES
from aot.testing.fixtures import forget_rules, model, samples
from aot.testing.stateful import Buffers, ramp

Samples = list[tuple[torch.Tensor, ...]]

ANYTHING: dict[str, Any] = {"min_sqnr": -math.inf, "min_agreement": 0.0}


def recordings(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Four gestures: waves of different frequency, along different axes; and which they are."""
    generator = torch.Generator().manual_seed(seed)
    classes = torch.randint(0, 4, (count,), generator=generator)
    frequency = torch.tensor([1.0, 2.0, 3.0, 5.0])[classes][:, None, None]
    phase, size = (torch.rand(count, 1, 1, generator=generator) for _ in range(2))
    wave = torch.sin(2 * math.pi * (frequency * torch.arange(64) / 64 + phase))
    axes = (0.3 + torch.eye(3)[classes % 3])[:, :, None]
    noise = 0.1 * torch.randn(count, 3, 64, generator=generator)
    return 4 * ((0.5 + size) * axes * wave + noise), classes


@functools.cache
def gesture() -> nn.Module:
    """The network of examples/gesture, trained until it makes no mistake."""
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv1d(3, 16, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv1d(16, 24, 3, stride=2, padding=1),
        nn.Hardswish(),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(24, 4),
    )
    inputs, classes = recordings(256, seed=0)
    optimizer = torch.optim.Adam(network.parameters(), 0.02)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(inputs), classes).backward()
        optimizer.step()
    return nn.Sequential(*network, nn.Softmax(dim=-1)).eval()


def good() -> Samples:
    return [(x,) for x in torch.split(recordings(64, seed=1)[0], 1)]


def one_outlier() -> Samples:
    data = good()
    data[17][0][0, 1, 30] = 2000.0
    return data


def noise() -> Samples:
    return [(0.1 * x,) for (x,) in samples((1, 3, 64), count=64)]


def zeros() -> Samples:
    return [(torch.zeros(1, 3, 64),)] * 64


def mostly_zeros() -> Samples:
    return [*good()[:3], *zeros()[:61]]


def with_a_far_floor() -> Samples:
    """Every eighth is what a logarithm makes of next to nothing."""
    data = good()
    for (x,) in data:
        x[..., ::8] = -87.5
    return data


def of_different_scale() -> Samples:
    return [(x * torch.tensor([1e-3, 1.0, 1e3])[:, None],) for (x,) in good()]


def lowered(calibration: Samples, **options: Any) -> Lowered:
    return lower(gesture(), calibration[0], calibration=calibration, **options)


@functools.cache
def well_lowered() -> Lowered:
    return lowered(good(), evaluation=recordings(64, seed=2))


def warned(result: Lowered) -> set[str]:
    return {finding["kind"] for finding in result.report["warnings"]}


def test_a_good_model_passes_and_says_how_good_it_is() -> None:
    quality = well_lowered().report["quality"]
    assert (quality["samples"], quality["held_out"]) == (64, True)
    (output,) = quality["outputs"]
    assert output["sqnr_db"] > 30 and output["cosine"] > 0.999 and output["agreement"] == 1.0
    assert quality["accuracy"] == {"float32": 1.0, "int8": 1.0}
    counts = recordings(64, seed=2)[1].bincount()
    assert quality["confusion"] == counts.diag().tolist()
    assert well_lowered().report["warnings"] == []
    lines = well_lowered().quality.lines()
    assert "agreement 100.00%, on 64 held-out samples" in lines[0]
    assert lines[1] == "accuracy 100.00% in float32, 100.00% in int8"


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


def test_a_class_as_an_integer_is_judged_as_its_scores_are() -> None:
    class Chosen(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = gesture()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.network(x).argmax(-1)  # type: ignore[no-any-return]

    data, held = one_outlier(), recordings(64, seed=2)
    with pytest.raises(LoweringError, match=r"`argmax`: its class .* that the float model is sure"):
        lower(Chosen().eval(), data[0], calibration=data, evaluation=held)


@pytest.mark.parametrize(
    ("calibration", "kinds", "text"),
    [
        (one_outlier, {"stretched_range"}, "sample 17 stretches the range of input `input_1` to ["),
        (noise, {"noise"}, "input `input_1` looks like torch.randn"),
        (zeros, {"same_samples", "constant_input", "dead_range"}, "is 0 in every calibration"),
        (mostly_zeros, {"same_samples"}, "the 64 calibration samples are only 4 different ones"),
        (with_a_far_floor, {"far_floor"}, "12.5% of input `input_1` is -87.5, its least value"),
        (of_different_scale, {"lost_channels"}, "along dimension 1, 2 of 3, the first of them 0"),
        (lambda: good()[:1], {"few_samples"}, "calibration has 1 sample: give 32 or more"),
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
    assert text.startswith("input `input_1` is in [") and "normalise both" in text


@pytest.mark.parametrize(
    ("sample", "hint"),
    [
        (torch.zeros(1, 3, 64, dtype=torch.uint8), r": give it as .* x\.to\(torch\.float32\)"),
        (torch.zeros(1, 64, 3), r": x\.permute\(0, 2, 1\), if that is the order"),
        (torch.zeros(1, 3, 65), r"\[1, 3, 64\]$"),
    ],
)
def test_a_sample_of_another_form_says_what_to_do(sample: torch.Tensor, hint: str) -> None:
    with pytest.raises(LoweringError, match=hint):
        lower(gesture(), good()[0], calibration=[(sample,)])


def test_an_index_outside_of_a_table_is_an_error() -> None:
    layer, example = nn.Embedding(4, 3).eval(), torch.zeros(2, dtype=torch.int64)
    for given in (example, example + 9):
        with pytest.raises(LoweringError, match="has an index that is outside of its table"):
            lower(layer, given, calibration=[example + 9])


def attend(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x @ x.mT + bias, -1) @ x


def test_a_bias_that_is_no_mask_is_an_error() -> None:
    """Below the floor of masks, a row keeps its differences, or is refused."""
    some = torch.where(torch.arange(6) < 4, 0.0, -1e9)
    rows = {"masked": torch.full((6,), -1e9), "near": torch.linspace(-20.0, 3.0, 6)}
    network = model(attend)
    for row in rows.values():
        data = [(0.5 * x, row if i % 2 else some) for i, (x,) in enumerate(samples((2, 6, 8)))]
        lower(network, data[0], calibration=data, per_op=False, **ANYTHING)
    data = [(x, torch.linspace(-60.0, -30.0, 6)) for (x,) in samples((2, 6, 8))]
    text = r"softmax.*taken for a mask.* sample 0 a whole row is, with -30 the largest"
    with pytest.raises(LoweringError, match=text):
        lower(network, data[0], calibration=data)


def affine(scale: float, offset: float) -> Samples:
    return [(x * scale + offset,) for (x,) in samples((1, 8), count=32)]


def test_ranges_are_doubted_by_name() -> None:
    """A value far from zero takes few steps of a range that holds zero; another one saturates."""
    layer = model(lambda a, x: a(x), nn.Linear(8, 4))
    pressure = affine(0.1, 1013.0)
    result = lower(layer, pressure[0], calibration=pressure, **ANYTHING)
    (coarse,) = (f for f in result.report["warnings"] if f["kind"] == "coarse_range")
    assert "is in [101" in coarse["text"] and "subtract its mean" in coarse["text"]
    small, large = affine(0.1, 0.0), affine(1.0, 0.0)
    result = lower(layer, small[0], calibration=small, evaluation=large, **ANYTHING)
    saturated = [f["value"] for f in result.report["warnings"] if f["kind"] == "saturation"]
    assert saturated == ["inputs_0", "linear"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"min_sqnr": 200.0}, "SQNR .* dB, min_sqnr is 200.0"),
        ({"min_agreement": 1.0}, r"in \d\d.\d%, min_agreement is 1.0"),
    ],
)
def test_limits_are_the_users(options: dict[str, Any], text: str) -> None:
    """A hundred classes beside each other are not all the float model's."""
    data = samples((1, 8), count=100)
    with pytest.raises(LoweringError, match=text) as error:
        lower(nn.Linear(8, 100).eval(), data[0], calibration=data, per_op=False, **options)
    assert error.value.problems, "the worst values, though nobody asked to measure them"


@pytest.mark.parametrize(
    "options", [{"min_sqnr": math.nan}, {"min_agreement": 1.1}, {"min_agreement": -0.1}]
)
def test_limits_that_are_none(options: dict[str, Any]) -> None:
    data = samples((1, 8))
    with pytest.raises(LoweringError, match=f"{next(iter(options))} is "):
        lower(nn.Linear(8, 4).eval(), data[0], calibration=data, **options)


def test_what_is_no_choice_has_no_agreement() -> None:
    data = samples((1, 3, 6, 5))
    with pytest.raises(LoweringError, match="min_agreement is 0.9, and no output .* is a choice"):
        lower(nn.Conv2d(3, 2, 3).eval(), data[0], calibration=data, min_agreement=0.9)


def several(a: nn.Module, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y = a(x)
    return y, y.flatten(1).argmax(1), y.softmax(1), torch.relu(y) * 0.0


@functools.cache
def with_several_outputs(**options: Any) -> Lowered:
    data = samples((1, 3, 6, 5), count=32)
    return lower(model(several, nn.Conv2d(3, 4, 3)), data[0], calibration=data, **options)


def test_every_output_is_measured_for_what_it_is() -> None:
    values, index, probabilities, nothing = with_several_outputs().report["quality"]["outputs"]
    assert values["sqnr_db"] > 30 and values["agreement"] is None
    assert (index["sqnr_db"], index["cosine"]) == (None, None) and index["agreement"] > 0.9
    assert probabilities["sqnr_db"] > 25 and probabilities["agreement"] > 0.9
    assert (nothing["sqnr_db"], nothing["cosine"]) == (None, None)


@pytest.mark.parametrize(("largest", "count"), [(True, 1), (False, 1), (True, 2), (False, 4)])
def test_choices_are_sure_where_both_neighbours_are_far(largest: bool, count: int) -> None:
    """Of four values two are near each other: the chosen are sure but for those."""
    values = torch.tensor([[5.0, 5.01, 1.0, -9.0]])
    output = Output("topk", 1, False, count=count, largest=largest)
    chosen = values.topk(count, 1, largest).indices
    output.add(chosen, chosen, values)
    near = [index in (0, 1) for index in chosen.flatten().tolist()]
    assert output.clear_agreement == (near.count(False), near.count(False))


@pytest.mark.parametrize("options", [{"float_io": True}, {"io_layout": "nhwc"}])
def test_the_border_changes_no_measurement(options: dict[str, Any]) -> None:
    plain, other = (with_several_outputs(**o).report["quality"] for o in ({}, options))
    assert plain["outputs"] == other["outputs"]
    assert [v["sqnr_db"] for v in plain["values"]] == [v["sqnr_db"] for v in other["values"]]


def test_float_ops_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_rules(monkeypatch, torch.ops.aten.div.Tensor)
    data = samples((1, 8), count=16)
    division = model(lambda x: x / (x.abs().sum(1, keepdim=True) + 1.0))
    result = lower(division, data[0], calibration=data, allow_float_fallback=True)
    assert result.report["float_ops"] > 0
    assert result.report["quality"]["outputs"][0]["sqnr_db"] > 30


def test_indices_are_inputs_without_a_range() -> None:
    generator = torch.Generator().manual_seed(1)
    data = [(torch.randint(0, 9, (1, 40), generator=generator),) for _ in range(32)]
    parts = nn.Embedding(9, 6), nn.Linear(6, 4)
    words = model(lambda table, layer, x: layer(table(x)).mean(1), *parts)
    result = lower(words, data[0], calibration=data, evaluation=data)
    assert result.report["quality"]["outputs"][0]["sqnr_db"] > 25
    assert warned(result) == set() and result.quality.worst()


def smoothed(m: Any, x: torch.Tensor) -> torch.Tensor:
    m.a = m.a * 0.75 + x * 0.25
    return torch.tanh(m.a)


def test_state_is_carried_through_sequences() -> None:
    module: Any = Buffers(smoothed, a=ramp()).eval()
    sequences = [samples((1, 6), count=12), samples((1, 6), count=4)]
    result = lower(module, sequences[0][0], calibration=sequences, evaluation=sequences)
    assert torch.equal(module.a, ramp()), "the user's own state stays"
    quality = result.report["quality"]
    assert quality["samples"] == 16 and quality["outputs"][0]["sqnr_db"] > 25
    floats = FloatModel(module)
    first = floats(sequences[0][0])[0]
    assert not torch.equal(floats(sequences[0][0])[0], first)
    floats.reset()
    assert torch.equal(floats(sequences[0][0])[0], first)


def test_classes_that_are_mistaken_are_counted_where_they_stand() -> None:
    right, chosen = torch.tensor([0, 2, 2, 1, 2]), torch.tensor([0, 1, 2, 1, 1])
    output = Output("o", 1, True, classes=[(right, chosen)])
    assert output.confusion(right, 3) == [[1, 0, 0], [0, 1, 0], [0, 2, 1]]
    assert output.confusion(right, 2) is None
    assert Output("o", 1, True, classes=[(right, chosen - 1)]).confusion(right, 3) is None


def test_a_histogram_is_over_what_the_quantization_holds() -> None:
    value = next(v for v in well_lowered().quality.values if v.is_input)
    low, high = value.limits
    value = replace(value, histogram=[0] * (BINS + 2), elements=0)
    step = (high - low) / BINS
    one = value.quantization.scale
    seen = [low - step, low - one / 2, low, low + 1.5 * step, high, high + one / 2, high + step]
    value.add(torch.tensor(seen), None)
    assert value.histogram == [1, 2, 1, *[0] * (BINS - 3), 2, 1]


def test_rows_are_joined_by_the_ids_of_ops() -> None:
    report = well_lowered().report
    rows = report["quality"]["values"]
    ops = {op["id"]: op for op in report["ops"]}
    assert [row["name"] for row in rows if not row["id"]] == ["input_1"]
    named = {ops[row["id"]]["op"]: row for row in rows if row["id"]}
    assert named["pl.conv2d"]["module"] == "2 (Conv1d)"
    assert named["pl.softmax"]["low"] >= 0.0 and named["pl.softmax"]["high"] <= 1.0
    assert all(0.0 <= row["clipped"] < 0.02 for row in rows)
    for row in rows:
        below, *held, above = row["histogram"]
        every = below + sum(held) + above
        assert len(held) == BINS and every % SAMPLES == 0
        assert (below + above) / every == pytest.approx(row["clipped"], abs=1e-6)
    # Outputs of a softmax are never below 0, which is where its scale starts.
    assert named["pl.softmax"]["histogram"][0] == 0
    moved = [row for row in rows if row["id"] and ops[row["id"]]["op"] == "pl.reshape"]
    assert moved and all(row["alone_db"] == 150.0 for row in moved), "moving bytes costs nothing"


class Uneven(nn.Module):
    """Two layers side by side, whose sum is mostly one large constant."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fine = nn.Linear(16, 8)
        self.coarse = nn.Linear(16, 8)
        self.last = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        both = torch.relu(self.fine(x)) + (self.coarse(x) + 20.0)
        result: torch.Tensor = self.last(both - 20.0)
        return result


def test_noise_of_single_values_adds_up_to_the_models() -> None:
    data = samples((1, 16), count=32)
    result = lower(Uneven().eval(), data[0], calibration=data, evaluation=data[:4], min_sqnr=0.0)
    alone = sum(value.noise_to_signal or 0.0 for value in result.quality.values)
    measured = result.report["quality"]["outputs"][0]["sqnr_db"]
    # 4 dB: the errors are not quite independent, the first of these three values rounds for all.
    assert -10 * math.log10(alone) == pytest.approx(measured, abs=4.0)
    worst = result.quality.worst()[0]
    assert "both = torch.relu(self.fine(x)) + (self.coarse(x) + 20.0)" in worst.source
    cheap = lower(Uneven().eval(), data[0], calibration=data, min_sqnr=0.0, per_op=False)
    rows = cheap.report["quality"]["values"]
    assert rows and all(row["alone_db"] is None and row["sqnr_db"] is not None for row in rows)


def test_suggestions_predict_what_is_measured_then() -> None:
    stretched = lowered(one_outlier(), evaluation=recordings(16, seed=2), **ANYTHING)
    best = next(s for s in suggest(stretched) if s.kind == "range")
    assert best.value.is_input and best.measured_db is not None and best.before_db is not None
    assert best.measured_db > best.before_db + 3
    assert best.predicted_db == pytest.approx(best.measured_db, abs=6.0)
    assert f"SQNR {best.before_db:.1f} dB -> {best.measured_db:.1f} dB, predicted" in str(best)


class Branches(nn.Module):
    """Of its two last layers one hardly matters."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(16, 64)
        self.main = nn.Linear(64, 8)
        self.side = nn.Linear(64, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.first(x))
        result: torch.Tensor = self.main(x) + 0.01 * self.side(x)
        return result


def test_suggested_settings_do_what_they_promise() -> None:
    """Of precision where it costs most, and of flash where it costs little, by layer's name."""
    data = samples((1, 16), count=32)
    options: dict[str, Any] = {"calibration": data, "evaluation": data[:4], **ANYTHING}
    network = Branches().eval()
    base = lower(network, data[0], **options)

    def again(setting: Mapping[str, str]) -> Lowered:
        return lower(network, data[0], quantization=setting, per_op=False, **options)

    found = suggest(base, count=2, again=again)
    named = {(s.layer, s.kind): s for s in found if s.setting is not None}
    for (layer, kind), suggestion in named.items():
        assert suggestion.setting == {layer: kind}
        assert suggestion.lowered_db == pytest.approx(suggestion.measured_db, abs=3.0)
        assert f'quantization={{"{layer}": "{kind}"}}' in str(suggestion)
    assert {kind for _, kind in named} >= {"int16", "float32"}
    smaller = named["side", "int8w4g32"]
    assert smaller.saved_bytes == 8 * (64 - 32 - 2)
    assert ("main", "int8w4g32") not in named


@pytest.mark.parametrize(
    ("evaluation", "text"),
    [
        ([], "the evaluation data are empty"),
        (3, "evaluation is int, not a list"),
        ([torch.ones(1, 5)], r"evaluation sample 0, input 0 is float32\[1, 5\]"),
        ((torch.ones(3, 4), torch.zeros(2, dtype=torch.int64)), r"give inputs \[N, \.\.\.\] and a"),
    ],
)
def test_bad_evaluation_data(evaluation: Any, text: str) -> None:
    with pytest.raises(LoweringError, match=text):
        held_out(evaluation, Inputs(nn.Linear(4, 2), torch.ones(1, 4), ""))


def test_one_buffer_filled_again_is_several_samples() -> None:
    buffer = torch.empty(1, 4)
    inputs = Inputs(nn.Linear(4, 2), buffer, "")
    data: Sequence[Any] = held_out((buffer.fill_(v) for v in (1.0, 2.0)), inputs).samples
    assert [float(x[0, 0]) for _, (x,) in data] == [1.0, 2.0]
