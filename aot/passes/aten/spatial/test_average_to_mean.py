# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from aot.passes.aten.spatial.average_to_mean import average_to_mean
from aot.testing.fixtures import check_aten_pass, op_counts

X = torch.linspace(-3.0, 5.0, 96).reshape(2, 4, 6, 2)

MEANS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, 1),
    "one axis of it": lambda x: F.adaptive_avg_pool2d(x, (1, None)),
    "the other": lambda x: F.adaptive_avg_pool2d(x, (6, 1)),
    "a window of the whole": lambda x: F.avg_pool2d(x, (6, 2)),
    "and rows of it": lambda x: F.avg_pool2d(x, (1, 2)),
    "with a stride": lambda x: F.avg_pool2d(x, (6, 2), 1, ceil_mode=True),
    "without a batch": lambda x: F.adaptive_avg_pool2d(x[0], 1),
    "one dimension": lambda x: F.avg_pool1d(x[0], 2),
}
POOLS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "windows": lambda x: F.avg_pool2d(x, 2),
    "whole and windows": lambda x: F.avg_pool2d(x, (3, 2)),
    "a rest": lambda x: F.avg_pool2d(x, (4, 2)),
    "padding": lambda x: F.avg_pool2d(x, (6, 2), padding=(0, 1)),
    "a divisor": lambda x: F.avg_pool2d(x, (6, 2), divisor_override=5),
    "steps": lambda x: F.avg_pool2d(x, (6, 1), stride=(1, 2)),
    "adaptive windows": lambda x: F.adaptive_avg_pool2d(x, (4, 1)),
}


@pytest.mark.parametrize("name", [*MEANS, *POOLS])
def test_average_to_mean(name: str) -> None:
    # The two forms add in another order.
    function = (MEANS | POOLS)[name]
    changes, graph = check_aten_pass(average_to_mean, function, inputs=[X], atol=1e-6)
    assert changes == (name in MEANS)
    assert op_counts(graph).get("aten.mean", 0) == changes
