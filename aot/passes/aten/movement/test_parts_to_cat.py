# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aot.passes.aten.movement.parts_to_cat import parts_to_cat
from aot.testing.fixtures import check_aten_pass, op_counts

X = torch.arange(72, dtype=torch.float32).reshape(1, 3, 4, 6)
Function = Callable[..., object]


def _assign_rows(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[:, :, 1:3] = x[:, :, :2] * 2.0
    return y


def _assign_column(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[..., -1] = x[..., 0] + 1.0
    return y


def _assign_all(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[:] = x.mean(1, keepdim=True)
    return y


def _assign_every_second(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[..., ::2] = x[..., 1::2]
    return y


# Assignments, and how many cats become of them.
PARTS: dict[str, tuple[Function, int]] = {
    "rows": (_assign_rows, 1),
    "the last column": (_assign_column, 1),
    "all": (_assign_all, 0),
}
NO_PARTS: dict[str, Function] = {
    "a step": _assign_every_second,
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_become_cats(name: str) -> None:
    function, cats = PARTS[name]
    changes, graph = check_aten_pass(parts_to_cat, function, inputs=[X])
    assert changes > 0
    counts = op_counts(graph)
    assert counts.get("aten.cat", 0) == cats
    assert not {"aten.slice_scatter", "aten.select_scatter", "aten.copy"} & set(counts)


@pytest.mark.parametrize("name", NO_PARTS)
def test_other_parts_are_left_alone(name: str) -> None:
    _, graph = check_aten_pass(parts_to_cat, NO_PARTS[name], inputs=[X])
    assert {"aten.slice_scatter"} & set(op_counts(graph))
