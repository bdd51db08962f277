# SPDX-License-Identifier: Apache-2.0
"""Layers whose channels are read in parts are computed in parts, if this takes no longer; the bits
stay.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.artefact.artefact import rewrite
from aot.testing.fixtures import folded, int8_inputs, op_counts

IMAGE, ROWS, LINES = (2, 3, 6, 5), (2, 5, 12), (1, 4, 9)


def conv(i: int, o: int, k: int = 1) -> nn.Module:
    return nn.Conv2d(i, o, k, padding=k // 2)


Case = tuple[Callable[..., object], list[nn.Module], tuple[int, ...], dict[str, int]]
# function, children, input's shape, layers and slices
CASES: dict[str, Case] = {
    "gate": (lambda a, b, x: b(F.glu(a(x), 1)), [conv(3, 16), conv(8, 4)], IMAGE, {"conv2d": 3}),
    "gate of lines": (
        lambda a, b, x: b(F.glu(a(x), 1)),
        [nn.Conv1d(4, 16, 1), nn.Conv1d(8, 4, 1)],
        LINES,
        {"conv2d": 3},
    ),
    "a part that is an image": (
        lambda a, b, x: (
            (p := a(x).split((16, 8), -1))[0].mean((1, 2)),
            b(p[1].permute(0, 3, 1, 2)),
        ),
        [nn.Linear(5, 24), conv(8, 4, 3)],
        IMAGE,
        {"linear": 2, "conv2d": 1},
    ),
    "gate of rows": (
        lambda a, b, x: b((p := a(x).chunk(2, -1))[0] * F.silu(p[1])),
        [nn.Linear(12, 16), nn.Linear(8, 3)],
        ROWS,
        {"linear": 3},
    ),
    "a table between": (
        lambda a, b, c, x: c(torch.cat([(p := F.silu(a(x)).chunk(2, 1))[0], p[1], b(p[1])], 1)),
        [conv(3, 16), conv(8, 8), conv(24, 4)],
        IMAGE,
        {"conv2d": 4},
    ),
    "a depthwise convolution between": (
        lambda a, d, b, x: b((p := d(F.relu(a(x))).chunk(2, 1))[0] * p[1]),
        [conv(3, 16), nn.Conv2d(16, 16, 3, stride=2, padding=1, groups=16), conv(8, 4)],
        IMAGE,
        {"conv2d": 3, "depthwise_conv2d": 2},
    ),
    "a depthwise convolution of lines": (
        lambda a, d, b, x: b((p := d(F.relu(a(x))).chunk(2, 1))[0] * p[1]),
        [nn.Conv1d(4, 16, 1), nn.Conv1d(16, 16, 3, groups=16), nn.Conv1d(8, 4, 1)],
        LINES,
        {"conv2d": 3, "depthwise_conv2d": 2},
    ),
    "two channels of each": (
        lambda a, d, b, x: b((p := d(a(x)).chunk(2, 1))[0] * p[1]),
        [conv(3, 8), nn.Conv2d(8, 16, 3, groups=8), conv(8, 4)],
        IMAGE,
        {"conv2d": 2, "depthwise_conv2d": 1, "slice": 2},
    ),
    "parts of different sizes": (
        lambda a, b, c, x: (b((p := a(x).split([4, 12], 1))[0]), c(p[1])),
        [conv(3, 16), conv(4, 3), conv(12, 3)],
        IMAGE,
        {"conv2d": 4},
    ),
    "a part is not read": (
        lambda a, b, c, x: (b((p := a(x).split(8, 1))[0]), c(p[2])),
        [conv(3, 24), conv(8, 3), conv(8, 3)],
        IMAGE,
        {"conv2d": 4},
    ),
    "heads": (
        lambda a, x: (y := a(x).unflatten(-1, (2, 2, 4)))[:, :, 0] * y[:, :, 1],
        [nn.Linear(12, 16)],
        ROWS,
        {"linear": 2},
    ),
    "a part is read twice": (
        lambda a, b, c, x: (b((p := a(x).chunk(2, 1))[0] * p[1]), c(p[0])),
        [conv(3, 16), conv(8, 3), conv(8, 3)],
        IMAGE,
        {"conv2d": 4},
    ),
    "read whole, too": (
        lambda a, b, c, x: (b((y := a(x))[:, :8]), c(y)),
        [conv(3, 16), conv(8, 3), conv(16, 3)],
        IMAGE,
        {"conv2d": 3, "slice": 1},
    ),
    "parts that overlap": (
        lambda a, b, c, x: (b((y := a(x))[:, :8]), c(y[:, 4:])),
        [conv(3, 16), conv(8, 3), conv(12, 3)],
        IMAGE,
        {"conv2d": 3, "slice": 2},
    ),
    "every second channel": (
        lambda a, b, x: b((y := a(x))[:, ::2] * y[:, 1::2]),
        [conv(3, 16), conv(8, 3)],
        IMAGE,
        {"conv2d": 2, "slice": 2},
    ),
    "parts of odd sizes": (
        lambda a, b, x: b(F.glu(a(x), 1)),
        [conv(3, 6), conv(3, 4)],
        IMAGE,
        {"conv2d": 2, "slice": 2},
    ),
    "a kernel of nine": (
        lambda a, b, x: b(F.glu(a(x), 1)),
        [conv(3, 16, 3), conv(8, 4)],
        IMAGE,
        {"conv2d": 2, "slice": 2},
    ),
    "groups": (
        lambda a, b, x: b(F.glu(a(x), 1)),
        [nn.Conv2d(4, 16, 1, groups=2), conv(8, 4)],
        (1, 4, 6, 5),
        {"conv2d": 2, "slice": 2},
    ),
    "parts of an image": (
        lambda a, b, x: b((y := a(x))[:, :, :3] * y[:, :, 3:]),
        [conv(3, 8), conv(8, 4)],
        IMAGE,
        {"conv2d": 2, "slice": 2},
    ),
}


# Images are given with their channels last, too.
ORDERS = [(name, last) for name in CASES for last in {False, len(CASES[name][2]) == 4}]


@pytest.mark.parametrize(("name", "last"), ORDERS)
def test_split_before_slices(name: str, last: bool) -> None:
    function, children, shape, expected = CASES[name]

    def of_channels_last(*given: object) -> object:
        *parts, x = given
        assert isinstance(x, torch.Tensor)
        return function(*parts, x.permute(0, 3, 1, 2))

    n, c, *pixels = shape
    graph = (
        folded(of_channels_last, *children, shapes=[(n, *pixels, c)])
        if last
        else folded(function, *children, shapes=[shape])
    )
    inputs = int8_inputs(graph)
    before = graph(*inputs)
    rewrite(graph)
    for a, b in zip(before, graph(*inputs), strict=True):
        assert torch.equal(a, b)
    counts = {name[3:]: n for name, n in op_counts(graph).items()}
    counted = ("conv2d", "linear", "depthwise_conv2d", "slice")
    assert {n: c for n, c in counts.items() if n in counted} == expected
