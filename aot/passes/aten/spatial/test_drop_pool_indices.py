# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from aot.passes.aten.spatial.drop_pool_indices import drop_pool_indices
from aot.testing.fixtures import check_aten_pass, op_counts

X = torch.arange(96, dtype=torch.float32).reshape(1, 2, 6, 8)
PLAIN, BOTH = "aten.max_pool2d", "aten.max_pool2d_with_indices"


@pytest.mark.parametrize(
    ("function", "left"),
    [
        (lambda x: F.max_pool2d(x, 2, return_indices=True)[0], {PLAIN: 1}),
        (lambda x: F.max_pool2d(x, 2, return_indices=True)[1], {BOTH: 1}),
        (lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), {BOTH: 1}),
        (lambda x: F.max_pool1d(x[0], 2), {PLAIN: 1}),
        (lambda x: F.max_pool2d(x, 2), {PLAIN: 1}),
    ],
)
def test_drop_pool_indices(function: Callable[..., object], left: dict[str, int]) -> None:
    _, graph = check_aten_pass(drop_pool_indices, function, inputs=[X])
    pools = {op: count for op, count in op_counts(graph).items() if "pool" in op}
    assert pools == left
