# SPDX-License-Identifier: Apache-2.0
"""Arithmetic with masks, and division by constants."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aot.passes.aten.masks.name_masks import name_masks
from aot.testing.fixtures import check_aten_pass, op_counts

X = torch.linspace(-2.0, 2.0, 15).reshape(3, 5)
Y = X.flip(0)
LINE = torch.tensor([0.5, -2.0, 3.0, 0.1, 7.0])

# function of X and Y, changes, an op afterwards and its count
FUNCTIONS: dict[str, tuple[Callable[..., object], int, str, int]] = {
    "value by mask": (lambda x, y: x * (y > 0), 1, "aten.where", 1),
    "mask by value": (lambda x, y: (y > 0) * x, 1, "aten.where", 1),
    "mask as a number": (lambda x, y: (y > 0).float() * x, 1, "aten.where", 1),
    "mask by mask": (lambda x, y: (x > 0) * (y > 0), 1, "aten.logical_and", 1),
    "two masks as numbers": (lambda x, y: (x > 0).float() * (y > 0).float(), 1, "aten.where", 1),
    "mask in a sum": (lambda x, y: (y > 0) + x, 1, "aten._to_copy", 1),
    "mask that divides": (lambda x, y: x / (y < 9), 1, "aten._to_copy", 1),
    "integer by value": (lambda x, y: (y > 0).long() * x, 1, "aten.mul", 1),
    "integer in a sum": (lambda x, y: (y > 0).long() + x, 1, "aten.add", 1),
    "integers": (lambda x, y: (y > 0).long() * (x > 0).long() + 2, 0, "aten.mul", 1),
    "count in a quotient": (lambda x, y: x / (y > 0).sum(1, keepdim=True), 1, "aten._to_copy", 1),
    "count as an index": (lambda x, y: (y > 0).sum(1) + 1, 0, "aten._to_copy", 0),
    "mask by an integer": (lambda x, y: (y > 0) * (x > 0).long(), 0, "aten.mul", 1),
    "mask by a number": (lambda x, y: 2.0 * (y > 0), 0, "aten.where", 0),
    "by constants": (lambda x, y: x / LINE, 1, "aten.mul", 1),
    "by a constant number": (lambda x, y: x / torch.tensor(3.0), 0, "aten.div", 1),
    "by zeros": (lambda x, y: x / (LINE > 1).float(), 0, "aten.div", 1),
    "of constants": (lambda x, y: LINE / x, 0, "aten.div", 1),
    "values": (lambda x, y: x * y + x / y, 0, "aten.mul", 1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_names(name: str) -> None:
    function, changes, op, count = FUNCTIONS[name]
    found, graph = check_aten_pass(name_masks, function, inputs=(X, Y), atol=1e-6)
    assert found == changes
    assert op_counts(graph).get(op, 0) == count
