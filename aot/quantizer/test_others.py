# SPDX-License-Identifier: Apache-2.0
"""Quantizers of others, in front of ours: what they ask for is what comes out, or an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from torch.fx import GraphModule
from torchao.quantization.pt2e import (
    FakeQuantize,
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PerChannelMinMaxObserver,
    PlaceholderObserver,
)
from torchao.quantization.pt2e.quantizer import (
    DerivedQuantizationSpec,
    QuantizationAnnotation,
    QuantizationSpec,
    Quantizer,
)

from aot.dialect.graph import dialect_op
from aot.dialect.ops.linear import linear
from aot.errors import LoweringError
from aot.lower import Lowered, lower
from aot.quantizer.quantizer import KEY
from aot.quantizer.training import Train
from aot.testing.fixtures import op_counts

_EPS = 2.0**-20
_aten = torch.ops.aten


def spec(dtype: torch.dtype, least: int, largest: int, observer: Any, **options: Any) -> Any:
    made = observer.with_args(eps=_EPS)
    scheme = options.pop("qscheme", torch.per_tensor_affine)
    return QuantizationSpec(
        dtype=dtype,
        quant_min=least,
        quant_max=largest,
        qscheme=scheme,
        observer_or_fake_quant_ctr=made,
        **options,
    )


VALUES = spec(torch.int8, -128, 127, HistogramObserver)
SYMMETRIC = {"qscheme": torch.per_tensor_symmetric}
CHANNELS = {"qscheme": torch.per_channel_symmetric, "ch_axis": 0}
WEIGHTS = spec(torch.int8, -127, 127, PerChannelMinMaxObserver, **CHANNELS)
ONE_SCALE = spec(torch.int8, -128, 127, MinMaxObserver, **SYMMETRIC)
WIDE = spec(torch.int16, -32768, 32767, MinMaxObserver, **SYMMETRIC)
BIASES = {"dtype": torch.int32, "quant_min": -(2**31), "quant_max": 2**31 - 1, "ch_axis": 0}


class Other(Quantizer):  # type: ignore[misc]
    """Annotates the layers of one kind."""

    def __init__(
        self, values: Any, weights: Any, bias: Any = None, layer: Any = _aten.linear.default
    ) -> None:
        super().__init__()
        self._specs = values, weights, bias
        self._layer = layer

    def annotate(self, model: GraphModule) -> GraphModule:
        values, weights, bias = self._specs
        for node in model.graph.nodes:
            if node.target is not self._layer:
                continue
            x, weight, *rest = node.all_input_nodes
            inputs = {weight: weights} if values is None else {x: values, weight: weights}
            if bias is not None:
                inputs[rest[0]] = bias([(x, node), (weight, node)])
            node.meta[KEY] = QuantizationAnnotation(
                input_qspec_map=inputs, output_qspec=values, _annotated=True
            )
        return model

    def validate(self, model: GraphModule) -> None:
        pass


def integer_bias(
    sources: Any, scheme: torch.qscheme = torch.per_tensor_symmetric
) -> DerivedQuantizationSpec:
    """int32 in steps of the products' scales, as many quantizers have it."""

    def scales(found: Any) -> tuple[torch.Tensor, torch.Tensor]:
        (x, _), (w, _) = (observer.calculate_qparams() for observer in found)
        return x * w, torch.zeros_like(w, dtype=torch.int32)

    derived = {"derived_from": sources, "derive_qparams_fn": scales}
    return DerivedQuantizationSpec(**derived, qscheme=scheme, **BIASES)


def bias_by_channel(sources: Any) -> DerivedQuantizationSpec:
    return integer_bias(sources, torch.per_channel_symmetric)


def small_net() -> nn.Module:
    return nn.Sequential(nn.Conv1d(2, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 6))


def lowered(
    quantizer: Quantizer | None,
    make: Callable[[], nn.Module] = small_net,
    train: Train | None = None,
) -> Lowered:
    with torch.random.fork_rng():
        torch.manual_seed(2)
        net = make().eval()
    generator = torch.Generator().manual_seed(3)
    shape = (24, 1, 2, 8) if make is small_net else (24, 1, 2, 8, 8)
    samples = list(torch.randn(shape, generator=generator))
    options: dict[str, Any] = {"min_sqnr": -math.inf, "per_op": False, "quantizer": quantizer}
    options["train"] = train
    return lower(net, samples[0], calibration=samples, evaluation=samples[12:], **options)


SAME_SCALE = spec(torch.int8, -127, 127, MinMaxObserver, **SYMMETRIC)

TAKEN: Mapping[str, tuple[Any, Any, Any]] = {
    "as ours": (VALUES, WEIGHTS, None),
    "one scale for all weights": (VALUES, ONE_SCALE, None),
    "one scale for all weights, around zero": (VALUES, SAME_SCALE, None),
    "a bias of integers": (VALUES, ONE_SCALE, integer_bias),
    "a bias of integers by channel": (VALUES, WEIGHTS, bias_by_channel),
    "a bias of int8": (VALUES, WEIGHTS, lambda sources: ONE_SCALE),
    "a bias of int16": (VALUES, WEIGHTS, lambda sources: WIDE),
    "int16": (WIDE, WEIGHTS, None),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_another_asks_for_comes_out(name: str) -> None:
    values, weights, bias = TAKEN[name]
    result = lowered(Other(values, weights, bias))
    assert op_counts(result.folded)["pl.linear"] == 1
    (layer,) = (n for n in result.folded.graph.nodes if dialect_op(n) is linear)
    assert layer.meta["val"].dtype == values.dtype
    mine, others = (r.quality.outputs[0].sqnr_db or 0.0 for r in (lowered(None), result))
    assert others > mine - 1.5  # one scale costs a little


_CONV = _aten.convolution.default
IMAGES: Mapping[str, tuple[Callable[[], nn.Module], Any, Any, Any, str]] = {
    "a bias of int8": (lambda: nn.Conv2d(2, 4, 3), VALUES, WEIGHTS, ONE_SCALE, "pl.conv2d"),
    "transposed": (
        lambda: nn.ConvTranspose2d(2, 4, 3),
        VALUES,
        spec(torch.int8, -127, 127, PerChannelMinMaxObserver, **{**CHANNELS, "ch_axis": 1}),
        None,
        "pl.transpose_conv2d",
    ),
    "transposed, one scale": (
        lambda: nn.ConvTranspose2d(2, 4, 3),
        VALUES,
        ONE_SCALE,
        None,
        "pl.transpose_conv2d",
    ),
    "weights only": (lambda: nn.Conv2d(2, 4, 3), None, WEIGHTS, None, "aten.convolution"),
    "weights only, one scale": (
        lambda: nn.Conv2d(2, 4, 3),
        None,
        SAME_SCALE,
        None,
        "aten.convolution",
    ),
}


@pytest.mark.parametrize("name", IMAGES)
def test_what_another_asks_for_of_convolutions_comes_out(name: str) -> None:
    make, values, weights, bias, op = IMAGES[name]
    asked = None if bias is None else lambda sources: bias
    result = lowered(Other(values, weights, asked, _CONV), make)
    assert op_counts(result.folded)[op] == 1
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 34.0


def test_a_quantized_affine_of_a_norm_comes_out() -> None:
    gain = spec(torch.int8, -127, 127, MinMaxObserver, **SYMMETRIC)

    def make() -> nn.Module:
        norm = nn.GroupNorm(1, 2)
        nn.init.uniform_(norm.weight, 0.2, 3.0)
        return norm

    norm = _aten.group_norm.default
    result = lowered(Other(VALUES, gain, layer=norm), make)
    assert op_counts(result.folded)["pl.normalize"] == 1
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 34.0


def test_weights_only_of_a_linear_layer() -> None:
    result = lowered(Other(None, WEIGHTS))
    assert "pl.linear" not in op_counts(result.folded)
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 34.0


class Clamped(Other):
    """Has the layer and the clamp behind it for one, as quantizers do that look for patterns."""

    def annotate(self, model: GraphModule) -> GraphModule:
        for node in super().annotate(model).graph.nodes:
            clamp = next(iter(node.users), node)
            if KEY in node.meta and clamp.target is _aten.relu.default:
                node.meta[KEY].output_qspec = None
                clamp.meta[KEY] = QuantizationAnnotation(output_qspec=VALUES, _annotated=True)
        return model


CLAMPED: Mapping[str, tuple[Callable[[], nn.Module], Any, str]] = {
    "linear": (
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(128, 9), nn.ReLU(), nn.Linear(9, 3)),
        _aten.linear.default,
        "pl.linear",
    ),
    "convolution": (
        lambda: nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Conv2d(4, 3, 3)),
        _CONV,
        "pl.conv2d",
    ),
}


@pytest.mark.parametrize("name", CLAMPED)
def test_a_clamp_that_another_fuses_is_fused(name: str) -> None:
    make, layer, op = CLAMPED[name]
    result = lowered(Clamped(VALUES, WEIGHTS, layer=layer), make)
    assert op_counts(result.folded)[op] == 2
    assert result.report["float_ops"] == lowered(None, make).report["float_ops"] == 0
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 34.0


def fakes(values: Any, observer: Any) -> Any:
    made = FakeQuantize.with_args(observer=observer, averaging_constant=0.1)
    return replace(values, observer_or_fake_quant_ctr=made)


def test_fake_quantizers_of_another_train_and_mere_observers_do_not() -> None:
    weights = fakes(WEIGHTS, MovingAveragePerChannelMinMaxObserver)
    moved: list[str] = []

    def train(module: nn.Module) -> None:
        optimizer = torch.optim.SGD(module.parameters(), lr=0.05)
        before = {name: p.detach().clone() for name, p in module.named_parameters()}
        for _ in range(3):
            optimizer.zero_grad()
            module(torch.randn(8, 2, 8)).square().mean().backward()
            optimizer.step()
        moved.extend(n for n, p in module.named_parameters() if not torch.equal(p, before[n]))

    trained = Other(fakes(VALUES, MovingAverageMinMaxObserver), weights)
    result = lowered(trained, train=train)
    assert len(moved) == 4 and (result.quality.outputs[0].sqnr_db or 0.0) > 12.0
    with pytest.raises(LoweringError, match=r"(?s)only observes .* with .*Linear.*is_qat=True"):
        lowered(Other(VALUES, WEIGHTS), train=train)


class DropsDead(Other):
    """As quantizers do that look for patterns."""

    def annotate(self, model: GraphModule) -> GraphModule:
        model.graph.eliminate_dead_code()
        return super().annotate(model)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.LSTM(2, 8, batch_first=True, bidirectional=True)
        self.head = nn.Linear(16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.layer(x)
        result: torch.Tensor = self.head(hidden.mean(1))
        return result


def test_states_that_nobody_reads_are_observed_behind_another() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(2)
        net = Recurrent().eval()
    samples = list(torch.randn((24, 1, 6, 2), generator=torch.Generator().manual_seed(3)))
    quantizer = DropsDead(VALUES, WEIGHTS)
    result = lower(net, samples[0], calibration=samples, quantizer=quantizer, per_op=False)
    assert op_counts(result.folded)["pl.lstm"] == 2
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 30.0


REFUSED: Mapping[str, tuple[Any, Any, str]] = {
    "unsigned values": (
        spec(torch.uint8, 0, 255, MinMaxObserver),
        WEIGHTS,
        r"uint8 of 0 to 255, zero_point \d+\n    at .*\n    instead: int8 of -128 to 127",
    ),
    "seven bits": (spec(torch.int8, -64, 63, MinMaxObserver), WEIGHTS, "int8 of -64 to 63"),
    "weights of seven bits": (
        VALUES,
        spec(torch.int8, -64, 63, PerChannelMinMaxObserver, **CHANNELS),
        "weights of int8 of -64 to 63",
    ),
    "weights of four bits with -8": (
        VALUES,
        spec(torch.int8, -8, 7, PerChannelMinMaxObserver, **CHANNELS),
        "weights of int8 of -8 to 7",
    ),
    "weights with a zero point": (
        VALUES,
        spec(torch.int8, -128, 127, MinMaxObserver),
        r"weights of int8 of -128 to 127, zero_point -?\d+",
    ),
    "unsigned weights": (
        VALUES,
        spec(torch.uint8, 0, 255, MinMaxObserver, **SYMMETRIC),
        "weights of uint8",
    ),
    "a scale for each input of weights": (
        VALUES,
        spec(torch.int8, -127, 127, PerChannelMinMaxObserver, **{**CHANNELS, "ch_axis": 1}),
        "a scale for each index of dimension 1",
    ),
    "as the model runs": (
        spec(torch.int8, -128, 127, PlaceholderObserver, is_dynamic=True),
        WEIGHTS,
        "as the model runs",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_device_does_not_have_is_an_error(name: str) -> None:
    values, weights, text = REFUSED[name]
    with pytest.raises(LoweringError, match=text) as error:
        lowered(Other(values, weights))
    assert all("(Flatten)" in p.where or "(Linear)" in p.where for p in error.value.problems)
    assert all(
        "\n" not in p.reason and len(p.where) >= len("3 (Linear)") for p in error.value.problems
    )


def test_weights_in_float_are_an_error() -> None:
    with pytest.raises(LoweringError, match="weights in float between quantized values") as error:
        lowered(Other(VALUES, None))
    assert all("(Linear)" in p.where for p in error.value.problems)


class WithoutOutput(Other):
    def annotate(self, model: GraphModule) -> GraphModule:
        super().annotate(model)
        for node in model.graph.nodes:
            if node.target is self._layer:
                node.meta[KEY].output_qspec = None
        return model


def test_a_layer_whose_output_another_leaves_is_float() -> None:
    """Also where a clamp behind it is Pilotlight's, and quantized."""
    quantizer = WithoutOutput(VALUES, WEIGHTS, layer=_CONV)
    result = lowered(quantizer, lambda: nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU()))
    assert op_counts(result.folded)["aten.convolution"] == 1
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 30.0


@pytest.mark.parametrize("given", [Quantizer, "xnnpack"])
def test_what_is_no_quantizer_is_an_error(given: Any) -> None:
    with pytest.raises(LoweringError, match="quantizer is .*: give an object of a class derived"):
        lowered(given)


def test_a_scale_for_each_element_of_a_bias_is_an_error() -> None:
    with pytest.raises(LoweringError, match="a scale for each element of") as error:
        lowered(Other(VALUES, WEIGHTS, bias=lambda _: WEIGHTS))
    assert all("(Linear)" in p.where for p in error.value.problems)


class OfLstm(Quantizer):  # type: ignore[misc]
    """Annotates no more than weights."""

    def annotate(self, model: GraphModule) -> GraphModule:
        for node in model.graph.nodes:
            if "lstm" in str(node.target):
                weights = [n for n in node.all_input_nodes if n.name.startswith("layer_weight")]
                inputs = dict.fromkeys(weights, WEIGHTS)
                node.meta[KEY] = QuantizationAnnotation(input_qspec_map=inputs, _annotated=True)
        return model

    def validate(self, model: GraphModule) -> None:
        pass


def test_a_part_of_an_op_is_an_error() -> None:
    samples = list(torch.randn((24, 1, 6, 2), generator=torch.Generator().manual_seed(3)))
    with pytest.raises(LoweringError, match="annotates a part(.|\n)*at layer .LSTM."):
        lower(Recurrent().eval(), samples[0], calibration=samples, quantizer=OfLstm())


FOUR_BITS = spec(torch.int8, -7, 7, PerChannelMinMaxObserver, **CHANNELS)


def test_four_bits_are_of_linear_layers_and_their_kin() -> None:
    found = [
        op_counts(lowered(Other(VALUES, FOUR_BITS, layer=layer), make).folded)["pl.linear_w4"]
        for layer, make in (
            (_aten.linear.default, small_net),
            (_CONV, lambda: nn.Conv2d(2, 4, 1)),
        )
    ]
    assert found == [1, 1]


@pytest.mark.parametrize(
    "options", [{"kernel_size": 3, "padding": 1}, {"kernel_size": 1, "groups": 2}]
)
def test_four_bits_of_other_convolutions_are_an_error(options: Any) -> None:
    with pytest.raises(LoweringError, match="asked for is weights of int8 of -7 to 7"):
        lowered(Other(VALUES, FOUR_BITS, layer=_CONV), lambda: nn.Conv2d(2, 4, **options))
