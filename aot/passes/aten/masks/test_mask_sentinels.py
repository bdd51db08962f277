# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from aot.dialect.graph import quantization_of
from aot.lower import lower
from aot.passes.aten.constants.fold_constants import fold_constants
from aot.passes.aten.masks.additive_masks import additive_masks
from aot.passes.aten.masks.mask_sentinels import replace_mask_sentinels
from aot.testing.fixtures import check_aten_pass, folded, lower_with, model, op_counts, samples

X = torch.randn((1, 3, 4, 8), generator=torch.Generator().manual_seed(4))
LEAST = torch.finfo(torch.float32).min
KEPT = torch.tensor([True, True, False, True, False, True, False, True])
LATE = torch.tensor([False] * 3 + [True, False] * 2 + [True])
Function = Callable[..., object]


def _run(function: Function) -> tuple[int, list[float]]:
    """Return the number of changes, and the remaining fills; values stay."""

    def rewrite(module: torch.fx.GraphModule) -> int:
        fold_constants(module)
        return additive_masks(module) + replace_mask_sentinels(module)

    count, graph = check_aten_pass(rewrite, function, inputs=[X])
    graph.graph.eliminate_dead_code()
    numbers = [
        float(value)
        for name, value in graph.named_buffers()
        if value.numel() == 1
        if any(n.op == "get_attr" and n.target == name for n in graph.graph.nodes)
    ]
    for node in graph.graph.nodes:
        if node.target is torch.ops.aten.constant_pad_nd.default:
            numbers.append(float(node.args[2]))
    return count, numbers


INFINITE: dict[str, Function] = {
    "pad and pool": lambda x: F.max_pool2d(F.pad(x, (1, 1, 1, 1), value=LEAST), 3, 2),
    "pad and extreme": lambda x: F.pad(x, (0, 3), value=-1e9).amax(-1),
    "pad, moved": lambda x: F.pad(x, (0, 2), value=-1e4).flatten(2).amax(-1),
    "where": lambda x: torch.where(KEPT, x, -1e9).max(-1),
    "filled": lambda x: x.masked_fill(~KEPT, LEAST).argmax(-1),
    "largest": lambda x: x.masked_fill(~KEPT, -1e9).topk(2, -1),
    "largest of all": lambda x: torch.where(KEPT, x, -1e9).max(),
    "least": lambda x: x.masked_fill(~KEPT, 1e9).amin(-1),
    "smallest of sorted": lambda x: x.masked_fill(~KEPT, 1e9).topk(2, -1, largest=False),
    "two readers": lambda x: (y := x.masked_fill(~KEPT, -1e9)).amax(-1) + y[..., :2].amax(-1),
    "softmax": lambda x: F.log_softmax(x.masked_fill(~KEPT, -1e9), -1)[..., :2],
    "softmax of two masks": lambda x: F.log_softmax(
        x.masked_fill(~KEPT, -1e9).masked_fill(~LATE, LEAST), -1
    )[..., 3:4],
    "added": lambda x: (x + (~KEPT).float() * -1e9).amax(-1),
    "subtracted": lambda x: (x - (~KEPT).float() * 1e9).amax(-1),
    "computed": lambda x: (x + (1 - (x > 0).float()) * -1e9).amax(-1),
    "two parts": lambda x: torch.maximum(
        (y := F.pad(x, (1, 1), value=-1e9))[..., 1:], y[..., :-1]
    ).amax(-1),
    "the larger one of two": lambda x: torch.maximum(
        x.masked_fill(~KEPT, -1e9), x.flip(-1).masked_fill(KEPT, -1e9)
    ).amax(-1),
    "a bias and a mask": lambda x: (x + torch.tensor([-3.0, -1e9] * 4)).amax(-1),
    "infinite before": lambda x: (x + torch.zeros(8).masked_fill(~KEPT, -math.inf)).amax(-1),
}


@pytest.mark.parametrize("name", INFINITE)
def test_becomes_infinite(name: str) -> None:
    count, numbers = _run(INFINITE[name])
    assert count
    far = [number for number in numbers if abs(number) >= 64]
    assert far and all(map(math.isinf, far)), numbers


TAKEN: dict[str, Function] = {
    "relu": lambda x: F.relu(x.masked_fill(~KEPT, -1e9)),
    "sigmoid": lambda x: torch.sigmoid(torch.where(KEPT, x, -math.inf)),
    "two in a row": lambda x: torch.tanh(F.pad(x, (1, 1), value=-1e9).clamp(-2, 2)),
    "and a pool": lambda x: F.max_pool2d(F.relu(F.pad(x, (1, 1, 1, 1), value=LEAST)), 3, 2),
    "the larger one": lambda x: torch.maximum(torch.where(KEPT, x, -1e9), x.flip(-1)),
    "the smaller one": lambda x: torch.minimum(x.flip(-1), torch.where(KEPT, 1e9, x).relu()),
    "the other way round": lambda x: (-F.pad(x, (1, 1), value=1e9)).exp(),
    "of several ops": lambda x: torch.where((y := x.masked_fill(~KEPT, -math.inf)) < -1e3, 0.5, y),
    "finite again": lambda x: torch.nan_to_num(x.masked_fill(~KEPT, -math.inf), 0.0, 1.0, 0.5),
    "two of them": lambda x: (
        (y := F.pad(x, (1, 1), value=-1e9)).sigmoid() + torch.where(y < -2.0, 0.5, y.relu())
    ),
    "the larger one of what is broadcast": lambda x: torch.maximum(
        x[:, :1].masked_fill(~KEPT, -1e9), x
    ),
    "softmax along it": lambda x: F.softmax(F.pad(x, (1, 2), value=-math.inf), -1),
    "softmax of parts": lambda x: F.softmax(torch.cat([torch.full((1, 3, 4, 2), -1e9), x], -1), -1),
    "softmax along rows": lambda x: F.softmax(F.pad(x, (0, 0, 3, 0), value=-1e5), 2),
}


@pytest.mark.parametrize("name", TAKEN)
def test_functions_are_taken_of_both(name: str) -> None:
    count, numbers = _run(TAKEN[name])
    assert count and all(abs(number) < 64 for number in numbers), numbers


LEFT: dict[str, Function] = {
    "returned": lambda x: x.masked_fill(~KEPT, -1e9),
    "within what activations reach": lambda x: F.pad(x, (1, 1), value=-100.0).amax(-1),
    "an extreme of the other kind": lambda x: x.masked_fill(~KEPT, -1e9).amin(-1),
    "the smallest": lambda x: x.masked_fill(~KEPT, -1e9).topk(2, -1, largest=False),
    "a sum": lambda x: F.pad(x, (1, 1), value=-1e9).sum(-1),
    "one reader of two": lambda x: (y := F.pad(x, (1, 1), value=-1e9)).amax(-1) + y.sum(-1),
    "rows that are masked whole": lambda x: torch.log_softmax(
        x.masked_fill(~KEPT[:4, None], -1e9), -1
    ).amax(-1),
    "two masks that leave softmax nothing": lambda x: torch.log_softmax(
        x.masked_fill(KEPT, -1e9).masked_fill(~KEPT, -1e9), -1
    ).amax(-1),
    "rows of padding": lambda x: F.softmax(F.pad(x, (0, 0, 0, 1), value=-1e9), -1),
}


@pytest.mark.parametrize("name", LEFT)
def test_is_left_alone(name: str) -> None:
    count, numbers = _run(LEFT[name])
    assert count == 0 and not any(map(math.isinf, numbers))


def test_the_device_has_room_for_the_rest() -> None:
    """The scale is that of the values, and the fill loses against all of them."""
    graph = folded(
        lambda x: F.max_pool2d(F.pad(x, (1, 1, 1, 1), value=LEAST), 3, 2), shapes=[(1, 2, 6, 6)]
    )
    assert op_counts(graph)["pl.pad"] == 1
    pad = next(n for n in graph.graph.nodes if n.target is torch.ops.pl.pad.default)
    assert quantization_of(pad).scale < 0.1
    x = torch.full((1, 2, 6, 6), -100, dtype=torch.int8)
    (out,) = graph(x)
    assert bool((out == -100).all())


# name: choice among values, many of them equal to the least one
PLACES: dict[str, Function] = {
    "place": lambda x: x.relu().masked_fill(~LATE, -1e9).argmax(-1),
    "both": lambda x: torch.where(LATE, x.relu(), LEAST).max(-1).indices,
    "several": lambda x: torch.where(LATE, x.relu(), -math.inf).topk(3).indices,
    "the least": lambda x: torch.where(LATE, (-x).relu() * -1, 1e9).argmin(-1),
    "saturated": lambda x: x.clamp(max=-1.0).masked_fill(~LATE, -1e9).argmax(-1),
}


@pytest.mark.parametrize(
    "quantization, observer", [("int8", "histogram"), ("int8", "minmax"), ("int16", "histogram")]
)
@pytest.mark.parametrize("name", PLACES)
def test_a_masked_place_is_never_chosen(name: str, quantization: str, observer: str) -> None:
    data = [(x - 0.7,) for (x,) in samples((1, 8), count=24)]
    options: dict[str, Any] = {"quantization": quantization, "observer": observer}
    result = lower_with(
        model(PLACES[name]), data[0], calibration=data, min_sqnr=-math.inf, **options
    )
    for sample in data:
        (places,) = result.reference(sample)
        assert bool(LATE[places].all())


def test_what_is_larger_than_another_value_is_not_the_least_step_of_that() -> None:
    data = [(x.abs(), y) for x, y in samples((1, 8), (1, 8), count=16)]
    net = model(lambda x, y: torch.maximum(torch.where(KEPT, x, -1e9), y) + 0.0)
    result = lower(net, data[0], calibration=data)
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 34.0
