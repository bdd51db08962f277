# SPDX-License-Identifier: Apache-2.0
"""Slices next to gathers become part of them; the bits stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aot.artefact.artefact import rewrite
from aot.passes.rewrite.slices_to_gathers import slices_to_gathers
from aot.testing.fixtures import check_pass, folded, int8_inputs, op_counts

IMAGE = (1, 3, 6, 5)

# name: function, remaining gathers and slices
CASES: dict[str, tuple[Callable[..., object], dict[str, int]]] = {
    "every second row": (lambda x: x[:, :, ::2].flip(3), {"pl.gather": 1}),
    "every second row of it": (lambda x: x.flip(3)[:, :, 1::2], {"pl.gather": 1}),
    "rows of what is flipped twice": (
        lambda x: x.flip(2)[:, :, 1:4].flip(2, 3),
        {"pl.gather": 1},
    ),
    "columns of flipped rows": (
        lambda x: x.flip(2)[..., 1:4],
        {"pl.gather": 1, "pl.slice": 1},
    ),
    "a piece": (lambda x: x[:, 1:].flip(2), {"pl.gather": 1, "pl.slice": 1}),
    "rows that others read": (
        lambda x: (y := x[:, :, ::2]).flip(3) + y,
        {"pl.gather": 1, "pl.slice": 1},
    ),
    "a gather that others read": (
        lambda x: (y := x.flip(3))[:, :, :3] * y[:, :, 3:],
        {"pl.gather": 1, "pl.slice": 2},
    ),
    "no gather": (lambda x: x[:, :, ::2].tanh(), {"pl.slice": 1}),
}


@pytest.mark.parametrize("name", CASES)
def test_slices_to_gathers(name: str) -> None:
    function, left = CASES[name]
    check_pass(folded(function, shapes=[IMAGE]), slices_to_gathers, "pl.slice" not in left)
    graph = folded(function, shapes=[IMAGE])
    inputs = int8_inputs(graph)
    before = graph(*inputs)
    rewrite(graph)
    assert torch.equal(graph(*inputs)[0], before[0])
    counts = op_counts(graph)
    assert {op: n for op, n in counts.items() if op in ("pl.gather", "pl.slice")} == left
