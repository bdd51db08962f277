# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.passes.aten.norms.fold_norm_affine import fold_norm_affine
from aot.testing.fixtures import check_aten_pass

ROWS, IMAGE = (2, 7, 6), (2, 6, 5, 4)
Case = tuple[Callable[..., object], list[nn.Module], tuple[int, ...], int]


def randomized(norm: nn.Module, offset: float = 1.0, least: float = 0.5) -> nn.Module:
    """The norm with gains of both signs, and offsets, as buffers: others would be set anew."""
    generator = torch.Generator().manual_seed(1)
    for name, parameter in list(norm.named_parameters()):
        value = torch.empty_like(parameter).uniform_(least, 2.0, generator=generator)
        value[0] = -least
        delattr(norm, name)
        norm.register_buffer(name, value * offset if name == "bias" else value)
    return norm


LAYER = randomized(nn.LayerNorm(6))
GROUPS = randomized(nn.GroupNorm(2, 6))
PLAIN_OFFSETS = randomized(nn.GroupNorm(2, 6), offset=0.0)
UNLIKE = randomized(nn.LayerNorm(6), least=0.1)

# Children, shape of the input, how many norms lose gain and offset.
CASES: dict[str, Case] = {
    "linear": (lambda n, a, x: a(n(x)), [LAYER, nn.Linear(6, 4)], ROWS, 1),
    "no bias": (lambda n, a, x: a(n(x)), [LAYER, nn.Linear(6, 4, bias=False)], ROWS, 1),
    "no offset": (
        lambda n, a, x: a(n(x)),
        [randomized(nn.LayerNorm(6, bias=False)), nn.Linear(6, 4)],
        ROWS,
        1,
    ),
    "several readers": (
        lambda n, a, b, x: a(y := n(x)) + b(y),
        [LAYER, nn.Linear(6, 4), nn.Linear(6, 4)],
        ROWS,
        1,
    ),
    "behind movement": (
        lambda n, a, x: a(n(x).unsqueeze(0).transpose(1, 2)),
        [LAYER, nn.Linear(6, 4)],
        ROWS,
        1,
    ),
    "rows that become channels": (
        lambda n, a, x: a(n(x).flatten(1)),
        [LAYER, nn.Linear(42, 4)],
        ROWS,
        1,
    ),
    "a convolution": (lambda n, a, x: a(n(x)), [GROUPS, nn.Conv2d(6, 4, 3)], IMAGE, 1),
    "groups of a convolution": (
        lambda n, a, x: a(n(x)),
        [GROUPS, nn.Conv2d(6, 4, 3, groups=2)],
        IMAGE,
        1,
    ),
    "channels in front": (
        lambda n, a, x: a(n(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)),
        [LAYER, nn.Conv2d(6, 4, 1)],
        IMAGE,
        1,
    ),
    "padding, but no offset": (
        lambda n, a, x: a(n(x)),
        [PLAIN_OFFSETS, nn.Conv2d(6, 4, 3, padding=1)],
        IMAGE,
        1,
    ),
    "two norms": (
        lambda n, a, m, b, x: b(m(a(n(x)))),
        [LAYER, nn.Linear(6, 6), randomized(nn.LayerNorm(6)), nn.Linear(6, 3)],
        ROWS,
        2,
    ),
    # Left as they are.
    "padding": (lambda n, a, x: a(n(x)), [GROUPS, nn.Conv2d(6, 4, 3, padding=1)], IMAGE, 0),
    "another reader": (lambda n, a, x: a(y := n(x)).sum() + y, [LAYER, nn.Linear(6, 4)], ROWS, 0),
    "an output": (lambda n, a, x: (a(y := n(x)), y), [LAYER, nn.Linear(6, 4)], ROWS, 0),
    "channels that are rows": (
        lambda n, a, x: a(n(x).transpose(1, 2)),
        [LAYER, nn.Linear(7, 4)],
        ROWS,
        0,
    ),
    "an activation between": (lambda n, a, x: a(F.gelu(n(x))), [LAYER, nn.Linear(6, 4)], ROWS, 0),
    "gains that are not alike": (lambda n, a, x: a(n(x)), [UNLIKE, nn.Linear(6, 4)], ROWS, 0),
    "weights that are computed": (
        lambda n, a, x: F.linear(n(x), a(x[0, :4])),
        [LAYER, nn.Linear(6, 6)],
        ROWS,
        0,
    ),
    "as weights": (
        lambda n, a, x: F.linear(a(x), n(x)[0, :4, :]),
        [LAYER, nn.Linear(6, 6)],
        ROWS,
        0,
    ),
    "nothing to fold": (lambda n, a, x: a(n(x)), [nn.LayerNorm(6), nn.Linear(6, 4)], ROWS, 0),
    "transposed": (lambda n, a, x: a(n(x)), [GROUPS, nn.ConvTranspose2d(6, 4, 2)], IMAGE, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_values_stay(name: str) -> None:
    function, children, shape, folded = CASES[name]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(2))
    count, graph = check_aten_pass(fold_norm_affine, function, *children, inputs=[x], atol=1e-5)
    assert count == folded
    norms = [n for n in graph.graph.nodes if "norm" in str(n.target) and n.op == "call_function"]
    assert (
        sum(n.args[2 + (n.target is torch.ops.aten.group_norm.default)] is None for n in norms)
        >= folded
    )
