# SPDX-License-Identifier: Apache-2.0
"""Quality reports of lowering, and models it refuses."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from aot.accept.export import export_aten
from aot.errors import LoweringError
from aot.lower import Lowered, lower
from aot.options import Measure, Quantize
from aot.quality.float_model import FloatModel
from aot.quality.graph_outputs import outputs_of
from aot.quality.outputs import Output
from aot.quality.quality import Limits
from aot.quality.value import BINS, End
from aot.quality.values import SAMPLES
from aot.testing.fixtures import forget_rules, lower_with, model, samples
from aot.testing.gestures import Samples, gesture, good, recordings
from aot.testing.stateful import Buffers, ramp

ANYTHING: dict[str, Any] = {"min_sqnr": -math.inf, "min_agreement": 0.0}


def lowered(calibration: Samples, **options: Any) -> Lowered:
    return lower_with(gesture(), calibration[0], calibration=calibration, **options)


@functools.cache
def well_lowered() -> Lowered:
    return lowered(good(), evaluation=recordings(64, seed=2))


def warned(result: Lowered) -> set[str]:
    return {finding["kind"] for finding in result.report["warnings"]}


def test_a_model_that_export_takes_and_torch_does_not_is_an_error() -> None:
    net = model(lambda x: (y := x.expand(3, -1)).mul_(y))
    with pytest.raises(LoweringError, match=r"fails on a sample: .*\n    at test_quality"):
        lower(net, torch.ones(1, 4), calibration=[torch.ones(1, 4)])


def test_a_gradient_that_export_takes_is_an_error() -> None:
    net = model(lambda x: torch.autograd.grad((x.requires_grad_() ** 2).sum(), x)[0])
    text = r"fails on a sample: .*\n    at .*\n    instead: write the derivative out"
    with pytest.raises(LoweringError, match=text):
        lower(net, torch.ones(1, 4), calibration=[torch.ones(1, 4)])


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


def test_a_printed_model_is_short() -> None:
    assert re.fullmatch(r"<Lowered: \d+ ops, \d+ bytes>", repr(well_lowered()))


def test_printed_quality_is_short() -> None:
    quality = well_lowered().quality
    (output,) = quality.outputs
    assert repr(output) == f"<{output}: {output.distance}>" and "SQNR" in output.distance
    assert len(repr(quality)) < 300 and "64 held-out samples" in repr(quality)
    assert all(len(repr(value)) < 100 for value in quality.values) and quality.values


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"min_sqnr": 200.0}, "SQNR .* dB, min_sqnr is 200.0"),
        ({"min_agreement": 1.0}, r"in \d\d.\d%, min_agreement is 1.0"),
    ],
)
def test_limits_are_the_users(options: dict[str, Any], text: str) -> None:
    """A hundred adjacent classes do not all agree with the float model."""
    torch.manual_seed(0)
    data = samples((1, 8), count=100)
    with pytest.raises(LoweringError, match=text) as error:
        lower_with(nn.Linear(8, 100).eval(), data[0], calibration=data, per_op=False, **options)
    assert error.value.problems, "the worst values, though nobody asked to measure them"


@pytest.mark.parametrize(
    "options",
    [
        {"min_sqnr": math.nan},
        {"min_sqnr": "10"},
        {"min_sqnr": True},
        {"min_agreement": 1.1},
        {"min_agreement": -0.1},
        {"min_agreement": "0.9"},
    ],
)
def test_limits_that_are_none(options: dict[str, Any]) -> None:
    data = samples((1, 8))
    with pytest.raises(LoweringError, match=f"{next(iter(options))} must be "):
        lower_with(nn.Linear(8, 4).eval(), data[0], calibration=data, **options)


ROWS: dict[str, tuple[Callable[..., object], tuple[nn.Module, ...], tuple[int, ...], bool]] = {
    "a linear layer's": (lambda a, x: a(x), (nn.Linear(8, 5),), (1, 8), True),
    "warmer": (lambda a, x: (a(x) + 1.0) / 0.5, (nn.Linear(8, 5),), (1, 8), True),
    "of the last step": (lambda a, x: a(x)[:, -1], (nn.Linear(8, 5),), (1, 3, 8), True),
    "means of channels": (lambda x: x.mean((2, 3)), (), (1, 5, 4, 4), True),
    "a convolution to one pixel": (
        lambda a, x: a(x).flatten(1),
        (nn.Conv1d(2, 5, 8),),
        (1, 2, 8),
        True,
    ),
    "softmax": (lambda x: x.softmax(-1), (), (1, 8), True),
    "a filtered signal": (lambda a, x: a(x[:, None])[:, 0], (nn.Conv1d(1, 1, 3),), (1, 32), False),
    "a function of a signal": (lambda x: torch.tanh(x * 2), (), (1, 32), False),
    "what an input is made again": (lambda a, x: a(x), (nn.Linear(8, 8),), (1, 8), False),
    "one value": (lambda a, x: a(x), (nn.Linear(8, 1),), (1, 8), False),
    "a sum of two": (lambda a, x: a(x) + x[:, :5], (nn.Linear(8, 5),), (1, 8), False),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_classes(name: str) -> None:
    """A row holds classes if a layer computes it so, or if the user declares it."""
    function, layers, shape, is_class = ROWS[name]
    graph = export_aten(model(function, *layers), [torch.zeros(shape)])
    (output,) = outputs_of(graph, [""], [False])
    assert output.is_class == is_class
    (output,) = outputs_of(graph, [""], [False], of_classes=True)
    assert output.is_class == (name != "one value")


def test_what_is_no_choice_has_no_agreement() -> None:
    data = samples((1, 3, 6, 5))
    with pytest.raises(LoweringError, match="min_agreement is 0.9, but no output .* is a class"):
        lower(
            nn.Conv2d(3, 2, 3).eval(), data[0], calibration=data, measure=Measure(min_agreement=0.9)
        )


def several(a: nn.Module, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y = a(x)
    return y, y.flatten(1).argmax(1), y.softmax(1), torch.relu(y) * 0.0


@functools.cache
def with_several_outputs(**options: Any) -> Lowered:
    data = samples((1, 3, 6, 5), count=32)
    return lower_with(model(several, nn.Conv2d(3, 4, 3)), data[0], calibration=data, **options)


def test_outputs_have_the_names_that_the_user_gave_them() -> None:
    network = model(lambda a, x: {"raw": (x * 2.0, a(x)), "none": None}, nn.Linear(8, 4))
    data = samples((1, 8), count=16)
    lines = lower(network, data[0], calibration=data, measure=Measure(per_op=False)).quality.lines()
    assert [line.split(":")[0] for line in lines] == [
        "output `mul`, ['raw'][0]",
        "output `linear`, ['raw'][1]",
    ]
    with pytest.raises(LoweringError, match=r"\n  output `linear`, \['raw'\]\[1\]: SQNR"):
        lower(network, data[0], calibration=data, measure=Measure(per_op=False, min_sqnr=140.0))


def test_every_output_is_measured_for_what_it_is() -> None:
    values, index, probabilities, nothing = with_several_outputs().report["quality"]["outputs"]
    assert values["sqnr_db"] > 30 and values["agreement"] is None
    assert (index["sqnr_db"], index["cosine"]) == (None, None) and index["agreement"] > 0.9
    assert probabilities["sqnr_db"] > 25 and probabilities["agreement"] > 0.9
    assert (nothing["sqnr_db"], nothing["cosine"]) == (None, None)


@pytest.mark.parametrize(
    ("wrong", "off", "limits", "fails"),
    [
        (4, 5, Limits(), True),
        (4, 5, Limits(min_agreement=0.0), False),
        (4, 5, Limits(min_sqnr=-math.inf), False),
        (1, 5, Limits(), False),
        (10, 1, Limits(), False),
    ],
)
def test_integers_of_which_nobody_is_sure(
    wrong: int, off: int, limits: Limits, fails: bool
) -> None:
    """A path of ten integers; `wrong` of them are off by `off`. Their common offset is no part of
    the signal.
    """
    output = Output("path", None, False, is_float=False)
    for k in range(4):
        expected = (torch.arange(10)[None] * 3 + 5 * k) % 20 + 1000
        output.add(expected, expected + off * (torch.arange(10) < wrong))
    failures = replace(well_lowered().quality, outputs=[output], limits=limits).failures()
    assert [line.split(",")[0] for line in failures] == fails * [
        "output `path`: its integers are the float model's in 60.0%"
    ]


@pytest.mark.parametrize(("largest", "count"), [(True, 1), (False, 1), (True, 2), (False, 4)])
def test_choices_are_sure_where_both_neighbours_are_far(largest: bool, count: int) -> None:
    """Two of four values are close to each other. All chosen ones are clear except those two."""
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
    result = lower(
        division, data[0], calibration=data, quantize=Quantize(allow_float_fallback=True)
    )
    assert result.report["float_ops"] > 0
    assert result.report["quality"]["outputs"][0]["sqnr_db"] > 30


def test_indices_are_inputs_without_a_range() -> None:
    generator = torch.Generator().manual_seed(1)
    data = [(torch.randint(0, 9, (1, 6), generator=generator),) for _ in range(32)]
    parts = nn.Embedding(9, 6), nn.Linear(6, 4)
    words = model(lambda table, layer, x: layer(table(x)).mean(1), *parts)
    result = lower(words, data[0], calibration=data[:24], measure=Measure(evaluation=data[24:]))
    assert result.report["quality"]["outputs"][0]["sqnr_db"] > 25
    assert warned(result) == set() and result.quality.worst()


def smoothed(m: Any, x: torch.Tensor) -> torch.Tensor:
    m.a = m.a * 0.75 + x * 0.25
    return torch.tanh(m.a)


def test_state_is_carried_through_sequences() -> None:
    module: Any = Buffers(smoothed, a=ramp()).eval()
    sequences = [samples((1, 6), count=12), samples((1, 6), count=4)]
    result = lower(
        module, sequences[0][0], calibration=sequences, measure=Measure(evaluation=sequences)
    )
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


def test_what_a_mask_fills_with_is_not_what_a_value_saturates_by() -> None:
    value = next(v for v in well_lowered().quality.values if v.is_input)
    for clipped, is_filled in (
        ([-1e9, -1e9], True),
        ([-1e9, -1e9, 1e9], True),
        ([-99.0, -98.0], False),
    ):
        empty = {"low": math.inf, "high": -math.inf, "least": End(), "largest": End(-1.0)}
        seen = replace(value, clipped=0, elements=0, **empty)  # type: ignore[arg-type]
        seen.add(torch.tensor([0.0, 0.5, *clipped]), None)
        assert seen.clipped == len(clipped) and seen.is_filled == is_filled


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
    # Outputs of a softmax are never below 0, the lower end of its scale.
    assert named["pl.softmax"]["histogram"][0] == 0
    moved = [row for row in rows if row["id"] and ops[row["id"]]["op"] == "pl.reshape"]
    assert moved and all(row["alone_db"] == 150.0 for row in moved), "moving bytes costs nothing"


class Uneven(nn.Module):
    """Two parallel layers. Their sum is mostly one large constant."""

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
    result = lower(
        Uneven().eval(),
        data[0],
        calibration=data,
        measure=Measure(evaluation=data[:4], min_sqnr=0.0),
    )
    alone = sum(value.noise_to_signal or 0.0 for value in result.quality.values)
    measured = result.report["quality"]["outputs"][0]["sqnr_db"]
    # 4 dB: the errors are not quite independent, the first of these three values rounds for all.
    assert -10 * math.log10(alone) == pytest.approx(measured, abs=4.0)
    worst = result.quality.worst()[0]
    assert "both = torch.relu(self.fine(x)) + (self.coarse(x) + 20.0)" in worst.source
    cheap = lower(
        Uneven().eval(), data[0], calibration=data, measure=Measure(min_sqnr=0.0, per_op=False)
    )
    rows = cheap.report["quality"]["values"]
    assert rows and all(row["alone_db"] is None and row["sqnr_db"] is not None for row in rows)


@pytest.mark.parametrize(
    "best",
    [
        lambda i: i.argmax(0),
        lambda i: i.max(0)[1] + i,
        lambda i: i.topk(1)[0],
        lambda i: i.topk(1, 0, False)[1] + i,
    ],
)
def test_the_best_of_one_number(best: Callable[[torch.Tensor], torch.Tensor]) -> None:
    function = model(lambda x: best(x.flatten().argmax()))
    generator = torch.Generator().manual_seed(1)
    data = [torch.randperm(12, generator=generator).reshape(2, 6).float() for _ in range(8)]
    result = lower_with(function, data[0], calibration=data, **ANYTHING)
    for x in data:
        (given,) = result.reference([x])
        assert torch.equal(given.long(), function(x))


@pytest.mark.parametrize(
    "best",
    [lambda i: i.max(1).values, lambda i: i.min(1)[0] + 1, lambda i: i.topk(2).values],
)
def test_the_best_of_numbers_is_a_number(best: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """No class: it may be off by one."""
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(16, 8, generator=generator)
    data = [torch.randn(1, 16, generator=generator) for _ in range(32)]
    result = lower(model(lambda x: best((x @ weight * 20.0).long())), data[0], calibration=data)
    (output,) = result.quality.outputs
    assert output.several_differ and output.clear_agreement is None


def test_classes_that_are_masked_leave_the_others_sure() -> None:
    """Infinite scores have no deviation; of a row of nothing else nobody is sure."""
    nothing = -math.inf
    scores = torch.tensor([[nothing, nothing, 3.0, 1.0], [2.0, *[nothing] * 3], [nothing] * 4])
    output = Output("choice", 1, False, is_float=False)
    output.add(scores.argmax(1), torch.tensor([0, 0, 0]), scores)
    assert output.clear_agreement == (2, 1)
