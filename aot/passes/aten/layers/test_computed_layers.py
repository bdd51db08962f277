# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from aot.passes.aten.decompositions.rare_ops import decompose_rare_ops
from aot.testing.fixtures import check_aten_pass, op_counts

X = torch.randn((2, 4, 7, 6), generator=torch.Generator().manual_seed(0))
BIAS = torch.randn((6,), generator=torch.Generator().manual_seed(1))
KNOWN = torch.randn((6, 4, 3, 3), generator=torch.Generator().manual_seed(2))
TRANSPOSED = KNOWN[:4, :2].contiguous()
ROWS = KNOWN[:, 0].flatten(1)[:, :6].contiguous()


def _weight(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(3))


# name: function of X, other values, number of layers afterwards
LAYERS: dict[str, tuple[Callable[..., torch.Tensor], tuple[torch.Tensor, ...], int]] = {
    "weight": (F.conv2d, (_weight(6, 4, 3, 3),), 0),
    "weight and bias": (F.conv2d, (_weight(6, 4, 3, 3), BIAS), 0),
    "strides, padding, dilation": (
        lambda x, w: F.conv2d(x, w, None, (2, 1), (2, 1), (1, 2)),
        (_weight(6, 4, 3, 2),),
        0,
    ),
    "groups": (lambda x, w: F.conv2d(x, w, groups=2), (_weight(6, 2, 3, 3),), 0),
    "each channel": (lambda x, w: F.conv2d(x, w, groups=4), (_weight(8, 1, 5, 5),), 0),
    "one pixel": (F.conv2d, (_weight(6, 4, 1, 1),), 0),
    "one dimension": (
        lambda x, w: F.conv1d(x[:, :, 0], w, stride=2, padding=3),
        (_weight(6, 4, 3),),
        0,
    ),
    "three dimensions": (
        lambda x, w: F.conv3d(x[:, None], w, padding=1, stride=(1, 3, 2)),
        (_weight(2, 1, 2, 3, 3),),
        0,
    ),
    "bias": (lambda x, b: F.conv2d(x, KNOWN, b, padding=1), (BIAS,), 1),
    "bias of a transposed one": (
        lambda x, b: F.conv_transpose2d(x, TRANSPOSED, b, groups=2, stride=2),
        (BIAS[:4],),
        1,
    ),
    "weight of a transposed one": (
        lambda x, w: F.conv_transpose2d(x, w, stride=2),
        (_weight(4, 6, 3, 3),),
        0,
    ),
    "transposed, with all that there is": (
        lambda x, w, b: F.conv_transpose2d(x, w, b, (3, 2), (1, 2), (1, 0), 2, (2, 1)),
        (_weight(4, 3, 3, 2), BIAS),
        0,
    ),
    "transposed, of one dimension": (
        lambda x, w: F.conv_transpose1d(x[:, :, 0], w, groups=4),
        (_weight(4, 2, 3),),
        0,
    ),
    "bias of a linear layer": (lambda x, b: F.linear(x, ROWS, b), (BIAS,), 1),
    "slope of one value": (lambda x, w: F.prelu(x[0, 0, 0, 0], w), (BIAS[:1],), 0),
    "nothing": (lambda x: F.conv2d(x, KNOWN, BIAS), (), 1),
}


@pytest.mark.parametrize("name", LAYERS)
def test_what_is_computed_is_no_part_of_a_layer(name: str) -> None:
    function, others, left = LAYERS[name]
    # Sums in another order.
    changes, graph = check_aten_pass(decompose_rare_ops, function, inputs=[X, *others], atol=1e-4)
    assert changes == (name != "nothing")
    counts = op_counts(graph)
    assert counts.get("aten.convolution", 0) + counts.get("aten.linear", 0) == left
    for node in graph.graph.nodes:
        if node.target in (torch.ops.aten.convolution.default, torch.ops.aten.linear.default):
            assert all(n.op != "placeholder" for n in node.all_input_nodes[1:])
