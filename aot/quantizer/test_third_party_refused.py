# SPDX-License-Identifier: Apache-2.0
"""Third-party quantizers: an unsupported request is an error with a description of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import nn
from torch.fx import GraphModule

from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Quantize
from aot.quantizer.testing import (
    CHANNELS,
    CONV,
    FOUR_BITS,
    SYMMETRIC,
    VALUES,
    WEIGHTS,
    Other,
    Recurrent,
    lowered,
    spec,
)
from aot.quantizer.third_party import KEY
from aot.upstream.torchao import (
    MinMaxObserver,
    PerChannelMinMaxObserver,
    PlaceholderObserver,
    QuantizationAnnotation,
    Quantizer,
)

_aten = torch.ops.aten

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


@pytest.mark.parametrize("given", [Quantizer, "xnnpack"])
def test_what_is_no_quantizer_is_an_error(given: Any) -> None:
    with pytest.raises(LoweringError, match="quantizer must be an object of a class derived"):
        lowered(given)


def test_a_scale_for_each_element_of_a_bias_is_an_error() -> None:
    with pytest.raises(LoweringError, match="a scale for each element of") as error:
        lowered(Other(VALUES, WEIGHTS, bias=lambda _: WEIGHTS))
    assert all("(Linear)" in p.where for p in error.value.problems)


class OfLstm(Quantizer):  # type: ignore[misc]
    """Annotates only weights."""

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
        lower(
            Recurrent().eval(),
            samples[0],
            calibration=samples,
            quantize=Quantize(quantizer=OfLstm()),
        )


@pytest.mark.parametrize(
    "options", [{"kernel_size": 3, "padding": 1}, {"kernel_size": 1, "groups": 2}]
)
def test_four_bits_of_other_convolutions_are_an_error(options: Any) -> None:
    with pytest.raises(LoweringError, match="asked for is weights of int8 of -7 to 7"):
        lowered(Other(VALUES, FOUR_BITS, layer=CONV), lambda: nn.Conv2d(2, 4, **options))
