# SPDX-License-Identifier: Apache-2.0
"""Whole joined values are not sliced again; the bits stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aot.passes.rewrite.slices_before_cats import slices_before_cats
from aot.testing.fixtures import check_pass, folded, op_counts

Function = Callable[[torch.Tensor], object]


def _levels(x: torch.Tensor) -> torch.Tensor:
    """[2, 10, 16] of two levels; of each there are 7 and 3 channels."""
    first = torch.cat((x[:, :7].tanh(), x[:, :3].sin()), 1)
    second = torch.cat((x[:, 1:8].cos(), x[:, 5:8].sin()), 1)
    return torch.cat([level.flatten(2) for level in (first, second)], 2)


# name: function of [2, 8, 2, 4], removed slices, concatenations before and after
JOINED: dict[str, tuple[Function, int, int, int]] = {
    "levels": (lambda x: _levels(x).split((7, 3), 1), 2, 3, 2),
    "levels, last": (lambda x: _levels(x).mT.split((7, 3), 2), 2, 3, 2),
    "parts in other dimensions": (
        lambda x: _levels(x).unflatten(2, (4, 4)).permute(0, 2, 1, 3).split((7, 3), 2),
        *(2, 3, 2),
    ),
    "some of three": (
        lambda x: ((y := torch.cat((x.tanh(), x.sin(), x.cos()), 1))[:, :16], y[:, 16:]),
        *(2, 1, 1),
    ),
}
KEPT: dict[str, Function] = {
    "read whole, too": lambda x: (*(y := _levels(x)).split((7, 3), 1), y.exp()),
    "cut elsewhere": lambda x: _levels(x).split((6, 4), 1),
    "one is cut elsewhere": lambda x: ((y := _levels(x))[:, :7], y[:, 6:]),
    "every other": lambda x: _levels(x)[:, ::2],
    "joined by a reshape": lambda x: _levels(x).flatten(1).split((112, 48), 1),
    "nothing is joined": lambda x: x.tanh().split((3, 5), 1),
    "nothing is copied": lambda x: torch.cat((x[:1].tanh(), x[:1].sin()), 0).split(1, 0),
}


@pytest.mark.parametrize("name", JOINED)
def test_slices_before_cats(name: str) -> None:
    function, slices, cats, after = JOINED[name]
    graph = folded(function, shapes=[(2, 8, 2, 4)])
    counts = [op_counts(graph)]
    check_pass(graph, slices_before_cats)
    counts.append(op_counts(graph))
    assert [count.get("pl.cat", 0) for count in counts] == [cats, after]
    assert counts[0]["pl.slice"] - counts[1].get("pl.slice", 0) == slices


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept(name: str) -> None:
    graph = folded(KEPT[name], shapes=[(2, 8, 2, 4)])
    check_pass(graph, slices_before_cats, changes=False)
