# SPDX-License-Identifier: Apache-2.0
"""Ops that are written out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aot.passes.aten.write_out import write_out
from aot.testing.fixtures import check_aten_pass, op_counts

X = torch.tensor([[0.5, -2.0, 3.0, 0.1, 7.0, -1.5], [1.0, 4.0, -3.0, 2.5, 0.25, -0.75]])
Y = torch.tensor([[0.75], [-1.25]])

# function of X and Y, the op that it is written out with; "" where it is left
FUNCTIONS: dict[str, tuple[Callable[..., object], str]] = {
    "median": (lambda x, y: x.median(), "aten.topk"),
    "median of rows": (lambda x, y: x.median(1), "aten.topk"),
    "median of columns": (lambda x, y: x.median(0, keepdim=True).values, "aten.topk"),
    "median of an odd number": (lambda x, y: x[:, 1:].median(-1), "aten.topk"),
    "median of one": (lambda x, y: y.median(1), "aten.topk"),
    "median of a number": (lambda x, y: x[0, 0].median(), ""),
    "k-th value": (lambda x, y: x.kthvalue(2, 1), "aten.topk"),
    "its index": (lambda x, y: x.kthvalue(5, 1, keepdim=True).indices, "aten.topk"),
    "quotient rounded down": (lambda x, y: torch.floor_divide(x, y), "aten.floor"),
    "quotient cut off": (lambda x, y: torch.div(x, y, rounding_mode="trunc"), "aten.trunc"),
    "quotient by a number": (lambda x, y: torch.floor_divide(x, 0.5), ""),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_is_written_out(name: str) -> None:
    function, op = FUNCTIONS[name]
    changes, graph = check_aten_pass(write_out, function, inputs=(X, Y))
    assert changes == bool(op)
    assert not op or op_counts(graph)[op] == 1
