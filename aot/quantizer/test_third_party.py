# SPDX-License-Identifier: Apache-2.0
"""Third-party quantizers, applied before Pilotlight's: their requests appear in the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from torch.fx import GraphModule

from aot.dialect.graph import dialect_op
from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Measure, Quantize
from aot.quantizer.testing import (
    CHANNELS,
    CONV,
    FOUR_BITS,
    ONE_SCALE,
    SYMMETRIC,
    VALUES,
    WEIGHTS,
    WIDE,
    Other,
    Recurrent,
    bias_by_channel,
    integer_bias,
    lowered,
    small_net,
    spec,
)
from aot.quantizer.third_party import KEY
from aot.testing.fixtures import op_counts
from aot.upstream.torchao import (
    FakeQuantize,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PerChannelMinMaxObserver,
    QuantizationAnnotation,
)
from kernels.linear.op import linear

_aten = torch.ops.aten

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
    result = lowered(Other(values, weights, asked, CONV), make)
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
    """Annotates the layer and the clamp after it as one, as pattern-based quantizers do."""

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
        CONV,
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
    """Drops dead nodes, as pattern-based quantizers do."""

    def annotate(self, model: GraphModule) -> GraphModule:
        model.graph.eliminate_dead_code()
        return super().annotate(model)


def test_states_that_nobody_reads_are_observed_behind_another() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(2)
        net = Recurrent().eval()
    samples = list(torch.randn((24, 1, 6, 2), generator=torch.Generator().manual_seed(3)))
    quantizer = DropsDead(VALUES, WEIGHTS)
    result = lower(
        net,
        samples[0],
        calibration=samples,
        quantize=Quantize(quantizer=quantizer),
        measure=Measure(per_op=False),
    )
    assert op_counts(result.folded)["pl.lstm"] == 2
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 30.0


class WithoutOutput(Other):
    def annotate(self, model: GraphModule) -> GraphModule:
        super().annotate(model)
        for node in model.graph.nodes:
            if node.target is self._layer:
                node.meta[KEY].output_qspec = None
        return model


def test_a_layer_whose_output_another_leaves_is_float() -> None:
    """This also holds if the clamp after it is quantized by Pilotlight."""
    quantizer = WithoutOutput(VALUES, WEIGHTS, layer=CONV)
    result = lowered(quantizer, lambda: nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU()))
    assert op_counts(result.folded)["aten.convolution"] == 1
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 30.0


def test_four_bits_are_of_linear_layers_and_their_kin() -> None:
    found = [
        op_counts(lowered(Other(VALUES, FOUR_BITS, layer=layer), make).folded)["pl.linear_w4"]
        for layer, make in (
            (_aten.linear.default, small_net),
            (CONV, lambda: nn.Conv2d(2, 4, 1)),
        )
    ]
    assert found == [1, 1]
