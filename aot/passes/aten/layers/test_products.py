# SPDX-License-Identifier: Apache-2.0
"""The passes over products: products_to_linear, split_layers and fold_scales."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule

from aot.passes.aten.channels.fold_scales import fold_scales
from aot.passes.aten.constants.fold_constants import fold_constants
from aot.passes.aten.layers.products_to_linear import products_to_linear
from aot.passes.aten.layers.split_layers import split_layers
from aot.passes.aten.movement.remove_identities import remove_identities
from aot.passes.aten.movement.split_to_slices import split_to_slices
from aot.testing.fixtures import check_aten_pass, op_counts

Function = Callable[..., object]

X = torch.linspace(-1.0, 1.0, 30).reshape(2, 3, 5)


def values(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(4))


def after(*passes: Callable[[GraphModule], int]) -> Callable[[GraphModule], int]:
    """The last of the passes, once the others ran."""

    def run(module: GraphModule) -> int:
        for earlier in passes[:-1]:
            earlier(module)
        return passes[-1](module)

    return run


RIGHT, BATCHES, LEFT = values(5, 4), values(2, 5, 4), values(4, 3)
VECTOR, SHORT, BIAS, FACTORS = values(5), values(3), values(4), values(12)
SQUARE, ADDEND = values(5, 3), values(3, 3)

# name: function of a Linear(5, 12) and X, number of changed nodes, remaining ops.
PRODUCTS: dict[str, tuple[Function, int, dict[str, int]]] = {
    "constant right": (lambda _, x: x @ RIGHT, 1, {"linear": 1}),
    "of one batch": (lambda _, x: x @ RIGHT[None], 1, {"linear": 1}),
    "of two batches": (lambda _, x: x @ BATCHES, 0, {"matmul": 1}),
    "constant left": (lambda _, x: LEFT @ x, 1, {"linear": 1, "transpose": 2}),
    "vector right": (lambda _, x: x @ VECTOR, 1, {"linear": 1, "reshape": 1}),
    "vector left": (lambda _, x: SHORT @ x, 1, {"linear": 1, "transpose": 2, "reshape": 1}),
    "bias": (lambda _, x: x @ RIGHT + BIAS, 1, {"linear": 1}),
    "bias in front": (lambda _, x: BIAS[None] + x @ RIGHT, 1, {"linear": 1}),
    "no bias": (lambda _, x: x @ SQUARE + ADDEND, 1, {"linear": 1, "add": 1}),
    "shared": (
        lambda _, x: (y := x @ SQUARE) + SHORT * y[:1],
        1,
        {"linear": 1, "add": 1},
    ),
    "computed": (lambda _, x: x @ x.mT, 0, {"matmul": 1}),
    "addmm": (lambda _, x: torch.addmm(BIAS, x[0], RIGHT), 2, {"linear": 1}),
    "addmm, scaled": (
        lambda _, x: torch.addmm(BIAS, x[0], RIGHT, beta=0.5, alpha=2.0),
        2,
        {"linear": 1, "mul": 1, "add": 1},
    ),
    "addmm of computed": (
        lambda _, x: torch.addmm(x[0, 0, :3], x[0], x[1].mT, beta=3.0),
        1,
        {"matmul": 1, "mul": 1, "add": 1},
    ),
    "addmv without": (
        lambda _, x: torch.addmv(x[0, 0, :3], x[0], x[0, 0], beta=0),
        1,
        {"matmul": 1},
    ),
    "computed weight": (lambda _, x: F.linear(x, x[0], x[0, 0, :3]), 1, {"matmul": 1, "add": 1}),
    "a layer": (lambda layer, x: layer(x), 0, {"linear": 1}),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_to_linear(name: str) -> None:
    function, changes, left = PRODUCTS[name]
    rewrite = after(remove_identities, fold_constants, products_to_linear)
    found, graph = check_aten_pass(rewrite, function, nn.Linear(5, 12), inputs=[X], atol=1e-5)
    counts = {op.removeprefix("aten."): n for op, n in op_counts(graph).items()}
    assert found == changes
    assert {op: counts.get(op, 0) for op in left} == left


def heads(layer: nn.Module, x: torch.Tensor) -> Any:
    return layer(x).reshape(2, 3, 3, 2, 2).permute(2, 0, 3, 1, 4)


# Number of layers afterwards; the input has one.
SPLITS: dict[str, tuple[Function, int]] = {
    "heads": (lambda layer, x: (h := heads(layer, x))[0] @ h[1].mT @ h[2], 3),
    "heads, scaled": (lambda layer, x: (h := heads(layer, x))[0] * 0.5 @ h[1].mT @ h[2], 3),
    "chunks": (lambda layer, x: (c := layer(x).chunk(2, -1))[0] @ c[1].mT, 2),
    "slices": (lambda layer, x: (y := layer(x))[..., :8] @ y[:, :, 4:].mT, 2),
    "no product": (lambda layer, x: (c := layer(x).chunk(2, -1))[0] * c[1].sigmoid(), 1),
    "rows": (lambda layer, x: (y := layer(x))[:1] @ y[1:].mT, 1),
    "every other channel": (lambda layer, x: (y := layer(x))[..., ::2] @ y[..., 1::2].mT, 2),
    "a part of each head": (
        lambda layer, x: (
            (y := layer(x).reshape(2, 3, 2, 6).transpose(1, 2))[..., :2]
            @ y[..., 2:4].mT
            @ y[..., 4:]
        ),
        3,
    ),
    "parts of rows": (lambda layer, x: (y := layer(x))[:, :2, :6] @ y[..., 6:].mT, 1),
    "read whole": (lambda layer, x: (y := layer(x))[..., :6] @ y[..., 6:].mT + y.mean(), 1),
}


@pytest.mark.parametrize("name", SPLITS)
def test_split_layers(name: str) -> None:
    function, layers = SPLITS[name]
    rewrite = after(remove_identities, split_to_slices, split_layers)
    changes, graph = check_aten_pass(rewrite, function, nn.Linear(5, 12), inputs=[X], atol=1e-5)
    assert changes == (layers > 1)
    assert op_counts(graph)["aten.linear"] == layers


def parts(layer: nn.Module, x: torch.Tensor) -> Any:
    return layer(x).reshape(2, 3, 4, 6).unbind(1)


IMAGE = values(2, 5, 2, 3)
# The same of a convolution to 12 channels, with a kernel of so many pixels.
IMAGE_SPLITS: dict[str, tuple[Function, int, int]] = {
    "parts": (lambda layer, x: (p := parts(layer, x))[0].mT @ p[1] @ p[2].mT, 1, 3),
    "a part of each head": (
        lambda layer, x: (y := layer(x).reshape(4, 6, 6))[:, :2].mT @ y[:, 2:4] @ y[:, 4:].mT,
        1,
        3,
    ),
    "no product": (lambda layer, x: (p := parts(layer, x))[0] * p[1].sigmoid() + p[2], 1, 1),
    "windows": (lambda layer, x: (y := layer(x).flatten(2))[:, :6].mT @ y[:, 6:], 2, 1),
}


@pytest.mark.parametrize("name", IMAGE_SPLITS)
def test_split_convolutions(name: str) -> None:
    function, kernel, layers = IMAGE_SPLITS[name]
    rewrite = after(remove_identities, split_to_slices, split_layers)
    layer = nn.Conv2d(5, 12, kernel)
    changes, graph = check_aten_pass(rewrite, function, layer, inputs=[IMAGE], atol=1e-5)
    assert changes == (layers > 1)
    assert op_counts(graph)["aten.convolution"] == layers


# Number of multiplications and divisions afterwards.
SCALES: dict[str, tuple[Function, int]] = {
    "of the left side": (lambda layer, x: (layer(x).mT * 0.5) @ x, 0),
    "of the right side": (lambda layer, x: x.mT @ (0.5 * layer(x)), 0),
    "of the product": (lambda layer, x: (x.mT @ layer(x)) / 3.0, 0),
    "of heads": (lambda layer, x: x.mT[:, None] @ (layer(x) / 2.0).reshape(2, 1, 3, 12), 0),
    "of an input": (lambda layer, x: (x * 0.5).mT @ x, 1),
    "of a value that is read again": (lambda layer, x: (y := layer(x)).mT * 0.5 @ y, 1),
    "of no product": (lambda layer, x: layer(x) * 0.5, 1),
    "by a vector": (lambda layer, x: FACTORS * layer(x), 0),
    "by a vector, read again": (lambda layer, x: FACTORS * (y := layer(x)) + y, 1),
    "by a vector, of no layer": (lambda layer, x: layer(VECTOR * x.tanh()), 1),
    "of a product, read again": (lambda layer, x: (x.mT @ (y := layer(x))) / 3.0 + y.mean(), 1),
    "of a product of no layer": (lambda layer, x: (x.mT @ x.tanh()) / 3.0, 1),
    "by a vector of rows": (lambda layer, x: layer(x) * FACTORS[:3, None], 1),
    "by a vector of as many rows": (
        lambda layer, x: layer(torch.cat([x] * 4, 1)) * FACTORS[:, None],
        1,
    ),
    "by a number, of one channel": (lambda _, x: F.linear(x, VECTOR[None]) * FACTORS[:1], 1),
    "by a value": (lambda layer, x: layer(x) * x[..., :1], 1),
}


@pytest.mark.parametrize("name", SCALES)
def test_fold_scales(name: str) -> None:
    function, left = SCALES[name]
    rewrite = after(remove_identities, fold_constants, fold_scales)
    changes, graph = check_aten_pass(rewrite, function, nn.Linear(5, 12), inputs=[X], atol=1e-5)
    counts = op_counts(graph)
    assert counts.get("aten.mul", 0) + counts.get("aten.div", 0) == left
    assert changes == 1 - left
