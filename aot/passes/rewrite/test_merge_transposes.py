# SPDX-License-Identifier: Apache-2.0
"""Transposes in a row become one; the bits stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aot.passes.rewrite.merge_transposes import merge_transposes
from aot.testing.fixtures import check_pass, folded, op_counts

Function = Callable[[torch.Tensor], object]

# name: function of [2, 4, 6], remaining transposes; there were more before
MERGED: dict[str, tuple[Function, int]] = {
    "rows of two": (
        lambda x: x.reshape(2, 2, 2, 6).transpose(1, 2).reshape(2, 4, 6).transpose(1, 2).tanh(),
        1,
    ),
    "three": (
        lambda x: (
            x.transpose(0, 1).reshape(4, 2, 2, 3).transpose(1, 3).flatten(1).transpose(0, 1).tanh()
        ),
        1,
    ),
}
KEPT: dict[str, Function] = {
    "one": lambda x: x.transpose(1, 2).tanh(),
    "read in between": lambda x: (
        (y := x.transpose(1, 2)).reshape(2, 4, 6).transpose(1, 2).tanh(),
        y.tanh(),
    ),
    # eight elements are no number of rows of three
    "no transpose gives it": lambda x: x.reshape(3, 16).t().reshape(6, 8).t().tanh(),
    "something in between": lambda x: x.transpose(1, 2).softmax(1).transpose(0, 1).tanh(),
}


@pytest.mark.parametrize("name", MERGED)
def test_merge_transposes(name: str) -> None:
    function, left = MERGED[name]
    graph = folded(function, shapes=[(2, 4, 6)])
    assert op_counts(graph)["pl.transpose"] > left
    check_pass(graph, merge_transposes)
    assert op_counts(graph)["pl.transpose"] == left


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept(name: str) -> None:
    check_pass(folded(KEPT[name], shapes=[(2, 4, 6)]), merge_transposes, False)
