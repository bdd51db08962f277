# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule

from aot.artefact.artefact import rewrite
from aot.passes.aten.constants.fold_constants import fold_constants
from aot.passes.aten.norms.instance_to_group_norm import instance_to_group_norm
from aot.testing.fixtures import check_aten_pass, folded, op_counts

IMAGES = torch.randn((3, 4, 6, 5), generator=torch.Generator().manual_seed(4))
LINES = IMAGES[..., 0].contiguous()
EACH = torch.linspace(0.5, 2.0, 12)


def _by_sample(x: torch.Tensor) -> torch.Tensor:
    """Return a norm whose weights differ between samples: no InstanceNorm."""
    joined = x.reshape(1, 12, 6, 5)
    return F.batch_norm(joined, None, None, EACH, None, training=True).reshape(3, 4, 6, 5)


def _with_constants(module: GraphModule) -> int:
    fold_constants(module)  # the weights are repeated for each sample
    return instance_to_group_norm(module)


# function, children, input, True if the norm changes
CASES: dict[str, tuple[Callable[..., torch.Tensor], list[nn.Module], torch.Tensor, bool]] = {
    "images": (lambda n, x: n(x), [nn.InstanceNorm2d(4)], IMAGES, True),
    "with weights": (lambda n, x: n(x), [nn.InstanceNorm2d(4, affine=True)], IMAGES, True),
    "lines": (lambda n, x: n(x), [nn.InstanceNorm1d(4, affine=True, eps=0.1)], LINES, True),
    "weights of each sample": (_by_sample, [], IMAGES, False),
    "statistics of all samples": (
        lambda x: F.batch_norm(x, None, None, training=True),
        [],
        IMAGES,
        False,
    ),
    "other shape behind": (
        lambda n, x: n(x).flatten(1),
        [nn.InstanceNorm2d(4)],
        IMAGES,
        True,
    ),
    "joined otherwise": (
        lambda x: F.batch_norm(x.reshape(1, 6, 12, 5), None, None, training=True).reshape(x.shape),
        [],
        IMAGES,
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_instance_to_group_norm(name: str) -> None:
    function, children, x, changes = CASES[name]
    count, graph = check_aten_pass(_with_constants, function, *children, inputs=(x,), atol=1e-5)
    assert count == changes
    targets = [n.target for n in graph.graph.nodes]
    assert (torch.ops.aten.group_norm.default in targets) == changes


def test_copies_nothing_between_convolutions() -> None:
    graph = folded(
        lambda a, n, b, x: b(F.relu(n(a(x)))),
        nn.Conv2d(3, 4, 3),
        nn.InstanceNorm2d(4),
        nn.Conv2d(4, 2, 1),
        shapes=[(2, 3, 6, 5)],
    )
    rewrite(graph)
    assert op_counts(graph) == {"pl.transpose": 2, "pl.conv2d": 2, "pl.normalize": 1}
