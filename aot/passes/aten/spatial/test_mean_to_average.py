# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aot.passes.aten.spatial.mean_to_average import mean_to_average
from aot.testing.fixtures import check_aten_pass, op_counts

IMAGE = (2, 3, 5, 4)
MEAN, POOL = "aten.mean", "aten.avg_pool2d"

# Function of an image, its shape, and remaining ops.
CASES: dict[str, tuple[Callable[[torch.Tensor], object], tuple[int, ...], dict[str, int]]] = {
    "kept dimensions": (lambda x: x.mean((2, 3), keepdim=True), IMAGE, {POOL: 1}),
    "others": (lambda x: x.mean((-1, -2)), IMAGE, {POOL: 1, "aten.view": 1}),
    "rows alone": (lambda x: x.mean(2), IMAGE, {MEAN: 1}),
    "channels too": (lambda x: x.mean((1, 2, 3)), IMAGE, {MEAN: 1}),
    "all": (lambda x: x.mean(dim=None), IMAGE, {MEAN: 1}),
    "no image": (lambda x: x.mean((1, 2)), (3, 5, 4), {MEAN: 1}),
    "one pixel": (lambda x: x.mean((2, 3)), (2, 3, 1, 1), {MEAN: 1}),
    "a large image": (lambda x: x.mean((2, 3)), (1, 1, 257, 2), {MEAN: 1}),
}


@pytest.mark.parametrize("name", CASES)
def test_values_stay(name: str) -> None:
    function, shape, left = CASES[name]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(2))
    changed, graph = check_aten_pass(
        lambda module: mean_to_average(module, lambda *_: True), function, inputs=[x], atol=1e-6
    )
    assert op_counts(graph) == left
    assert changed == left.get(POOL, 0)


def test_those_that_are_not_wanted_stay() -> None:
    changed, graph = check_aten_pass(
        lambda module: mean_to_average(module, lambda source, _: len(source.users) > 1),
        lambda x: (x * 2).mean((2, 3), keepdim=True) + (y := x * 3).mean((2, 3), keepdim=True) * y,
        inputs=[torch.randn(IMAGE, generator=torch.Generator().manual_seed(2))],
        atol=1e-6,
    )
    assert changed == 1
    assert op_counts(graph)[MEAN] == op_counts(graph)[POOL] == 1
