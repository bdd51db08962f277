# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F

from aot.passes.aten.spatial.pools_to_2d import pools_to_2d
from aot.testing.fixtures import check_aten_pass, op_counts

VOLUME, IMAGE = (2, 3, 4, 7, 6), (3, 7, 6)
Function = Callable[[torch.Tensor], torch.Tensor]

# name: function, shape of the input, pools in 2d (none: it is left)
POOLS: dict[str, tuple[Function, tuple[int, ...], int]] = {
    "max": (partial(F.max_pool3d, kernel_size=2), VOLUME, 2),
    "max, padded": (partial(F.max_pool3d, kernel_size=3, stride=2, padding=1), VOLUME, 2),
    "max, dilated": (
        partial(F.max_pool3d, kernel_size=2, stride=1, dilation=2, ceil_mode=True),
        VOLUME,
        2,
    ),
    "max of images": (partial(F.max_pool3d, kernel_size=(1, 2, 2)), VOLUME, 1),
    "max, without a batch": (partial(F.max_pool3d, kernel_size=(2, 3, 1)), VOLUME[1:], 2),
    "max with indices": (lambda x: F.max_pool3d(x, 2, return_indices=True)[1], VOLUME, 0),
    "average": (partial(F.avg_pool3d, kernel_size=2), VOLUME, 2),
    "average, padded": (
        partial(F.avg_pool3d, kernel_size=3, stride=2, padding=1, ceil_mode=True),
        VOLUME,
        2,
    ),
    "average without padding": (
        partial(F.avg_pool3d, kernel_size=3, stride=2, padding=1, count_include_pad=False),
        VOLUME,
        2,
    ),
    "average along the depth": (partial(F.avg_pool3d, kernel_size=(3, 1, 1), stride=1), VOLUME, 1),
    "average by a divisor": (partial(F.avg_pool3d, kernel_size=2, divisor_override=12), VOLUME, 2),
    "by no multiple": (partial(F.avg_pool3d, kernel_size=2, divisor_override=3), VOLUME, 2),
    "sums of images": (
        partial(F.avg_pool3d, kernel_size=(1, 2, 2), divisor_override=8),
        VOLUME,
        1,
    ),
    "adaptive average": (partial(F.adaptive_avg_pool3d, output_size=(3, 2, 4)), VOLUME, 2),
    "adaptive max": (partial(F.adaptive_max_pool3d, output_size=(3, 7, 4)), VOLUME, 2),
    "adaptive, along the depth": (partial(F.adaptive_max_pool3d, output_size=(1, 7, 6)), VOLUME, 1),
    "image without a batch": (partial(F.max_pool2d, kernel_size=3, padding=1), IMAGE, 1),
    "average of an image without a batch": (partial(F.avg_pool2d, kernel_size=2), IMAGE, 1),
    "adaptive, without a batch": (partial(F.adaptive_max_pool2d, output_size=3), IMAGE, 1),
    "an image": (partial(F.max_pool2d, kernel_size=3, padding=1), (2, *IMAGE), 0),
}


@pytest.mark.parametrize("name", POOLS)
def test_pools_to_2d(name: str) -> None:
    function, shape, count = POOLS[name]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    # Averages of averages are rounded in between.
    changes, graph = check_aten_pass(pools_to_2d, function, inputs=[x], atol=1e-6)
    assert changes == (count > 0)
    pools = {op: n for op, n in op_counts(graph).items() if "pool" in op}
    assert not changes or (sum(pools.values()) == count and all("2d" in op for op in pools))
