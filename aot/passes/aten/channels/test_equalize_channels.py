# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.accept.export import export_aten
from aot.dialect.graph import tensor_constant
from aot.passes.aten.channels.equalize_channels import equalize_channels
from aot.passes.aten.norms.fuse_batch_norm import folded_norm
from aot.testing.fixtures import check_aten_pass, model

X = torch.linspace(-3.0, 5.0, 196).reshape(1, 4, 7, 7)


# Children, and how many pairs change.
CASES: dict[str, tuple[Callable[..., object], list[nn.Module], int]] = {
    "two": (lambda a, b, x: b(a(x)), [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 5, 1)], 1),
    "relu": (lambda a, b, x: b(F.relu(a(x))), [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 5, 3)], 1),
    "pools": (
        lambda a, b, x: b(F.avg_pool2d(F.max_pool2d(F.relu(a(x)), 2, 1), 2, 1)),
        [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 5, 1)],
        1,
    ),
    "depthwise": (
        lambda a, b, x: b(F.relu(a(x))),
        [nn.Conv2d(4, 6, 3, bias=False), nn.Conv2d(6, 12, 3, groups=6)],
        1,
    ),
    "a chain": (
        lambda a, b, c, x: c(F.relu(b(F.relu(a(x))))),
        [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 6, 3, groups=6), nn.Conv2d(6, 3, 1)],
        2,
    ),
    "linear": (lambda a, b, x: b(F.relu(a(x))), [nn.Linear(7, 9), nn.Linear(9, 3)], 1),
    "relu6": (lambda a, b, x: b(F.relu6(a(x))), [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 5, 1)], 0),
    "read by others": (
        lambda a, b, x: b(y := a(x)) + y,
        [nn.Conv2d(4, 4, 3), nn.Conv2d(4, 4, 1)],
        0,
    ),
    "relu read by others": (
        lambda a, b, x: b(y := F.relu(a(x))) + y,
        [nn.Conv2d(4, 4, 3), nn.Conv2d(4, 4, 1)],
        0,
    ),
    "weights of two": (lambda a, x: a(a(x)), [nn.Conv2d(4, 4, 1)], 0),
    "groups": (lambda a, b, x: b(a(x)), [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 6, 1, groups=2)], 0),
    "transposed": (
        lambda a, b, c, x: c(b(F.relu(a(x)))),
        [nn.Conv2d(4, 8, 1), nn.ConvTranspose2d(8, 6, 3, 2), nn.Conv2d(6, 5, 1)],
        2,
    ),
    "transposed one after the other": (
        lambda a, b, x: b(F.relu(a(x))),
        [nn.ConvTranspose2d(4, 6, 3, bias=False), nn.ConvTranspose2d(6, 5, 2)],
        1,
    ),
    "transposed in groups": (
        lambda a, b, x: b(a(x)),
        [nn.ConvTranspose2d(4, 6, 3, groups=2), nn.ConvTranspose2d(6, 6, 1, groups=6)],
        0,
    ),
    "pools of a size": (
        lambda a, b, x: b(F.adaptive_avg_pool2d(F.relu(a(x)), 2).flatten(1)),
        [nn.Conv2d(4, 6, 3), nn.Linear(24, 3)],
        1,
    ),
    "pools of channels": (
        lambda a, b, x: b(F.avg_pool2d(a(x), 2)),
        [nn.Linear(7, 8), nn.Linear(4, 3)],
        0,
    ),
    "pools that mix channels": (
        lambda a, b, x: b(F.max_pool2d(a(x), 3, 1, 1)),
        [nn.Linear(7, 8), nn.Linear(8, 3)],
        0,
    ),
    "resampled": (
        lambda a, b, c, x: c(
            F.interpolate(b(F.interpolate(a(x), (9, 8))), (5, 6), mode="bilinear")
        ),
        [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 5, 3), nn.Conv2d(5, 3, 1)],
        2,
    ),
    "zeros around": (
        lambda a, b, x: b(F.pad(F.relu(a(x)), (0, 1, 2, 1))),
        [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 5, 3, 2)],
        1,
    ),
    "numbers around": (
        lambda a, b, x: b(F.pad(a(x), (0, 1, 2, 1), value=1.0)),
        [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 5, 3, 2)],
        0,
    ),
    "channels moved on": (
        lambda a, b, x: b(F.pad(a(x), (0, 0, 0, 0, 1, -1))),
        [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 5, 3, 2)],
        0,
    ),
    "flatten": (
        lambda a, b, x: b(a(x).flatten(1)),
        [nn.Conv2d(4, 2, 1), nn.Linear(98, 3)],
        1,
    ),
    "a mean": (
        lambda a, b, x: b(F.leaky_relu(a(x), 0.2).mean((2, 3))),
        [nn.Conv2d(4, 6, 3), nn.Linear(6, 3)],
        1,
    ),
    "a mean over rows": (
        lambda a, b, x: b(F.relu(a(x)).mean((1, 2))),
        [nn.Linear(7, 9), nn.Linear(9, 3)],
        1,
    ),
    "a pool that is flattened": (
        lambda a, b, x: b(F.relu(a(x)).mean((2, 3), True).flatten(1)),
        [nn.Conv2d(4, 6, 3), nn.Linear(6, 3)],
        1,
    ),
    "slopes": (
        lambda a, p, b, q, c, x: c(q(b(p(a(x))))),
        [nn.Conv2d(4, 6, 3), nn.PReLU(6), nn.Conv2d(6, 6, 1), nn.PReLU(), nn.Conv2d(6, 3, 1)],
        2,
    ),
    "lines": (
        lambda a, b, x: b(F.relu(a(x.flatten(2)))),
        [nn.Conv1d(4, 6, 3), nn.Conv1d(6, 5, 3)],
        1,
    ),
    "rows of images": (
        lambda a, b, x: b(a(x).flatten(2)),
        [nn.Conv2d(4, 2, 1), nn.Linear(49, 3)],
        0,
    ),
    "channels in another place": (
        lambda a, b, x: b(a(x).reshape(1, 7, 7, 4)),
        [nn.Conv2d(4, 4, 1), nn.Linear(4, 3)],
        0,
    ),
    "channels that are cut": (
        lambda a, b, x: b(a(x).reshape(1, 2, 2, 49)),
        [nn.Conv2d(4, 4, 1), nn.Conv2d(2, 3, 1)],
        0,
    ),
    "several results": (
        lambda a, b, x: b(F.max_pool2d(a(x), 2, return_indices=True)[0]),
        [nn.Conv2d(4, 6, 3), nn.Conv2d(6, 5, 1)],
        0,
    ),
    "a mean of all": (
        lambda a, b, x: b(a(x).mean(dim=None, keepdim=True)),
        [nn.Conv2d(4, 6, 1), nn.Conv2d(1, 3, 1)],
        0,
    ),
    "a mean of all, by no dimensions": (
        lambda a, b, x: b(a(x).mean([]).reshape(1, 1)),
        [nn.Conv2d(4, 6, 1), nn.Linear(1, 3)],
        0,
    ),
    "a mean of channels": (
        lambda a, b, x: b(a(x).mean(1, keepdim=True)),
        [nn.Conv2d(4, 1, 1), nn.Conv2d(1, 3, 1)],
        0,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_equalize_channels(name: str) -> None:
    function, children, pairs = CASES[name]
    changes, graph = check_aten_pass(equalize_channels, function, *children, inputs=[X], atol=1e-4)
    assert changes == pairs
    assert equalize_channels(graph) == 0, "nothing is left to do"


def test_a_norm_that_was_folded_follows() -> None:
    """Training unfolds the norm: it must still match the layer's result."""
    layers = [
        nn.Sequential(nn.Conv2d(4, 6, 3), nn.BatchNorm2d(6)),
        nn.Sequential(nn.Conv2d(6, 6, 3, groups=6, bias=False), nn.BatchNorm2d(6)),
        nn.Sequential(nn.Conv2d(6, 5, 1), nn.BatchNorm2d(5)),
    ]
    net = model(lambda a, b, c, x: c(F.relu(b(F.relu(a(x))))), *layers)
    graph = export_aten(net, [X])
    assert equalize_channels(graph) == 2
    found = [(node, norm) for node in graph.graph.nodes if (norm := folded_norm(node)) is not None]
    assert len(found) == 3
    for node, norm in found:
        factor = norm.scale * torch.rsqrt(norm.variance + norm.epsilon)
        weight = norm.weight * factor.reshape(-1, 1, 1, 1)
        bias = (norm.bias - norm.mean) * factor + norm.offset
        for value, source in zip((weight, bias), node.args[1:3], strict=True):
            constant = tensor_constant(graph, source)
            assert constant is not None
            torch.testing.assert_close(value, constant, rtol=1e-5, atol=1e-6)
