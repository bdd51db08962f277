# SPDX-License-Identifier: Apache-2.0
"""A third-party style quantizer, its requests, and small nets for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.fx import GraphModule

from aot.lower import Lowered
from aot.quantizer.third_party import KEY
from aot.quantizer.training import Train
from aot.testing.fixtures import lower_with
from aot.upstream.torchao import (
    DerivedQuantizationSpec,
    HistogramObserver,
    MinMaxObserver,
    PerChannelMinMaxObserver,
    QuantizationAnnotation,
    QuantizationSpec,
    Quantizer,
)

_EPS = 2.0**-20
_aten = torch.ops.aten
CONV = _aten.convolution.default


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
FOUR_BITS = spec(torch.int8, -7, 7, PerChannelMinMaxObserver, **CHANNELS)
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
    """Return an int32 bias in steps of the products' scales, as in many quantizers."""

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
    return lower_with(net, samples[0], calibration=samples, evaluation=samples[12:], **options)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.LSTM(2, 8, batch_first=True, bidirectional=True)
        self.head = nn.Linear(16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.layer(x)
        result: torch.Tensor = self.head(hidden.mean(1))
        return result
