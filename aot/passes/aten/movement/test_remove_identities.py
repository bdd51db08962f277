# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from aot.passes.aten.movement.remove_identities import remove_identities
from aot.testing.fixtures import check_aten_pass, op_counts

IMAGE = (1, 3, 4, 6)
X = torch.arange(72, dtype=torch.float32).reshape(IMAGE)
Function = Callable[..., object]


# Ops with the shape of their input, or nearly so, and the remaining ones.
SAME_SHAPE: dict[str, tuple[Function, dict[str, int]]] = {
    "expand": (lambda x: x.expand(IMAGE), {}),
    "slice of all": (lambda x: x[:, 0:3], {}),
    "reshape": (lambda x: x.reshape(IMAGE), {}),
    "pad by nothing": (lambda x: F.pad(x, (0, 0)), {}),
    "adaptive pool": (lambda x: F.adaptive_avg_pool2d(x, (4, 6)), {}),
    "pad that shifts right": (lambda x: F.pad(x, (1, -1)), {"aten.constant_pad_nd": 1}),
    "pad that shifts down": (lambda x: F.pad(x, (0, 0, 2, -2)), {"aten.constant_pad_nd": 1}),
    "pad that shifts channels": (
        lambda x: F.pad(x, (0, 0, 0, 0, -1, 1)),
        {"aten.constant_pad_nd": 1},
    ),
    "another value": (lambda x: F.pad(x, (-2, 2), value=3.0), {"aten.constant_pad_nd": 1}),
    "crop": (lambda x: F.pad(x, (0, -1)), {"aten.constant_pad_nd": 1}),
    "cat with nothing": (lambda x: torch.cat((x[:, :0], x), 1), {"aten.slice": 1}),
    "cat with itself": (lambda x: torch.cat((x, x), 1)[:, :3], {"aten.cat": 1, "aten.slice": 1}),
    "flip": (lambda x: x.flip(-1), {"aten.flip": 1}),
    "pool": (lambda x: F.avg_pool2d(x, 3, 1, 1), {"aten.avg_pool2d": 1}),
    "square transposed": (
        lambda x: x[:, :, :, :4].transpose(2, 3),
        {"aten.slice": 1, "aten.permute": 1},
    ),
}


@pytest.mark.parametrize("name", SAME_SHAPE)
def test_the_same_shape_is_not_the_same_value(name: str) -> None:
    function, left = SAME_SHAPE[name]
    _, graph = check_aten_pass(
        remove_identities,
        lambda x: torch.neg(function(x)),  # type: ignore[arg-type]
        inputs=[X],
    )
    assert op_counts(graph) == {"aten.neg": 1, **left}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.float().neg(),
        lambda x: x.to(torch.float32).neg(),
        lambda x: x.to("cpu").neg(),
        lambda x: x.to(memory_format=torch.channels_last).neg(),
    ],
)
def test_casts_to_what_a_value_is(function: Function) -> None:
    changes, graph = check_aten_pass(remove_identities, function, inputs=[X])
    assert changes > 0 and op_counts(graph) == {"aten.neg": 1}
    value = next(n for n in graph.graph.nodes if n.op == "call_function").meta["val"]
    assert value.is_contiguous()
