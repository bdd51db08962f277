# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.accept.export import export_aten
from aot.errors import LoweringError
from aot.passes.aten.norms.fuse_batch_norm import fuse_batch_norm
from aot.testing.fixtures import check_aten_pass, op_counts

IMAGE, ROW = (2, 3, 5, 4), (2, 3)
Case = tuple[Callable[..., object], list[nn.Module], tuple[int, ...], dict[str, int]]

CONV, LINEAR = "aten.convolution", "aten.linear"

# Children, shape of the input, and remaining ops.
CASES: dict[str, Case] = {
    "a convolution": (
        lambda a, n, x: n(a(x)),
        [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)],
        IMAGE,
        {CONV: 1},
    ),
    "no bias, no affine": (
        lambda a, n, x: n(a(x)),
        [nn.Conv2d(3, 6, 3, groups=3, bias=False), nn.BatchNorm2d(6, affine=False)],
        IMAGE,
        {CONV: 1},
    ),
    "linear": (lambda a, n, x: n(a(x)), [nn.Linear(3, 4), nn.BatchNorm1d(4)], ROW, {LINEAR: 1}),
    "one dimension": (
        lambda a, n, x: n(a(x)),
        [nn.Conv1d(5, 4, 3), nn.BatchNorm1d(4)],
        (2, 5, 9),
        {CONV: 1},
    ),
    "two norms": (
        lambda a, m, n, x: n(m(a(x))),
        [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.BatchNorm2d(4)],
        IMAGE,
        {CONV: 1},
    ),
    # Becomes a depthwise convolution.
    "no layer": (lambda n, x: n(x), [nn.BatchNorm2d(3)], IMAGE, {CONV: 1}),
    "no layer, rank 2": (
        lambda n, x: n(x),
        [nn.BatchNorm1d(3)],
        ROW,
        {CONV: 1, "aten.squeeze": 1, "aten.unsqueeze": 1},
    ),
    "a layer that others read": (
        lambda a, n, x: n(y := a(x)) + y,
        [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)],
        IMAGE,
        {CONV: 2, "aten.add": 1},
    ),
    "before linear": (
        lambda n, a, x: a(n(x)),
        [nn.BatchNorm1d(3, affine=False), nn.Linear(3, 4, bias=False)],
        ROW,
        {LINEAR: 1},
    ),
    "before a convolution in groups": (
        lambda n, a, x: a(n(F.relu(x))),
        [nn.BatchNorm2d(6, affine=False), nn.Conv2d(6, 4, 2, groups=2)],
        (2, 6, 5, 4),
        {CONV: 1, "aten.relu": 1},
    ),
    "of unlike scales before linear": (
        lambda n, a, x: a(n(x)),
        [nn.BatchNorm1d(64), nn.Linear(64, 4)],
        (2, 64),
        {CONV: 1, LINEAR: 1, "aten.squeeze": 1, "aten.unsqueeze": 1},
    ),
    "before a padded convolution": (
        lambda n, a, x: a(n(x)),
        [nn.BatchNorm2d(3), nn.Conv2d(3, 4, 3, padding=(0, 1))],
        IMAGE,
        {CONV: 2},
    ),
    "before a layer and others": (
        lambda n, a, x: a(y := n(x)).mean() + y,
        [nn.BatchNorm2d(3), nn.Conv2d(3, 4, 3)],
        IMAGE,
        {CONV: 2, "aten.mean": 1, "aten.add": 1},
    ),
    "before a layer of rows": (
        lambda n, a, x: a(n(x)),
        [nn.BatchNorm1d(3), nn.Linear(5, 4)],
        (2, 3, 5),
        {CONV: 1, LINEAR: 1},
    ),
    "an activation between": (
        lambda a, n, x: n(F.relu(a(x))),
        [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)],
        IMAGE,
        {CONV: 2, "aten.relu": 1},
    ),
    "a transposed convolution": (
        lambda a, n, x: n(a(x)),
        [nn.ConvTranspose2d(3, 4, 3), nn.BatchNorm2d(4)],
        IMAGE,
        {CONV: 1},
    ),
    "a transposed convolution in groups": (
        lambda a, n, x: n(a(x)),
        [nn.ConvTranspose2d(3, 6, 3, groups=3, bias=False), nn.BatchNorm2d(6)],
        IMAGE,
        {CONV: 1},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_fuse_batch_norm(name: str) -> None:
    function, children, shape, left = CASES[name]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    # Scaled weights are rounded once more.
    changes, graph = check_aten_pass(fuse_batch_norm, function, *children, inputs=[x], atol=1e-5)
    assert changes == sum("Norm" in type(child).__name__ for child in children)
    assert op_counts(graph) == left


@pytest.mark.parametrize("folds", [True, False])
def test_a_variance_below_zero_is_an_error_that_says_where(folds: bool) -> None:
    norm = nn.BatchNorm1d(3)
    with torch.no_grad():
        assert norm.running_var is not None
        norm.running_var[1] = -0.5
    net = nn.Sequential(nn.Linear(3, 3), norm) if folds else nn.Sequential(nn.Tanh(), norm)
    message = r"batch_norm.*variance is -eps or less in 1 of 3 channels\n    at 1 \(BatchNorm1d\)"
    with pytest.raises(LoweringError, match=message):
        export_aten(net.eval(), [torch.ones(2, 3)])
