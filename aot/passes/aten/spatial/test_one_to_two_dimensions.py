# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.passes.aten.spatial.one_to_two_dimensions import one_to_two_dimensions
from aot.testing.fixtures import check_aten_pass, op_counts

X = torch.arange(96, dtype=torch.float32).reshape(2, 4, 12) / 10

# Children, and how many convolutions become two-dimensional.
CASES: dict[str, tuple[Callable[..., object], list[nn.Module], int]] = {
    "a convolution": (lambda a, x: a(x), [nn.Conv1d(4, 3, 3)], 1),
    "stride, dilation, groups": (
        lambda a, x: a(x),
        [nn.Conv1d(4, 8, 3, stride=2, padding=2, dilation=2, groups=4, bias=False)],
        1,
    ),
    "a pad before it": (lambda a, x: a(F.pad(x, (3, 1))), [nn.Conv1d(4, 3, 3)], 1),
    "a pad of channels and samples": (
        lambda a, x: a(F.pad(x, (3, -1, 1, 2, 0, 1), value=2.0)),
        [nn.Conv1d(7, 3, 3)],
        1,
    ),
    "a pad that others read": (
        lambda a, x: (a(y := F.pad(x, (3, 1))), y + 1),
        [nn.Conv1d(4, 3, 3)],
        1,
    ),
    "two of them": (
        lambda a, b, x: b(F.relu(a(x))),
        [nn.Conv1d(4, 3, 3), nn.Conv1d(3, 2, 1)],
        2,
    ),
    "two dimensions": (lambda a, x: a(x[None]), [nn.Conv2d(2, 3, 3)], 0),
    "transposed": (lambda a, x: a(x), [nn.ConvTranspose1d(4, 3, 3, 2, 1, 1)], 1),
}


@pytest.mark.parametrize("name", CASES)
def test_one_to_two_dimensions(name: str) -> None:
    function, children, lifted = CASES[name]
    # The two forms may add in another order.
    changes, graph = check_aten_pass(
        one_to_two_dimensions, function, *children, inputs=[X], atol=1e-5
    )
    assert changes == lifted
    calls = [n for n in graph.graph.nodes if n.op == "call_function"]
    convolutions = [n for n in calls if "convolution" in str(n.target)]
    ranks = [n.meta["val"].dim() for n in convolutions]
    assert ranks.count(4) == len(ranks)
    if name == "a pad before it":
        assert convolutions[0].args[0].target is torch.ops.aten.constant_pad_nd.default
    assert op_counts(graph).get("aten.squeeze", 0) == lifted
