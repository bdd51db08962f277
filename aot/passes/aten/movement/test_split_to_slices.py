# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aot.passes.aten.movement.split_to_slices import split_to_slices
from aot.testing.fixtures import check_aten_pass, op_counts

X = torch.arange(70, dtype=torch.float32).reshape(2, 7, 5)

# Numbers of splits, and of slices of their used results.
CASES: dict[str, tuple[Callable[..., object], int, int]] = {
    "sizes": (lambda x: torch.split(x, [1, 4, 2], 1), 1, 3),
    "one size, the last part smaller": (lambda x: torch.split(x, 3, 1), 1, 3),
    "chunks, from the end": (lambda x: torch.chunk(x, 2, -1), 1, 2),
    "one part read": (lambda x: torch.split(x, [1, 4, 2], 1)[1].neg(), 1, 1),
    "a part read twice": (lambda x: (p := x.split(4, 1)[0]) + p, 1, 1),
    "a split of a split": (lambda x: x.split([3, 4], 1)[1].split([1, 3], 1)[1].neg(), 2, 2),
    "none": (lambda x: x[:, 1:3].neg(), 0, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_split_to_slices(name: str) -> None:
    function, splits, slices = CASES[name]
    changes, graph = check_aten_pass(split_to_slices, function, inputs=[X])
    assert changes == splits
    counts = op_counts(graph)
    assert counts.get("aten.slice", 0) == slices
    assert "aten.split_with_sizes" not in counts
