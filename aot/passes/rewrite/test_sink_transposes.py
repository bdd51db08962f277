# SPDX-License-Identifier: Apache-2.0
"""Transposes vanish between ops of one layout, and the bits stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from aot.dialect.transposes import inverse
from aot.passes.rewrite.sink_transposes import match_unit_dims, moves_nothing, sink_transposes
from aot.testing.fixtures import check_pass, folded, op_counts


def conv(i: int = 4, o: int = 4, k: int = 3) -> nn.Module:
    return nn.Conv2d(i, o, k, padding=k // 2)


IMAGE = (1, 4, 6, 5)
LINE = (1, 4, 9)
# name: function, children, input shape, transposes left (the two at the border)
CASES: dict[str, tuple[Callable[..., object], list[nn.Module], tuple[int, ...], int]] = {
    "conv conv": (lambda a, b, x: b(a(x)), [conv(), conv()], IMAGE, 2),
    "unary": (lambda a, b, x: b(torch.tanh(a(x))), [conv(), conv()], IMAGE, 2),
    "residual": (lambda a, b, x: b(y := a(x)) + y, [conv(), conv()], IMAGE, 2),
    "constant": (lambda a, x: a(x) * torch.arange(6.0).reshape(6, 1), [conv()], IMAGE, 2),
    "volumes": (
        lambda a, b, c, x: c(F.max_pool3d(b(F.avg_pool3d(a(x), (1, 2, 2))), 2)),
        [nn.Conv3d(4, 4, (1, 3, 3)), nn.Conv3d(4, 4, (2, 1, 1)), nn.Conv3d(4, 4, 1)],
        (2, 4, 6, 12, 10),
        2,
    ),
    "cat": (
        lambda a, b, x: b(torch.cat([y := a(x), torch.tanh(y)], 1)),
        [conv(), conv(8)],
        IMAGE,
        2,
    ),
    "slice": (lambda a, b, x: b(a(x)[:, 1:3]), [conv(), conv(2)], IMAGE, 2),
    "pad": (lambda a, b, x: b(F.pad(a(x), (1, 0, 2, 3))), [conv(), conv()], IMAGE, 2),
    "softmax": (lambda a, b, x: b(F.softmax(a(x), 1)), [conv(), conv()], IMAGE, 2),
    "log_softmax": (lambda a, b, x: b(F.log_softmax(a(x), 2)), [conv(), conv()], IMAGE, 2),
    "keepdim": (lambda a, b, x: b(a(x).mean((2, 3), keepdim=True)), [conv(), conv()], IMAGE, 2),
    "mean drops dims": (lambda a, x: a(x).mean((2, 3)), [conv()], IMAGE, 1),
    "mean of channels": (lambda a, x: a(x).mean(1), [conv()], IMAGE, 1),
    "max over channels": (lambda a, x: a(x).max(1), [conv()], IMAGE, 1),
    "max over rows": (lambda a, x: a(x).max(2), [conv()], IMAGE, 3),
    "max with keepdim": (
        lambda a, b, x: (b((y := a(x).max(2, keepdim=True)).values), y.indices),
        [conv(), conv()],
        IMAGE,
        3,
    ),
    "gate": (
        lambda a, b, x: (y := a(x)) * torch.sigmoid(b(F.adaptive_avg_pool2d(y, 1))),
        [conv(), conv(k=1)],
        IMAGE,
        2,
    ),
    "gate by linear": (
        lambda a, b, x: (y := a(x)) * torch.sigmoid(b(y.mean((2, 3)))).reshape(1, 4, 1, 1),
        [conv(), nn.Linear(4, 4)],
        IMAGE,
        2,
    ),
    "linear on channels": (
        lambda a, b, x: b(a(x).permute(0, 2, 3, 1)),
        [conv(), nn.Linear(4, 3)],
        IMAGE,
        1,
    ),
    "conv1d": (
        lambda a, b, x: b(F.relu(F.max_pool1d(a(x), 2))),
        [nn.Conv1d(4, 4, 3), nn.Conv1d(4, 2, 2)],
        LINE,
        2,
    ),
    "squeeze and back": (
        lambda a, b, x: b(torch.tanh(a(x).mean(2, keepdim=True).squeeze(2)).unsqueeze(2)),
        [conv(), conv()],
        IMAGE,
        2,
    ),
    "pixel shuffle": (
        lambda a, b, x: b(F.pixel_shuffle(a(x), 2)),
        [conv(), nn.Conv2d(1, 2, 3)],
        IMAGE,
        3,
    ),
    "pixel unshuffle": (
        lambda a, x: a(F.pixel_unshuffle(x, 2)),
        [nn.Conv2d(12, 2, 1)],
        (1, 3, 4, 6),
        2,
    ),
    "channel shuffle": (
        lambda a, b, x: b(F.channel_shuffle(a(x), 2)),
        [conv(), nn.Conv2d(4, 2, 1)],
        IMAGE,
        3,
    ),
    "heads and back": (
        lambda a, b, x: b(a(x).transpose(1, 2).unflatten(2, (2, 2)).tanh().flatten(2).mT),
        [nn.Conv1d(4, 4, 3), nn.Conv1d(4, 2, 2)],
        LINE,
        2,
    ),
    "pixels in a row": (
        lambda a, x: (F.softmax((y := a(x).flatten(2))[:, :1], 2) * y).sum(2),
        [conv()],
        IMAGE,
        1,
    ),
    "rows of pixels": (
        lambda a, b, x: b(a(x).flatten(2, 3).tanh()),
        [nn.Conv3d(4, 4, (1, 3, 3)), nn.Conv2d(4, 2, 1)],
        (1, 4, 3, 6, 5),
        2,
    ),
    "pixels of one by one": (
        lambda a, b, x: b(F.softmax(a(x).transpose(2, 3), 1)).mean(1),
        [conv(), nn.Conv2d(4, 3, 1)],
        IMAGE,
        2,
    ),
    "pixels of one by one that grow": (
        lambda a, b, x: b(F.softmax(a(x).transpose(2, 3), 1)).mean(1),
        [conv(), nn.Conv2d(4, 5, 1)],
        IMAGE,
        2,
    ),
    "pixels exchanged and back": (
        lambda a, b, x: b(a(x).transpose(2, 3)).transpose(2, 3),
        [conv(), nn.Conv2d(4, 4, 1, groups=2)],
        IMAGE,
        2,
    ),
    "pixels of windows": (
        lambda a, b, x: b(a(x).transpose(2, 3)).transpose(2, 3),
        [conv(), conv()],
        IMAGE,
        4,
    ),
    "boxes by distributions": (
        lambda a, b, x: b(F.softmax(a(x).flatten(2).view(1, 3, 4, 30).transpose(1, 2), 1)).view(
            1, 3, 30
        ),
        [conv(o=12), nn.Conv2d(4, 1, 1, bias=False)],
        IMAGE,
        2,
    ),
    "heads of pixels": (
        lambda a, b, x: b(a(x).reshape(1, 2, 2, 30).tanh().reshape(1, 4, 6, 5)),
        [conv(), conv()],
        IMAGE,
        2,
    ),
    "heads of pixels, exchanged": (
        lambda a, x: F.softmax(a(x).reshape(1, 2, 2, 30).transpose(2, 3).tanh(), 2),
        [conv()],
        IMAGE,
        2,
    ),
    "mixing reshape": (
        lambda a, x: a(x).reshape(1, 8, 15),
        [conv()],
        IMAGE,
        2,
    ),
    "steps first": (
        lambda r, x: r(x.transpose(0, 1))[0].transpose(0, 1).tanh(),
        [nn.LSTM(4, 3, 2, bidirectional=True)],
        (2, 5, 4),
        0,
    ),
    "steps first, and the state behind the last": (
        lambda r, x: ((y := r(x.transpose(0, 1)))[0].transpose(0, 1), y[1]),
        [nn.GRU(4, 3)],
        (2, 5, 4),
        0,
    ),
    "sequences first": (
        lambda r, x: r(x.transpose(0, 1))[0].transpose(0, 1),
        [nn.RNN(4, 3, batch_first=True)],
        (5, 2, 4),
        0,
    ),
    "other dimensions than steps and sequences": (
        lambda r, x: r(x.transpose(1, 2))[0].transpose(1, 2),
        [nn.GRU(4, 3, batch_first=True)],
        (2, 4, 5),
        2,
    ),
    "no transposes": (lambda a, x: a(x), [nn.Linear(5, 5)], IMAGE, 0),
}
STAY = ("mixing reshape", "other dimensions than steps and sequences", "no transposes")


@pytest.mark.parametrize("name", CASES)
def test_transposes_left(name: str) -> None:
    function, children, shape, left = CASES[name]
    graph = folded(function, *children, shapes=[shape])
    check_pass(graph, sink_transposes, changes=name not in STAY)
    moving = [
        n
        for n in graph.graph.nodes
        if str(n.target) == "pl.transpose.default"
        and not moves_nothing(n.args[0].meta["val"].shape, n.args[1])
    ]
    assert len(moving) <= left, op_counts(graph)


@settings(max_examples=200, deadline=None)
@given(st.permutations(range(5)))
def test_inverse(perm: list[int]) -> None:
    x = torch.arange(720).reshape(2, 3, 4, 5, 6)
    assert torch.equal(x.permute(perm).permute(inverse(perm)), x)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([1, 1, 2, 3]), min_size=1, max_size=5), st.data())
def test_moves_nothing_is_exact(shape: list[int], data: st.DataObject) -> None:
    perm = data.draw(st.permutations(range(len(shape))))
    x = torch.arange(torch.Size(shape).numel()).reshape(shape)
    same = torch.equal(x.permute(perm).contiguous().flatten(), x.flatten())
    assert moves_nothing(shape, perm) == same


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([1, 2, 3]), max_size=5),
    st.lists(st.integers(0, 5), max_size=3),
    st.lists(st.integers(0, 5), max_size=3),
)
def test_unit_dimensions_are_matched(sizes: list[int], a: list[int], b: list[int]) -> None:
    def with_ones(places: list[int]) -> list[int]:
        shape = [s for s in sizes if s != 1]
        for p in places:
            shape.insert(min(p, len(shape)), 1)
        return shape

    before, after = with_ones(a), with_ones(b)
    matched = match_unit_dims(before, after)
    assert matched is not None
    kept = [m for m in matched if m is not None]
    assert kept == sorted(set(kept))
    for size, m in zip(after, matched, strict=True):
        assert size == (1 if m is None else before[m])
    assert all(before[d] == 1 for d in range(len(before)) if d not in kept)
