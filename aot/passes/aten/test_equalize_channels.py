# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.passes.aten.equalize_channels import equalize_channels
from aot.testing.fixtures import check_aten_pass

X = torch.linspace(-3.0, 5.0, 196).reshape(1, 4, 7, 7)


# Children, and how many pairs change.
CASES: dict[str, tuple[Callable[..., object], list[nn.Module], int]] = {
    "two": (lambda a, b, x: b(a(x)), [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 5, 1)], 1),
    "relu": (lambda a, b, x: b(F.relu(a(x))), [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 5, 3)], 1),
    "pools": (
        lambda a, b, x: b(F.avg_pool2d(F.max_pool2d(F.relu(a(x)), 2, 1), 2, 1)),
        [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 5, 1)],
        1,
    ),
    "depthwise": (
        lambda a, b, x: b(F.relu(a(x))),
        [nn.Conv2d(4, 6, 3, bias=False), nn.Conv2d(6, 12, 3, groups=6)],
        1,
    ),
    "a chain": (
        lambda a, b, c, x: c(F.relu(b(F.relu(a(x))))),
        [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 6, 3, groups=6), nn.Conv2d(6, 3, 1)],
        2,
    ),
    "linear": (lambda a, b, x: b(F.relu(a(x))), [nn.Linear(7, 9), nn.Linear(9, 3)], 1),
    "relu6": (lambda a, b, x: b(F.relu6(a(x))), [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 5, 1)], 0),
    "read by others": (
        lambda a, b, x: b(y := a(x)) + y,
        [nn.Conv2d(4, 4, 3), nn.Conv2d(4, 4, 1)],
        0,
    ),
    "relu read by others": (
        lambda a, b, x: b(y := F.relu(a(x))) + y,
        [nn.Conv2d(4, 4, 3), nn.Conv2d(4, 4, 1)],
        0,
    ),
    "weights of two": (lambda a, x: a(a(x)), [nn.Conv2d(4, 4, 1)], 0),
    "groups": (lambda a, b, x: b(a(x)), [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 6, 1, groups=2)], 0),
    "transposed": (lambda a, b, x: b(a(x)), [nn.ConvTranspose2d(4, 6, 3), nn.Conv2d(6, 5, 1)], 0),
    "flatten": (
        lambda a, b, x: b(a(x).flatten(1)),
        [nn.Conv2d(4, 2, 1), nn.Linear(98, 3)],
        0,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_equalize_channels(name: str) -> None:
    function, children, pairs = CASES[name]
    changes, graph = check_aten_pass(equalize_channels, function, *children, inputs=[X], atol=1e-4)
    assert changes == pairs
    assert equalize_channels(graph) == 0, "nothing is left to do"
