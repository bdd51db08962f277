# SPDX-License-Identifier: Apache-2.0
"""The small dialect passes: changed cases, cases left alone, and equal bits."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule

from aot.passes.rewrite.compose_luts import compose_luts
from aot.passes.rewrite.fold_transpose_into_bmm import fold_transpose_into_bmm
from aot.passes.rewrite.fold_transpose_into_linear import fold_transpose_into_linear
from aot.passes.rewrite.fuse_pad import fuse_pad
from aot.passes.rewrite.merge_gathers import merge_gathers
from aot.passes.rewrite.simplify_movement import simplify_movement
from aot.passes.rewrite.sink_transposes import sink_transposes
from aot.testing.fixtures import check_pass, folded, op_counts

IMAGE = (1, 3, 6, 5)
ROW = torch.linspace(-1.0, 1.0, 48)
Case = tuple[Callable[..., object], list[nn.Module], bool]


def conv(o: int = 4) -> nn.Module:
    return nn.Conv2d(3, o, 3)


def run(rewrite: Callable[[GraphModule], int], case: Case, sink: bool = True) -> GraphModule:
    function, children, changes = case
    graph = folded(function, *children, shapes=[IMAGE])
    if sink:
        sink_transposes(graph)
    check_pass(graph, rewrite, changes)
    return graph


# Number of remaining transposes; the first is the input's.
FLATTEN_LINEAR: dict[str, tuple[Case, int]] = {
    "flatten": ((lambda a, b, x: b(a(x).flatten(1)), [conv(), nn.Linear(48, 5)], True), 1),
    "activation between": (
        (lambda a, b, x: b(torch.tanh(a(x).flatten(1))), [conv(), nn.Linear(48, 5)], True),
        1,
    ),
    "a residual": (
        (
            lambda a, b, c, x: c((y := a(x).flatten(1)) + F.relu(b(y))),
            [conv(), nn.Linear(48, 48), nn.Linear(48, 5)],
            True,
        ),
        1,
    ),
    "a residual and a gate": (
        (
            lambda a, b, c, d, x: d((y := (z := a(x).flatten(1)) + b(z)) * torch.sigmoid(c(y))),
            [conv(), nn.Linear(48, 48), nn.Linear(48, 48), nn.Linear(48, 5)],
            True,
        ),
        1,
    ),
    "a residual that is read, too": (
        (
            lambda a, b, c, x: (c((y := a(x).flatten(1)) + (z := b(y))), z),
            [conv(), nn.Linear(48, 48), nn.Linear(48, 5)],
            False,
        ),
        2,
    ),
    "a residual that is no layer's": (
        (
            lambda a, b, c, x: c((y := a(x).flatten(1)) + F.softmax(b(y), 1)),
            [conv(), nn.Linear(48, 48), nn.Linear(48, 5)],
            False,
        ),
        2,
    ),
    "another reshape": (
        (lambda a, b, x: b(a(x).reshape(2, 24)), [conv(), nn.Linear(24, 5)], False),
        2,
    ),
    "rows of a channel": (
        (lambda a, b, x: b(a(x).reshape(4, 12)), [conv(), nn.Linear(12, 5)], False),
        2,
    ),
    "a norm between": (
        (
            lambda a, n, b, x: b(F.relu(n(a(x).flatten(1)))),
            [conv(), nn.BatchNorm1d(48), nn.Linear(48, 5)],
            True,
        ),
        1,
    ),
    "a norm of rows": (
        (
            lambda a, n, b, x: b(n(a(x).flatten(1))),
            [conv(), nn.LayerNorm(48), nn.Linear(48, 5)],
            True,
        ),
        1,
    ),
    "constants between": (
        (
            lambda a, b, x: b(F.prelu(a(x).flatten(1), ROW) * ROW + 0.5),
            [conv(), nn.Linear(48, 5)],
            True,
        ),
        1,
    ),
    "two heads": (
        (
            lambda a, b, c, x: (b(y := a(x).flatten(1)), c(y)),
            [conv(), nn.Linear(48, 5), nn.Linear(48, 2)],
            True,
        ),
        1,
    ),
    "joined to features": (
        (
            lambda a, b, x: b(torch.cat([x[:, 0, 0], a(x).flatten(1)], 1)),
            [conv(), nn.Linear(53, 5)],
            True,
        ),
        1,
    ),
    "two that are joined": (
        (
            lambda a, c, b, x: b(torch.cat([a(x).flatten(1), c(x).flatten(1)], 1)),
            [conv(), conv(2), nn.Linear(72, 5)],
            True,
        ),
        2,
    ),
    "a recurrent layer": (
        (
            lambda a, b, x: b(torch.tanh(a(x).flatten(1)).unsqueeze(1))[0],
            [conv(), nn.GRU(48, 5)],
            True,
        ),
        1,
    ),
    "the means of rows": (
        (
            lambda a, b, x: b(torch.cat([y := a(x).flatten(1)[:, None], y * ROW], 1).mean(1)),
            [conv(), nn.Linear(48, 5)],
            True,
        ),
        1,
    ),
    "shuffled channels": (
        (
            lambda a, d, b, x: b(F.relu(d(F.channel_shuffle(a(x), 2)))),
            [conv(), nn.Conv2d(4, 4, 3, groups=4), nn.Conv2d(4, 2, 1)],
            True,
        ),
        2,
    ),
    "shuffled channels of groups": (
        (
            lambda a, b, x: b(F.channel_shuffle(a(x), 2)),
            [conv(), nn.Conv2d(4, 2, 1, groups=2)],
            False,
        ),
        3,
    ),
    "another reader": (
        (
            lambda a, b, x: (b(y := a(x).flatten(1)), y),
            [conv(), nn.Linear(48, 5)],
            False,
        ),
        2,
    ),
    "a sum with what has the order": (
        (
            lambda a, b, x: b(a(x).flatten(1) + x.flatten(1)[:, :48]),
            [conv(), nn.Linear(48, 5)],
            False,
        ),
        2,
    ),
    "norms of parts of rows": (
        (
            lambda a, n, b, x: b(n(a(x).flatten(1))),
            [conv(), nn.GroupNorm(2, 48), nn.Linear(48, 5)],
            False,
        ),
        2,
    ),
    "no transpose": ((lambda b, x: b(x.flatten(1)), [nn.Linear(90, 5)], False), 0),
}


@pytest.mark.parametrize("name", FLATTEN_LINEAR)
def test_fold_transpose_into_linear(name: str) -> None:
    case, left = FLATTEN_LINEAR[name]
    assert op_counts(run(fold_transpose_into_linear, case)).get("pl.transpose", 0) == left


# Number of remaining transposes.
PRODUCTS: dict[str, tuple[Case, int]] = {
    "columns": ((lambda x: x @ x.mT, [], True), 0),
    "columns of each head": ((lambda x: x[:, :1] @ x.permute(0, 2, 3, 1), [], True), 0),
    "heads on both sides": (
        (lambda x: x.permute(0, 2, 1, 3) @ x.permute(0, 2, 3, 1), [], True),
        0,
    ),
    "columns, merged": ((lambda x: x[0] @ x.mT.reshape(3, 5, 6), [], True), 0),
    "columns twice": ((lambda x: x @ x.mT.mT.mT, [], True), 0),
    "the left side": ((lambda x: x.mT @ x, [], False), 1),
    "of the product": ((lambda x: (x.tanh() @ x.mT).mT, [], True), 0),
    "of the product, as another reads it": (
        (
            lambda a, b, x: (a(x), b((x.flatten(2)[..., :3] @ x.flatten(2)).reshape(IMAGE))),
            [conv(), conv()],
            True,
        ),
        3,
    ),
    "of the product, with another dimension": (
        (lambda x: (x.tanh() @ x[..., :4, :].mT).permute(0, 3, 1, 2).tanh(), [], True),
        1,
    ),
    "of the product, joined": (
        (lambda x: (x.tanh() @ x[..., :4, :].mT).flatten(1, 2).mT.tanh(), [], True),
        1,
    ),
    "of the product, whose rows stay": (
        (lambda x: (x.tanh() @ x[..., :4, :].mT).permute(0, 2, 1, 3).tanh(), [], True),
        1,
    ),
    "of the product, the left side": ((lambda x: (x.mT @ x).mT, [], True), 1),
    "of the product alone": ((lambda x: (x.reshape(1, 3, 5, 6) @ x).mT, [], False), 1),
    "of a product that is read": ((lambda x: (y := x.tanh() @ x.mT).mT + y, [], True), 1),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_fold_transpose_into_bmm(name: str) -> None:
    case, left = PRODUCTS[name]
    assert op_counts(run(fold_transpose_into_bmm, case)).get("pl.transpose", 0) == left


PADS: dict[str, Case] = {
    "zeros at the input": (lambda a, x: a(F.pad(x, (1, 2, 0, 1))), [conv()], True),
    "zeros inside": (lambda a, x: a(F.pad(x.tanh(), (1, 2, 0, 1))), [conv()], True),
    "depthwise": (
        lambda a, x: a(F.pad(x, (1, 2, 0, 1))),
        [nn.Conv2d(3, 6, 3, groups=3)],
        True,
    ),
    "another value": (lambda a, x: a(F.pad(x, (1, 2, 0, 1), value=0.5)), [conv()], False),
    "channels": (lambda a, x: a(F.pad(x[:, :2], (0, 0, 0, 0, 0, 1))), [conv()], False),
    "two users": (lambda a, x: a(y := F.pad(x, (1, 1, 1, 1))).mean() + y, [conv()], True),
    "two convolutions of a signal": (
        lambda a, b, x: (a(y := F.pad(x.tanh().flatten(2), (2, 1))), b(y)),
        [nn.Conv1d(3, 2, 3), nn.Conv1d(3, 3, 3, groups=3)],
        True,
    ),
    "two convolutions of a signal, channels": (
        lambda a, b, x: (a(y := F.pad(x.tanh().flatten(2), (0, 0, 1, 0))), b(y)),
        [nn.Conv1d(4, 2, 3), nn.Conv1d(4, 3, 3)],
        False,
    ),
    "split behind": (lambda a, x: a(F.pad(x, (1, 0)).reshape(1, 3, 12, 3)), [conv()], False),
}


@pytest.mark.parametrize("name", PADS)
def test_fuse_pad(name: str) -> None:
    graph = run(fuse_pad, PADS[name])
    taken = PADS[name][2] and name != "two users"
    assert op_counts(graph).get("pl.pad", 0) == (0 if taken else 1)


LUTS: dict[str, tuple[Callable[..., object], bool, int]] = {
    # tanh(...)[:, :2] and cat pull tanh's fixed range into another: each gets a requantization
    # table after it.
    "requantized": (lambda x: torch.cat([x.tanh(), x], 1).sigmoid(), True, 2),
    "one": (lambda x: x.tanh(), False, 1),
}


@pytest.mark.parametrize("name", LUTS)
def test_compose_luts(name: str) -> None:
    function, changes, left = LUTS[name]
    graph = run(compose_luts, (function, [], changes))
    assert op_counts(graph)["pl.lut"] == left


def test_compose_luts_leaves_a_value_that_others_read() -> None:
    def function(x: torch.Tensor) -> object:
        y = x.tanh()
        return torch.cat([y, x], 1), y

    graph = run(compose_luts, (function, [], False))
    assert op_counts(graph)["pl.lut"] == 2


GATHERS: dict[str, tuple[Callable[..., object], bool, int]] = {
    "reflection": (lambda x: F.pad(x, (1, 2, 3, 0), mode="reflect"), True, 1),
    "one dimension twice": (lambda x: x[:, [2, 0, 1]].flip((1, 2)), True, 1),
    "the same": (lambda x: x.flip(2)[:, :, [1, 1, 0]].flip(3), True, 1),
    "one": (lambda x: x.flip(2).tanh().flip(2), False, 2),
    "two readers": (lambda x: (y := x.flip(2)).flip(3) + y, False, 2),
}


@pytest.mark.parametrize("name", GATHERS)
def test_merge_gathers(name: str) -> None:
    function, changes, left = GATHERS[name]
    graph = run(merge_gathers, (function, [], changes))
    assert op_counts(graph)["pl.gather"] == left


MOVES: dict[str, tuple[Callable[..., object], dict[str, int]]] = {
    "reshape chain": (lambda x: x.reshape(9, 10).reshape(3, 30).tanh(), {"pl.reshape": 1}),
    "there and back": (lambda x: x.reshape(9, 10).reshape(IMAGE).tanh(), {}),
    "unit transpose": (lambda x: x[:, :1].permute(0, 2, 3, 1).tanh(), {"pl.reshape": 1}),
    "twice the same": (
        lambda x: x.permute(0, 2, 3, 1).tanh() + x.permute(0, 2, 3, 1),
        {"pl.transpose": 1},
    ),
}


@pytest.mark.parametrize("name", MOVES)
def test_simplify_movement(name: str) -> None:
    function, expected = MOVES[name]
    graph = run(simplify_movement, (function, [], True), sink=False)
    counts = op_counts(graph)
    movement = {k: v for k, v in counts.items() if k in ("pl.transpose", "pl.reshape")}
    assert movement == expected


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 1, 1, 1), (1, 3, 1, 1), (1, 1, 4, 1)])
@pytest.mark.parametrize(
    "part", [nn.Conv2d(1, 1, 1), nn.MaxPool2d(1), nn.BatchNorm2d(1), nn.Upsample(scale_factor=1)]
)
def test_simplify_movement_keeps_what_is_known_of_a_layout(
    shape: tuple[int, ...], part: nn.Module
) -> None:
    """If C, or H and W, are 1, a transpose to NHWC moves nothing: its source is NHWC then."""
    if shape[1] != 1 and not isinstance(part, (nn.MaxPool2d, nn.Upsample)):
        part = nn.Conv2d(shape[1], shape[1], 1)
    graph = folded(lambda a, b, x: b(a(x)), part, nn.MaxPool2d(1), shapes=[shape])
    sink_transposes(graph)
    check_pass(graph, simplify_movement)
    assert "pl.transpose" not in op_counts(graph)
