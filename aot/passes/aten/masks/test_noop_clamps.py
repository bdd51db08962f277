# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from aot.lower import lower
from aot.passes.aten.constants.fold_constants import fold_constants
from aot.passes.aten.masks.noop_clamps import drop_noop_clamps
from aot.testing.fixtures import check_aten_pass, model, samples

X = torch.randn((1, 3, 8), generator=torch.Generator().manual_seed(4))
LOW = torch.tensor([-math.inf, 0.1, -0.2, -1e9, 0.3, 0.0, -math.inf, -1.0])
OFF = torch.full((8,), -math.inf)
Function = Callable[..., object]


def _run(function: Function) -> int:
    def rewrite(module: torch.fx.GraphModule) -> int:
        fold_constants(module)
        return drop_noop_clamps(module)

    count, graph = check_aten_pass(rewrite, function, inputs=[X])
    graph.graph.eliminate_dead_code()
    read = {n.target for n in graph.graph.nodes if n.op == "get_attr"}
    if count:
        numbers = [v for name, v in graph.named_buffers() if name in read]
        assert all(bool((v.float().abs() < 1e4).all()) for v in numbers)
    return count


CHANGED: dict[str, Function] = {
    "maximum": lambda x: torch.maximum(x, LOW),
    "the other way round": lambda x: torch.maximum(LOW, x),
    "fmax": lambda x: torch.fmax(x, LOW),
    "minimum": lambda x: torch.minimum(x, -LOW),
    "clamp from below": lambda x: x.clamp(min=LOW),
    "clamp from above": lambda x: x.clamp(max=-LOW),
    "clamp on both sides": lambda x: x.clamp(LOW, -LOW),
    "clamp, one of two": lambda x: x.clamp(LOW, torch.full((8,), 0.5)),
    "a limit for each row": lambda x: torch.maximum(x, torch.tensor([[0.5], [-math.inf], [0.0]])),
    "none left": lambda x: torch.maximum(x, OFF) + 1.0,
}


@pytest.mark.parametrize("name", CHANGED)
def test_leaves_limits_that_limit(name: str) -> None:
    assert _run(CHANGED[name]) == 1


LEFT: dict[str, Function] = {
    "near": lambda x: torch.maximum(x, torch.tensor([-100.0, 0.0] * 4)),
    "the side that matters": lambda x: torch.maximum(x, torch.tensor([1e5, 0.0] * 4)),
    "two values": lambda x: torch.maximum(x, x * x),
    "broadcasts": lambda x: torch.maximum(x[:, :1], LOW.expand(1, 3, 8) * 1.0),
}


@pytest.mark.parametrize("name", LEFT)
def test_is_left_alone(name: str) -> None:
    assert _run(LEFT[name]) == 0


@pytest.mark.parametrize("name", ["maximum", "clamp on both sides"])
def test_the_others_keep_their_steps(name: str) -> None:
    """Without the pass it has 5 dB: minus infinity is the least step of the other limits' range."""
    data = samples((1, 3, 8), count=24)
    result = lower(model(CHANGED[name]), data[0], calibration=data)
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 30.0
