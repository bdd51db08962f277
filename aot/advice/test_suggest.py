# SPDX-License-Identifier: Apache-2.0
"""Suggestions for a better or smaller model keep their promise."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from aot.advice.suggest import suggest
from aot.advice.suggestion import EQUALIZE, WHOLE
from aot.lower import Lowered
from aot.testing.fixtures import lower_with, samples
from aot.testing.gestures import gesture, one_outlier, recordings

ANYTHING: dict[str, Any] = {"min_sqnr": -math.inf, "min_agreement": 0.0}


def test_suggestions_predict_what_is_measured_then() -> None:
    data = one_outlier()
    held = recordings(16, seed=2)
    stretched = lower_with(gesture(), data[0], calibration=data, evaluation=held, **ANYTHING)
    best = next(s for s in suggest(stretched) if s.kind == "range")
    assert best.value.is_input and best.measured_db is not None and best.before_db is not None
    assert best.measured_db > best.before_db + 3
    assert best.predicted_db == pytest.approx(best.measured_db, abs=6.0)
    assert f"SQNR {best.before_db:.1f} dB -> {best.measured_db:.1f} dB, predicted" in str(best)


def test_what_lowering_did_not_measure_is_measured() -> None:
    data, held = one_outlier(), recordings(16, seed=2)
    given = {"calibration": data, "evaluation": held, **ANYTHING}
    with_it, without = (lower_with(gesture(), data[0], per_op=p, **given) for p in (True, False))
    assert [str(s) for s in suggest(without)] == [str(s) for s in suggest(with_it)] != []


def test_changes_are_tried_on_more_samples_than_lowering_measures() -> None:
    """The first four samples differ from the others: they are loud, so noise does not matter."""
    data = samples((1, 12), count=32)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
    held = [(x * (8.0 if i < 4 else 0.5),) for i, (x,) in enumerate(data[:16])]
    loud = [(x * 8.0,) for (x,) in data]
    result = lower_with(net, data[0], calibration=loud, evaluation=held, **ANYTHING)
    quiet = lower_with(net, data[0], calibration=loud, evaluation=held[:4], **ANYTHING)
    of_all, of_four = (r.quality.outputs[0].sqnr_db for r in (result, quiet))
    assert of_all is not None and of_four is not None and of_four > of_all + 0.1
    (first, *_) = suggest(result)
    assert first.before_db == pytest.approx(of_all, abs=0.5 * (of_four - of_all))


def test_an_input_alone_may_be_what_costs() -> None:
    """The input's setting is the setting of its layer."""
    data = one_outlier()
    held = recordings(16, seed=2)
    options: dict[str, Any] = {"calibration": data, "evaluation": held, **ANYTHING}
    stretched = lower_with(gesture(), data[0], **options)
    of_input = [s for s in suggest(stretched) if s.value.is_input and s.setting]
    assert of_input and {"int16"} <= {k for s in of_input for k in s.setting.values()}
    for suggestion in of_input:
        after = lower_with(gesture(), data[0], quantization=suggestion.setting, **options)
        assert suggestion.measured_db == pytest.approx(after.quality.outputs[0].sqnr_db, abs=2.0)


class Spectrum(nn.Module):
    """A logarithm of energies; int8 has already lost the small ones."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.bands = nn.Linear(16, 16, bias=False)
        self.head = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        energy = self.bands(x).square()
        result: torch.Tensor = self.head(torch.log(energy + 1e-4))
        return result


def test_what_a_steep_function_needs_is_all_in_front_of_it() -> None:
    generator = torch.Generator().manual_seed(2)
    loud = [torch.rand(1, generator=generator) for _ in range(32)]
    data = [(size**3 * x[0],) for size, x in zip(loud, samples((1, 16), count=32), strict=True)]
    options: dict[str, Any] = {"calibration": data, **ANYTHING}
    rough = lower_with(Spectrum().eval(), data[0], **options)
    assert all(math.isfinite(v.noise_to_signal or 0.0) for v in rough.quality.values)

    def again(setting: Mapping[str, str]) -> Lowered:
        return lower_with(Spectrum().eval(), data[0], quantization=setting, per_op=False, **options)

    best, *_ = suggest(rough, again=again)
    assert set(best.setting.values()) == {"int16"}
    assert {"bands", ":log"} <= best.setting.keys() and "head" not in best.setting
    assert best.lowered_db is not None and best.lowered_from_db is not None
    assert best.lowered_db > best.lowered_from_db + 10.0


class Branches(nn.Module):
    """One of the two last layers hardly matters."""

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


class Block(nn.Module):
    """Functions next to layers, with names of their own. A constant in between takes most of the
    steps.
    """

    def __init__(self) -> None:
        super().__init__()
        self.before = nn.Conv2d(6, 6, 3, padding=1)
        self.behind = nn.Conv2d(6, 6, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        both: torch.Tensor = x + (self.behind(torch.relu(self.before(x))) + 20.0)
        return torch.relu(both - 20.0)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.stem = nn.Conv2d(3, 6, 3, padding=1)
        self.block = Block()
        self.head = nn.Linear(6, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.head(self.block(torch.relu(self.stem(x))).mean((2, 3)))
        return result


class Functions(nn.Module):
    """Only functions in its own forward."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.weight = nn.Parameter(torch.randn(16, 16) * 0.4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.tanh(x @ self.weight)
        z = y * 3.0 + torch.exp(y) * 0.1
        return functional.softplus(z) - z.mean(-1, keepdim=True)


NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "branches": (Branches, (1, 16)),
    "a block with functions": (Residual, (1, 3, 6, 6)),
    "functions in forward": (Functions, (1, 16)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_what_a_setting_gains_is_known_before(name: str) -> None:
    """The layers lie between int8 layers, and round their inputs."""
    make, shape = NETWORKS[name]
    data, network = samples(shape, count=32), make().eval()
    options: dict[str, Any] = {"calibration": data, "evaluation": data[:4], **ANYTHING}
    base = lower_with(network, data[0], **options)

    def again(setting: Mapping[str, str]) -> Lowered:
        return lower_with(network, data[0], quantization=setting, per_op=False, **options)

    found = [s for s in suggest(base, again=again) if s.kind in ("int16", "float32")]
    assert found
    for suggestion in found:
        # Ranges after the change are calibrated again; int16 tables are linear between entries.
        assert suggestion.lowered_db == pytest.approx(suggestion.measured_db, abs=3.0), suggestion
        # Correlated errors may gain more than single errors predict, and hardly less.
        measured, predicted = suggestion.measured_db, suggestion.predicted_db
        assert measured is not None and predicted is not None
        assert predicted < measured + 4.0 and suggestion.gain_db > 0.0, suggestion


def test_a_gain_is_that_of_the_samples_on_which_both_were_measured() -> None:
    """Every other sample is small and loses more with steps of the same size. Changes are tried on
    these small samples.
    """
    data = [(x if i % 2 else 0.05 * x,) for i, (x,) in enumerate(samples((1, 16), count=32))]
    options: dict[str, Any] = {"calibration": data, "evaluation": data, **ANYTHING}
    network = Branches().eval()
    base = lower_with(network, data[0], **options)

    def again(setting: Mapping[str, str]) -> Lowered:
        return lower_with(network, data[0], quantization=setting, per_op=False, **options)

    found = [s for s in suggest(base, count=2, again=again) if s.setting]
    assert found
    for suggestion in found:
        first, then = base.quality.outputs[0], again(suggestion.setting).quality.outputs[0]
        assert first.sqnr_db is not None and then.sqnr_db is not None
        assert suggestion.before_db is not None and suggestion.before_db < first.sqnr_db - 3.0
        assert suggestion.gain_db == pytest.approx(then.sqnr_db - first.sqnr_db, abs=1e-6)
        assert f"lowered so {first.sqnr_db:.1f} dB -> {then.sqnr_db:.1f} dB" in str(suggestion)
        is_smaller = suggestion.saved_bytes > 0
        assert suggestion.gain_db > (-1.0 if is_smaller else 0.2)


def test_suggested_settings_do_what_they_promise() -> None:
    """Flash by layer's name, where the saving costs little."""
    data = samples((1, 16), count=32)
    options: dict[str, Any] = {"calibration": data, "evaluation": data[:4], **ANYTHING}
    network = Branches().eval()
    base = lower_with(network, data[0], **options)

    def again(setting: Mapping[str, str]) -> Lowered:
        return lower_with(network, data[0], quantization=setting, per_op=False, **options)

    found = suggest(base, count=2, again=again)
    for suggestion in (s for s in found if s.setting):
        assert suggestion.lowered_db == pytest.approx(suggestion.measured_db, abs=1.0)
        assert f"quantization={json.dumps(dict(suggestion.setting))}:" in str(suggestion)
    named = {item: s for s in found for item in s.setting.items() if len(s.setting) == 1}
    smaller = named["side", "int8w4g32"]
    assert smaller.saved_bytes == 8 * (64 - 32 - 2)
    assert ("main", "int8w4g32") not in named


def test_layers_with_weights_of_four_bits_have_eight_where_they_are_int16() -> None:
    """Layers with four-bit weights get no suggestion for four bits."""
    data = samples((1, 16), count=32)
    options: dict[str, Any] = {"calibration": data, **ANYTHING}
    network = Branches().eval()

    def again(setting: Mapping[str, str]) -> Lowered:
        quantization = {"main": "int8w4", **setting}
        return lower_with(network, data[0], quantization=quantization, per_op=False, **options)

    base = lower_with(network, data[0], quantization={"main": "int8w4"}, **options)
    found = suggest(base, again=again)
    assert ("main", "int8w4g32") not in {item for s in found for item in s.setting.items()}
    (wide,) = (s for s in found if s.setting.get("main") == "int16")
    assert wide.gain_db > 5.0
    assert wide.lowered_db == pytest.approx(wide.measured_db, abs=1.0)


class Squeezed(nn.Module):
    """A clamp next to the layer that it is fused with."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(16, 64)
        self.last = nn.Linear(64, 8)
        self.main = nn.Linear(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side = self.last(functional.relu(self.first(x)))
        result: torch.Tensor = self.main(x) + 0.01 * side
        return result


def test_four_bits_are_those_of_the_layer_and_not_of_its_clamp() -> None:
    data = samples((1, 16), count=32)
    network = nn.Sequential(Squeezed()).eval()
    base = lower_with(network, data[0], calibration=data, evaluation=data[:4], **ANYTHING)
    found = [s for s in suggest(base) if s.saved_bytes]
    assert [dict(s.setting) for s in found if "0.first" in s.setting] == [{"0.first": "int8w4g32"}]
    setting = {"0.first": "int8w4g32"}
    smaller = lower_with(network, data[0], calibration=data, quantization=setting, **ANYTHING)
    assert [op["op"] for op in smaller.report["ops"]].count("pl.linear_w4") == 1
    assert len(smaller.pte) < len(base.pte)


class Scaled(nn.Module):
    """Channels of very different scale after a fused clamp."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = nn.Linear(16, 32), nn.Linear(32, 8)
        with torch.no_grad():
            scales = torch.logspace(-2, 2, 32)
            self.first.weight *= scales[:, None]
            self.last.weight /= scales

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.last(functional.relu(self.first(x))).tanh()
        return result


def test_float_of_a_fused_clamp_is_that_of_its_layer_too() -> None:
    data = samples((1, 16), count=32)
    network = Scaled().eval()
    options: dict[str, Any] = {"calibration": data, "evaluation": data[:16], **ANYTHING}

    def again(setting: Mapping[str, str]) -> Lowered:
        return lower_with(network, data[0], quantization=setting, per_op=False, **options)

    found = suggest(lower_with(network, data[0], **options), again=again)
    best = next(s for s in found if {"first", ":relu"} <= s.setting.keys())
    assert set(best.setting.values()) == {"float32"} and best.gain_db > 20.0
    assert best.lowered_db == pytest.approx(best.measured_db, abs=2.0)


def test_channels_of_other_scales_are_equalized() -> None:
    torch.manual_seed(0)
    first, second = nn.Conv2d(3, 16, 3), nn.Conv2d(16, 16, 3)
    network = nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.Flatten()).eval()
    scales = 10 ** torch.linspace(-2.5, 1.0, 16)
    with torch.no_grad():
        for parameter in first.parameters():
            parameter.mul_(scales.reshape(-1, *[1] * (parameter.dim() - 1)))
        second.weight /= scales.reshape(1, -1, 1, 1)
    data = samples((1, 3, 8, 8), count=32)
    options: dict[str, Any] = {"calibration": data, "evaluation": data[:4], **ANYTHING}
    base = lower_with(network, data[0], **options)

    def equalized() -> Lowered:
        return lower_with(network, data[0], equalize=True, per_op=False, **options)

    (found,) = [s for s in suggest(base, equalized=equalized) if s.kind == EQUALIZE]
    before, after = base.quality.outputs[0].sqnr_db, equalized().quality.outputs[0].sqnr_db
    assert before is not None and after is not None and found.gain_db > 10.0
    assert str(found).startswith(f"equalize=True: lowered so {before:.1f} dB -> {after:.1f} dB (at")
    assert [s for s in suggest(equalized(), equalized=equalized) if s.kind == EQUALIZE] == []


def test_settings_of_the_whole_model_are_lowered_and_combined() -> None:
    """Small weights of one sign next to a large one need their means back, and a head more bits."""

    class Small(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(1)
            self.front, self.head = nn.Linear(24, 24, bias=False), nn.Linear(24, 2)
            with torch.no_grad():
                self.front.weight.copy_(torch.full((24, 24), 0.35 / 127).fill_diagonal_(1.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = self.head(torch.relu(self.front(x)))
            return result

    torch.manual_seed(2)
    data = [(torch.rand(1, 24),) for _ in range(64)]
    given = {"calibration": data[:32], "evaluation": data[32:], "per_op": False, **ANYTHING}
    net = Small().eval()

    def changed(setting: Mapping[str, str], changes: Mapping[str, Any]) -> Lowered:
        return lower_with(net, data[0], quantization={**setting}, **{**given, **changes})

    base = changed({}, {})
    found = [s for s in suggest(base, count=1, changed=changed) if s.kind == WHOLE]
    assert found and all(s.changes.get("correct_bias") is True for s in found)
    for suggestion in found:
        after = changed(suggestion.setting, suggestion.changes).quality.outputs[0].sqnr_db
        assert suggestion.lowered_db == pytest.approx(after) and suggestion.gain_db > 1.0
        assert str(suggestion).startswith("correct_bias=True")
        assert f"lowered so {base.quality.outputs[0].sqnr_db:.1f} dB -> {after:.1f} dB" in str(
            suggestion
        )
