# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.passes.aten.movement.hoist_clamps import hoist_clamps
from aot.testing.fixtures import check_aten_pass

IMAGE = (1, 3, 4, 6)
X = torch.arange(72, dtype=torch.float32).reshape(IMAGE)
Function = Callable[..., object]


# Ops between an op and its clamp, and the number of moved clamps.
CLAMPS: dict[str, tuple[Function, list[nn.Module], int]] = {
    "reshape": (lambda a, x: F.relu(a(x).reshape(2, -1)), [nn.Conv2d(3, 2, 1)], 1),
    "two of them": (
        lambda a, x: F.relu6(a(x).flatten(1).unsqueeze(0)),
        [nn.Conv2d(3, 2, 1)],
        1,
    ),
    "permute": (lambda a, x: a(x).permute(0, 2, 3, 1).clamp(-1, 2), [nn.Conv2d(3, 2, 1)], 1),
    "a sum": (lambda x: F.relu((x + x.mean(1, keepdim=True)).reshape(3, -1)), [], 1),
    "nothing": (lambda a, x: F.relu(a(x)), [nn.Conv2d(3, 2, 1)], 0),
    "a reader in between": (
        lambda a, x: F.relu(y := a(x).reshape(2, -1)) + y,
        [nn.Conv2d(3, 2, 1)],
        0,
    ),
    "a reader of the op": (
        lambda a, x: F.relu((y := a(x)).reshape(2, -1)) + y.reshape(2, -1),
        [nn.Conv2d(3, 2, 1)],
        0,
    ),
    "an op that fuses no clamp": (lambda x: F.relu(x.mean(1).reshape(4, 6)), [], 0),
    "no op": (lambda x: F.relu(x.reshape(3, -1)), [], 0),
}


@pytest.mark.parametrize("name", CLAMPS)
def test_hoist_clamps(name: str) -> None:
    function, children, moved = CLAMPS[name]
    changes, graph = check_aten_pass(hoist_clamps, function, *children, inputs=[X])
    assert changes == moved
    clamps = [n for n in graph.graph.nodes if str(n.target).startswith(("aten.relu", "aten.clamp"))]
    if moved:
        targets = {str(c.args[0].target) for c in clamps if isinstance(c.args[0], torch.fx.Node)}
        assert targets <= {"aten.convolution.default", "aten.add.Tensor"}
