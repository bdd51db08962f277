# SPDX-License-Identifier: Apache-2.0
"""Quality of the parts of an output, of single samples and of single sequences."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from aot.errors import LoweringError
from aot.lower import Lowered, lower
from aot.options import Measure
from aot.quality.parts import parts_of
from aot.quality.sampling import Sampler, spread_sequences
from aot.quality.tally import finite_parts


class _Head(nn.Module):
    """Two layers; the last one gives a range in metres, a speed and a confidence."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.body = nn.Sequential(nn.Linear(12, 24), nn.Tanh())
        self.head = nn.Linear(24, 3)
        with torch.no_grad():
            self.head.weight.mul_(torch.tensor([[300.0], [2.0], [0.2]]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.head(self.body(x))
        return result


class _Boxes(nn.Module):
    """Boxes in pixels and scores in 0..1, joined and laid out by anchor."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.body = nn.Conv2d(3, 8, 3, padding=1)
        self.boxes, self.scores = nn.Conv2d(8, 4, 1), nn.Conv2d(8, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.body(x))
        joined = torch.cat([self.boxes(x) * 200.0, torch.sigmoid(self.scores(x))], 1)
        return joined.flatten(2).permute(0, 2, 1)


class _Filter(nn.Module):
    """A recording without its noise."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.first = nn.Conv1d(1, 6, 9, padding=4, bias=False)
        self.last = nn.Conv1d(6, 1, 9, padding=4, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.last(torch.relu(self.first(x)))
        return result


class _Smooth(nn.Module):
    """A recording smoothed from call to call."""

    last: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("last", torch.zeros(1, 16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.last = self.last * 0.5 + x * 0.5
        return self.last


def _tones(count: int, level: float) -> list[torch.Tensor]:
    time = torch.arange(64) / 8.0
    return [(level * torch.sin(time * (1 + i % 9) + i))[None, None] for i in range(count)]


def _lowered(model: nn.Module, data: list[Any], held: Any = None, **limits: Any) -> Lowered:
    measure = Measure(evaluation=held, per_op=False, **limits)
    first = data[0][0] if isinstance(data[0], list) else data[0]
    return lower(model.eval(), first, calibration=data, measure=measure)


def _inputs(*shape: int, count: int = 40) -> list[torch.Tensor]:
    torch.manual_seed(7)
    return [torch.randn(1, *shape).cumsum(-1).clamp(-2.0, 2.0) for _ in range(count)]


def _texts(lowered: Lowered, kind: str) -> list[str]:
    return [f["text"] for f in lowered.report["warnings"] if f["kind"] == kind]


def _measured(text: str, remedy: str) -> float:
    """Return the decibels that a warning has for a remedy."""
    return float(text.partition(f"{remedy}: ")[2].split(" dB")[0])


def test_columns_that_are_lost_next_to_a_large_one() -> None:
    lowered = _lowered(_Head(), _inputs(12))
    (output,) = lowered.report["quality"]["outputs"]
    names = [part["name"] for part in output["parts"]]
    levels = [part["varying_db"] for part in output["parts"]]
    assert names == [f"column {i} of `linear_1`" for i in range(3)]
    assert output["sqnr_db"] > 25.0 and levels[0] > 25.0 and max(levels[1:]) < 10.0
    (text,) = _texts(lowered, "lost_channels")
    assert "2 of 3 parts (column 1 of `linear_1`, column 2 of `linear_1`)" in text
    assert _measured(text, "layers and outputs of their own for them") > 25.0
    with pytest.raises(LoweringError, match=r"column 2 of `linear_1` has .* min_part_sqnr is 10"):
        _lowered(_Head(), _inputs(12), min_part_sqnr=10.0)


def test_the_remedy_has_the_measured_decibels() -> None:
    """Three layers, each with an output, are as good as the warning promises."""

    class Apart(_Head):
        def forward(self, x: torch.Tensor) -> Any:
            x = self.body(x)
            rows = zip(self.head.weight, self.head.bias, strict=True)
            return tuple(nn.functional.linear(x, w[None], b[None]) for w, b in rows)

    (text,) = _texts(_lowered(_Head(), _inputs(12)), "lost_channels")
    promised = _measured(text, "layers and outputs of their own for them")
    outputs = _lowered(Apart(), _inputs(12)).quality.outputs
    found = min(o.varying_db for o in outputs[1:] if o.varying_db is not None)
    assert found == pytest.approx(promised, abs=3.0)


def test_values_that_a_cat_joins() -> None:
    lowered = _lowered(_Boxes(), [x.abs() for x in _inputs(3, 6, 6)])
    (output,) = lowered.report["quality"]["outputs"]
    assert [p["varying_db"] > 20.0 for p in output["parts"]] == [True] * 4 + [False]
    (text,) = _texts(lowered, "lost_channels")
    assert "1 of 5 parts (channel 0 of `convolution_2`)" in text
    assert _measured(text, "outputs of their own") > 20.0


def test_parts_of_one_scale_are_not_doubted() -> None:
    torch.manual_seed(1)
    lowered = _lowered(nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 3)), _inputs(12))
    assert not _texts(lowered, "lost_channels") and not _texts(lowered, "lost_samples")


def test_quiet_recordings_between_loud_ones() -> None:
    loud, quiet = _tones(20, 1.0), _tones(20, 0.01)
    data = [x for pair in zip(loud, quiet, strict=True) for x in pair]
    lowered = _lowered(_Filter(), data, data)
    (output,) = lowered.report["quality"]["outputs"]
    spread = output["by_sample"]
    assert output["sqnr_db"] > 25.0 > 10.0 > spread["decile_db"] >= spread["worst_db"]
    assert spread["worst"] % 2 == 1
    (text,) = _texts(lowered, "lost_samples")
    assert f"the worst is sample {spread['worst']} with" in text
    assert _measured(text, 'quantization="int16"') > 20.0
    with pytest.raises(LoweringError, match="min_sample_sqnr is 12"):
        _lowered(_Filter(), data, data, min_sample_sqnr=12.0)


@pytest.mark.parametrize("quiet_first", [False, True])
def test_sequences_in_any_order(quiet_first: bool) -> None:
    levels = [0.01, 1.0] if quiet_first else [1.0, 0.01]
    data = [[(level * x,) for x in _inputs(16, count=20)] for level in levels]
    lowered = _lowered(_Smooth(), data, data)
    (output,) = lowered.report["quality"]["outputs"]
    assert output["by_sequence"]["worst"] == levels.index(0.01)
    (text,) = _texts(lowered, "lost_samples")
    assert f"the worst is sequence {levels.index(0.01)} with" in text
    with pytest.raises(LoweringError, match=f"sequence {levels.index(0.01)} has"):
        _lowered(_Smooth(), data, data, min_sequence_sqnr=12.0)


@pytest.mark.parametrize("last", [False, True])
def test_saturation_of_any_sequence_is_seen(last: bool) -> None:
    small = [[(x,) for x in _inputs(16, count=20)] for _ in range(3)]
    large = [[(4.0 * x,) for (x,) in small[0]]]
    held = small + large if last else large + small
    lowered = _lowered(_Smooth(), small, held, min_sqnr=-math.inf)
    assert _texts(lowered, "saturation")


def test_parts_follow_moves_and_joins() -> None:
    class Moved(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(4, 2), nn.Linear(4, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            joined = torch.cat([torch.sigmoid(self.a(x)), self.b(x) * 3.0], -1)
            return joined.reshape(3, 1)[1:].t()

    program = torch.export.export(Moved().eval(), (torch.zeros(1, 4),))
    (node,) = program.graph.output_node().args[0]
    parts = parts_of(node)
    assert parts is not None and parts.of.tolist() == [[0, 1]]
    assert parts.names == ["column 1 of `linear`", "column 0 of `linear_1`"]
    assert [n.name for n in parts.joined] == ["sigmoid", "mul"]


@pytest.mark.parametrize("count", [1, 5, 32, 33, 64, 65, 130, 1000])
def test_a_stream_is_sampled_evenly(count: int) -> None:
    sampler: Sampler[int] = Sampler(32)
    for i in range(count):
        if sampler.wants():
            sampler.keep(i)
    chosen = list(sampler.chosen)
    assert len(chosen) == min(count, 32) and chosen == sorted(set(chosen)) and chosen[0] == 0
    gaps = [b - a for a, b in zip(chosen, [*chosen[1:], count], strict=True)]
    assert max(gaps) <= 2 * math.ceil(count / 32)


def test_sequences_are_cut_at_their_end() -> None:
    samples = [(i == 0, f"{one}{i}") for one in "abcdefgh" for i in range(3 if one == "a" else 9)]
    chosen = [name for _, name in spread_sequences(samples, 16)]
    assert chosen == [f"a{i}" for i in range(3)] + [f"e{i}" for i in range(9)]
    assert [name for _, name in spread_sequences(samples[:3], 16)] == ["a0", "a1", "a2"]


def test_data_sorted_by_class_are_measured_all_over() -> None:
    """Without held-out samples, those measured are from all of the calibration."""
    torch.manual_seed(2)
    layer = nn.Linear(6, 3)
    data = [x + 0.01 * i for i, x in enumerate(_inputs(6, count=120))]
    lowered = _lowered(layer, data)
    quality = lowered.report["quality"]
    assert (quality["samples"], quality["samples_of"]) == (32, 120)
    assert "on 32 of 120 calibration samples" in lowered.quality.lines()[0]
    means = [float(x.mean()) for _, (x,) in lowered.quality.samples.samples]
    assert torch.tensor(means).mean() == pytest.approx(float(torch.cat(data).mean()), abs=0.25)


def test_values_that_are_not_finite_are_left_out() -> None:
    exact = torch.tensor([1.0, torch.inf, torch.nan, -2.0])
    numbers, error = finite_parts(exact, torch.tensor([1.5, 3.0, 3.0, -2.0]))
    assert numbers.tolist() == [1.0, 0.0, 0.0, -2.0]
    assert error.tolist() == [0.5, 0.0, 0.0, 0.0]
