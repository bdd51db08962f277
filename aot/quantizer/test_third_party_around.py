# SPDX-License-Identifier: Apache-2.0
"""Third-party quantizers: values around an op with their own scales and types, and Pilotlight's
around theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import nn
from torch.fx import GraphModule

from aot.errors import LoweringError
from aot.lower import Lowered
from aot.quantizer.testing import VALUES, WEIGHTS, WIDE
from aot.quantizer.third_party import KEY
from aot.testing.fixtures import lower_with, model, op_counts, samples
from aot.upstream.torchao import QuantizationAnnotation, Quantizer

_aten = torch.ops.aten


class Around(Quantizer):  # type: ignore[misc]
    """Annotates the ops of one kind: their inputs, one after another, and their result."""

    def __init__(self, op: Any, given: Any, *taken: Any) -> None:
        super().__init__()
        self._op, self._given, self._taken = op, given, taken

    def annotate(self, model: GraphModule) -> GraphModule:
        for node in model.graph.nodes:
            if node.target is self._op:
                pairs = zip(node.all_input_nodes, self._taken, strict=False)
                node.meta[KEY] = QuantizationAnnotation(
                    input_qspec_map={x: spec for x, spec in pairs if spec is not None},
                    output_qspec=self._given,
                    _annotated=True,
                )
        return model

    def validate(self, model: GraphModule) -> None:
        pass


IMAGE, ROWS = (1, 3, 8, 8), (2, 8)
Net = tuple[Callable[..., object], list[Callable[[], nn.Module]], list[tuple[int, ...]]]
NETS: Mapping[str, Net] = {
    "linear": (lambda a, x: a(x), [lambda: nn.Linear(8, 8)], [ROWS]),
    "sum": (lambda x, y: x + y, [], [ROWS, ROWS]),
    "parts": (lambda x, y: torch.cat([x, y * 3.0]), [], [ROWS, ROWS]),
    "pool": (
        lambda a, b, x: b(a(x)),
        [lambda: nn.MaxPool2d(2), lambda: nn.Conv2d(3, 4, 1)],
        [IMAGE],
    ),
    "softmax": (lambda a, x: (a(x) * 3.0).softmax(-1), [lambda: nn.Linear(8, 8)], [ROWS]),
    "larger": (lambda x, y: torch.where(x > y, x, y * 2.0), [], [ROWS, ROWS]),
}


def lowered(net: str, quantizer: Quantizer | None, **options: Any) -> Lowered:
    function, children, shapes = NETS[net]
    with torch.random.fork_rng():
        torch.manual_seed(4)
        module = model(function, *(make() for make in children))
    data = samples(*shapes, count=48)
    options = {"min_sqnr": -math.inf, "per_op": False, "min_agreement": 0.0, **options}
    return lower_with(module, data[0], calibration=data, quantizer=quantizer, **options)


# name: net, annotated values, ops of the dialect
TAKEN: Mapping[str, tuple[str, Quantizer, dict[str, int]]] = {
    "scales of their own around a cat": (
        "parts",
        Around(_aten.cat.default, VALUES, VALUES, VALUES),
        {"pl.cat": 1, "pl.lut": 2},
    ),
    "another type behind a cat": (
        "parts",
        Around(_aten.cat.default, WIDE, VALUES, VALUES),
        {"pl.cat": 1, "pl.requantize": 2},
    ),
    "scales of their own around a pool": (
        "pool",
        Around(_aten.max_pool2d.default, VALUES, VALUES),
        {"pl.max_pool2d": 1, "pl.lut": 1, "pl.conv2d": 1},
    ),
    "int16 in front of an int8 layer": (
        "pool",
        Around(_aten.max_pool2d.default, WIDE, WIDE),
        {"pl.max_pool2d": 1, "pl.requantize": 1, "pl.conv2d": 1},
    ),
    "any scale of a softmax": (
        "softmax",
        Around(_aten.softmax.int, VALUES, VALUES),
        {"pl.softmax": 1},
    ),
    "any scale of a softmax of int16": (
        "softmax",
        Around(_aten.softmax.int, WIDE, WIDE),
        {"pl.softmax": 1},
    ),
}


@pytest.mark.parametrize("name", TAKEN)
def test_values_around_an_op_have_quantizations_of_their_own(name: str) -> None:
    net, quantizer, ops = TAKEN[name]
    result = lowered(net, quantizer)
    counts = op_counts(result.folded)
    assert {op: counts.get(op, 0) for op in ops} == ops
    mine, others = (r.quality.outputs[0].sqnr_db or 0.0 for r in (lowered(net, None), result))
    assert others > mine - 3.0  # another rounding, of the same size


def test_int16_of_another_quantizer_stays_int16_where_a_layer_asks_for_it() -> None:
    quantizer = Around(_aten.max_pool2d.default, WIDE, WIDE)
    result = lowered("pool", quantizer, quantization={"*:conv2d": "int16"})
    counts = op_counts(result.folded)
    assert "pl.requantize" not in counts and counts["pl.conv2d"] == 1
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 40.0


class NoAnnotation(Around):
    def annotate(self, model: GraphModule) -> GraphModule:
        for node in model.graph.nodes:
            if node.target is _aten.linear.default:
                node.meta[KEY] = {"output": VALUES}
        return model


class Fails(Around):
    def validate(self, model: GraphModule) -> None:
        raise ValueError("not such a model")


_MIXED = "values of int8 and of int16 around one op\n"
_LINEAR = _aten.linear.default
REFUSED: Mapping[str, tuple[str, Quantizer, dict[str, Any], str]] = {
    "int16 becomes int8": ("linear", Around(_LINEAR, VALUES, WIDE, WEIGHTS), {}, _MIXED),
    "int8 becomes int16": ("linear", Around(_LINEAR, WIDE, VALUES, WEIGHTS), {}, _MIXED),
    "a sum of both": ("sum", Around(_aten.add.Tensor, VALUES, VALUES, WIDE), {}, _MIXED),
    "a comparison of both": ("larger", Around(_aten.gt.Tensor, None, VALUES, WIDE), {}, _MIXED),
    "a pool of floats": (
        "pool",
        Around(_aten.max_pool2d.default, VALUES),
        {},
        "asked to stay in float, and has no float kernel",
    ),
    "a pool that gives floats": (
        "pool",
        Around(_aten.max_pool2d.default, None, VALUES),
        {},
        "it is to stay in float32, and has no float kernel",
    ),
    "no annotation": ("linear", NoAnnotation(_LINEAR, None), {}, "its annotation is dict"),
    "does not like the model": (
        "linear",
        Fails(_LINEAR, None),
        {},
        "Fails cannot validate the model: ValueError: not such",
    ),
    "what another has decided": (
        "linear",
        Around(_LINEAR, VALUES, VALUES, WEIGHTS),
        {"quantization": {"*:linear": "int16"}},
        ":linear' cannot be int16: another quantizer has annotated all",
    ),
    "a layer that there is not": (
        "linear",
        Around(_LINEAR, VALUES, VALUES, WEIGHTS),
        {"quantization": {"haed": "int16"}},
        "'haed' matches no layer",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_around_an_op_is_an_error(name: str) -> None:
    net, quantizer, options, message = REFUSED[name]
    with pytest.raises(LoweringError, match=message):
        lowered(net, quantizer, **options)
