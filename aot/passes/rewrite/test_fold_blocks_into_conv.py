# SPDX-License-Identifier: Apache-2.0
"""Blocks of pixels are read where they lie, or moved once; the bits stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from aot.artefact.artefact import rewrite
from aot.passes.rewrite.merge_movements import merge_movements, regrouped
from aot.testing.fixtures import check_pass, folded, int8_inputs, op_counts

IMAGE, BATCH = (1, 3, 8, 12), (2, 3, 8, 12)


def conv(i: int = 3, o: int = 4, k: int = 3) -> nn.Module:
    return nn.Conv2d(i, o, k, padding=k // 2)


def focus(x: Tensor) -> Tensor:
    """Four blocks as YOLOv5 has them."""
    parts = [x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]]
    return torch.cat(parts, 1)


def merged(x: Tensor) -> Tensor:
    """Patches as Swin merges them, channels last."""
    parts = [x[:, ::2, ::2], x[:, 1::2, ::2], x[:, ::2, 1::2], x[:, 1::2, 1::2]]
    return torch.cat(parts, -1)


def reversed_blocks(x: Tensor) -> Tensor:
    parts = [x[..., 1::2, ::2], x[..., ::2, ::2], x[..., 1::2, 1::2], x[..., ::2, 1::2]]
    return torch.cat(parts, 1)


Case = tuple[Callable[..., object], list[nn.Module], tuple[int, ...], dict[str, int]]
# function, children, input's shape, movements and convolutions; at least one moves the input
CASES: dict[str, Case] = {
    "focus": (lambda a, x: a(focus(x)), [conv(12)], IMAGE, {"transpose": 2, "conv2d": 1}),
    "focus, batch": (lambda a, x: a(focus(x)), [conv(12)], BATCH, {"transpose": 2, "conv2d": 1}),
    "focus inside": (
        lambda a, b, x: b(focus(F.relu(a(x)))),
        [conv(), conv(16, 5)],
        BATCH,
        {"transpose": 2, "conv2d": 2},
    ),
    "strides and no padding": (
        lambda a, b, x: b(focus(a(x))),
        [conv(), nn.Conv2d(16, 5, (3, 2), stride=(1, 2), padding=(1, 0))],
        IMAGE,
        {"transpose": 2, "conv2d": 2},
    ),
    "a dilated row": (
        lambda a, b, x: b(focus(a(x))),
        [conv(), nn.Conv2d(16, 5, (1, 3), dilation=(2, 2))],
        IMAGE,
        {"transpose": 2, "conv2d": 2},
    ),
    "dilated rows": (
        lambda a, b, x: b(focus(a(x))),
        [conv(), nn.Conv2d(16, 5, (2, 1), dilation=(2, 1))],
        IMAGE,
        {"transpose": 3, "conv2d": 2},
    ),
    "groups": (
        lambda a, b, x: b(focus(a(x))),
        [conv(), nn.Conv2d(16, 4, 3, groups=2)],
        IMAGE,
        {"transpose": 3, "conv2d": 2},
    ),
    "two layers read them": (
        lambda a, b, c, x: (b(y := focus(a(x))), c(y)),
        [conv(), conv(16, 5), conv(16, 2, 1)],
        IMAGE,
        {"transpose": 3, "conv2d": 3},
    ),
    "a layer and a pool read them": (
        lambda a, b, x: (b(y := focus(a(x))), F.max_pool2d(y, 2)),
        [conv(), conv(16, 5)],
        IMAGE,
        {"transpose": 4, "conv2d": 2},
    ),
    "pixel_unshuffle": (
        lambda a, b, x: b(F.pixel_unshuffle(a(x), 2)),
        [conv(), conv(16, 5)],
        BATCH,
        {"transpose": 2, "conv2d": 2},
    ),
    "rows of a block the other way round": (
        lambda a, b, x: b(reversed_blocks(a(x))),
        [conv(), conv(16, 5)],
        IMAGE,
        {"transpose": 2, "conv2d": 2, "slice": 6, "cat": 1},
    ),
    "a block is left out": (
        lambda a, b, x: b(focus(a(x))[:, :12] * 1.0),
        [conv(), conv(12, 5)],
        IMAGE,
        {"transpose": 4, "conv2d": 2, "slice": 1},
    ),
    "patches merged": (
        lambda a, b, x: b(merged(a(x).permute(0, 2, 3, 1))),
        [conv(), nn.Linear(16, 5)],
        BATCH,
        {"transpose": 1, "conv2d": 2},
    ),
    "a norm between": (
        lambda a, n, b, x: b(n(merged(a(x).permute(0, 2, 3, 1)))),
        [conv(), nn.LayerNorm(16), nn.Linear(16, 5)],
        IMAGE,
        {"transpose": 2, "conv2d": 1},
    ),
    "unfold": (
        lambda a, b, x: b(F.unfold(a(x), 2, stride=2).transpose(1, 2)),
        [conv(), nn.Linear(16, 5)],
        BATCH,
        {"transpose": 1, "conv2d": 2},
    ),
    "unfold of the input": (
        lambda a, x: a(F.unfold(x, 2, stride=2)),
        [nn.Conv1d(12, 5, 1)],
        BATCH,
        {"transpose": 2, "conv2d": 1},
    ),
    "unfold of the input, a window of patches": (
        lambda a, x: a(F.unfold(x, 2, stride=2)),
        [nn.Conv1d(12, 5, 3)],
        IMAGE,
        {"transpose": 2, "conv2d": 1},
    ),
    "patches of the input's dimensions": (
        lambda a, x: a(x.unfold(2, 2, 2).unfold(3, 2, 2).permute(0, 2, 3, 1, 4, 5).flatten(3)),
        [nn.Linear(12, 5)],
        BATCH,
        {"transpose": 1, "conv2d": 1},
    ),
    "unfold, overlapping": (
        lambda a, b, x: b(F.unfold(a(x), 2).transpose(1, 2)),
        [conv(), nn.Linear(16, 5)],
        IMAGE,
        {"transpose": 2, "conv2d": 1, "gather": 1},
    ),
    "odd sizes": (
        lambda a, b, x: b(F.unfold(a(x), 2, stride=2).transpose(1, 2)),
        [conv(), nn.Linear(16, 5)],
        (1, 3, 7, 5),
        {"transpose": 2, "conv2d": 1, "gather": 1},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_blocks(name: str) -> None:
    function, children, shape, expected = CASES[name]
    graph = folded(function, *children, shapes=[shape])
    inputs = int8_inputs(graph)
    before = graph(*inputs)
    rewrite(graph)
    after = graph(*inputs)
    for a, b in zip(before, after, strict=True):
        assert torch.equal(a, b)
    counts = {name[3:]: n for name, n in op_counts(graph).items()}
    moving = ("transpose", "conv2d", "slice", "cat", "gather")
    assert {n: c for n, c in counts.items() if n in moving} == expected


def test_channels_last_are_moved_nowhere() -> None:
    graph = folded(
        lambda a, x: a(focus(x.permute(0, 3, 1, 2))).permute(0, 2, 3, 1),
        conv(12),
        shapes=[(1, 8, 12, 3)],
    )
    inputs = int8_inputs(graph)
    before = graph(*inputs)
    rewrite(graph)
    assert torch.equal(graph(*inputs)[0], before[0])
    assert op_counts(graph) == {"pl.reshape": 1, "pl.conv2d": 1}


MERGED: dict[str, tuple[Callable[[Tensor], Tensor], bool]] = {
    "blocks": (focus, True),
    "halves exchanged": (lambda x: torch.cat([x[..., 6:], x[..., :6]], -1), False),
    "even and odd": (lambda x: torch.cat([x[..., ::2], x[..., 1::2]], -1), True),
    "in order": (lambda x: torch.cat([x[:, :1], x[:, 1:]], 1), True),
    "reversed": (lambda x: x.flip(3), False),
    "twice": (lambda x: torch.cat([x, x], 1), False),
    "transposed in parts": (
        lambda x: torch.cat([x[:, k : k + 1].transpose(2, 3) for k in range(3)], 1),
        True,
    ),
}


@pytest.mark.parametrize("name", MERGED)
def test_merge_movements(name: str) -> None:
    function, changes = MERGED[name]
    graph = folded(function, shapes=[IMAGE])
    check_pass(graph, merge_movements, changes)
    if changes:
        assert set(op_counts(graph)) <= {"pl.reshape", "pl.transpose"}


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (torch.arange(24).reshape(4, 6), ([4, 6], [0, 1])),
        (torch.arange(24).reshape(4, 6).T, ([4, 6], [1, 0])),
        (torch.arange(24).reshape(2, 2, 6).permute(1, 2, 0).flatten(), ([2, 12], [1, 0])),
        (torch.arange(24).flip(0), None),
        (torch.arange(24) + 1, None),
        (torch.zeros(24, dtype=torch.int64), None),
        (torch.arange(24).reshape(4, 6)[:, [0, 2, 1, 3, 4, 5]], None),
    ],
)
def test_regrouped(places: Tensor, expected: object) -> None:
    assert regrouped(places) == expected
