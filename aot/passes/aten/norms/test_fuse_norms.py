# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch.fx import GraphModule, Node

from aot.dialect.graph import arguments
from aot.dialect.rule import argument
from aot.passes.aten.norms.fuse_norms import fuse_norms
from aot.rules.fused_norm import NORMALIZE
from aot.testing.fixtures import check_aten_pass, folded, op_counts

X = torch.randn((2, 3, 4, 6), generator=torch.Generator().manual_seed(4))
ROW, COLUMN = torch.arange(6.0), torch.arange(4.0).reshape(4, 1)
Function = Callable[..., object]


def _square(x: torch.Tensor) -> torch.Tensor:
    return x.pow(2).mean(-1, keepdim=True)


def _less_mean(x: torch.Tensor, dim: int) -> torch.Tensor:
    return x - x.mean(dim, keepdim=True)


def _variance(x: torch.Tensor, dim: int, unbiased: bool = False) -> torch.Tensor:
    return x.var(dim, keepdim=True, unbiased=unbiased)


def _by_both(variance: torch.Tensor, mean: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return (x - mean) * (variance + 1e-5).rsqrt()


# Dimensions, True if it is about the mean, and the function.
NORMS: dict[str, tuple[list[int], bool, Function]] = {
    "rsqrt": ([3], False, lambda x: x * torch.rsqrt(_square(x) + 1e-5)),
    "rsqrt first": ([3], False, lambda x: torch.rsqrt(_square(x) + 1e-5) * x),
    "square root": ([3], False, lambda x: x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5)),
    "power": ([3], False, lambda x: x * (_square(x) + 1e-5) ** -0.5),
    "reciprocal": ([3], False, lambda x: x * (1 / (_square(x) + 1e-5).sqrt())),
    "sum of squares": ([3], False, lambda x: x / (x.square().sum(-1, keepdim=True) / 6).sqrt()),
    "another dtype": ([3], False, lambda x: (x.float() * torch.rsqrt(_square(x))).type_as(x)),
    "two dimensions": ([1, 3], False, lambda x: x / (x * x).mean((1, -1), keepdim=True).sqrt()),
    "no kept dimension": ([1], False, lambda x: x / x.norm(dim=1).unsqueeze(1)),
    "everything": ([0, 1, 2, 3], False, lambda x: x / x.norm()),
    "norm": ([3], False, lambda x: x / x.norm(dim=-1, keepdim=True)),
    "norm and eps": ([3], False, lambda x: x / (x.norm(dim=-1, keepdim=True) * 6**-0.5 + 1e-3)),
    "normalize": ([1], False, lambda x: F.normalize(x)),
    "normalize, bounded": ([2], False, lambda x: F.normalize(x, dim=2, eps=2.0)),
    "bounded square": ([3], False, lambda x: x * torch.rsqrt(_square(x).clamp(min=0.7))),
    "variance": ([3], True, lambda x: _less_mean(x, 3) / torch.sqrt(_variance(x, 3) + 1e-5)),
    "unbiased variance": ([1], True, lambda x: _less_mean(x, 1) * _variance(x, 1, True).rsqrt()),
    "mean of squares": ([3], True, lambda x: (y := _less_mean(x, 3)) / (_square(y) + 0.1).sqrt()),
    "standard deviation": (
        [1],
        True,
        lambda x: _less_mean(x, 1) / (x.std(1, keepdim=True, unbiased=False) + 1e-3),
    ),
    "unbiased standard deviation": (
        [2],
        True,
        lambda x: _less_mean(x, 2) / x.std(2, keepdim=True),
    ),
    "variance and mean": ([3], True, lambda x: _by_both(*torch.var_mean(x, 3, keepdim=True), x)),
    "standard deviation, two dimensions": (
        [1, 2],
        True,
        lambda x: (
            (x - x.mean((1, 2))[:, None, None]) / (x.std((1, 2)).unsqueeze(1).unsqueeze(1) + 1e-3)
        ),
    ),
    "of everything": ([0, 1, 2, 3], True, lambda x: (x - x.mean()) / (x.std() + 1e-3)),
    "at least": (
        [3],
        True,
        lambda x: _less_mean(x, 3) / x.std(3, keepdim=True).clamp(min=1e-3),
    ),
    "deviation and mean": (
        [1],
        True,
        lambda x: _less_mean(x, 1) / (torch.std_mean(x, 1, keepdim=True)[0] + 1e-3),
    ),
    "in place": ([3], True, lambda x: _less_mean(x, 3).div_(x.std(3, keepdim=True).add_(1e-3))),
    "mean of squares less the mean's": (
        [3],
        True,
        lambda x: _less_mean(x, 3) / (_square(x) - x.mean(3, keepdim=True).square() + 1e-3).sqrt(),
    ),
    # The norm of a value minus its mean over other dimensions.
    "another mean": ([3], False, lambda x: (y := _less_mean(x, 1)) * torch.rsqrt(_square(y))),
    "scaled in front": ([3], False, lambda x: (y := x * 3.0) * torch.rsqrt(_square(y) + 1e-5)),
}


@pytest.mark.parametrize("name", NORMS)
def test_is_one_op(name: str) -> None:
    dim, centered, function = NORMS[name]
    count, graph = check_aten_pass(fuse_norms, function, inputs=[X], atol=1e-5)
    assert count == 1
    graph.graph.eliminate_dead_code()
    (node,) = (n for n in graph.graph.nodes if n.target is NORMALIZE)
    assert (argument(node, "dim"), argument(node, "centered")) == (dim, centered)


# Ops that join the norm: all become one op, with the function's result.
AFFINE: dict[str, Function] = {
    "behind": lambda x: F.normalize(x) * ROW + COLUMN,
    "in front": lambda x: ROW * _less_mean(x, 3) / (_variance(x, 3) + 1e-5).sqrt() + 0.5,
    "scalars": lambda x: 2 * x * torch.rsqrt(_square(x) + 1e-5) * 3.0,
}


@pytest.mark.parametrize("name", AFFINE)
def test_constants_join_it(name: str) -> None:
    count, graph = check_aten_pass(fuse_norms, AFFINE[name], inputs=[X], atol=1e-5)
    assert count == 1
    graph.graph.eliminate_dead_code()
    assert [n.target for n in graph.graph.nodes if n.op == "call_function"][-1] is NORMALIZE


OTHERS: dict[str, Function] = {
    "the root of another value": lambda x: x * torch.rsqrt(_square(x + 1) + 1e-5),
    "the square itself": lambda x: x / (_square(x) + 1e-5),
    "another order": lambda x: F.normalize(x, p=1.0),
    "along another dimension": lambda x: (
        (y := x[:, :, :, :4]) / y.norm(dim=-1).unsqueeze(2).expand(2, 3, 4, 4)
    ),
    "the other way round": lambda x: torch.sqrt(_square(x) + 1e-5) / x,
    "times the root": lambda x: x * torch.sqrt(_square(x) + 1e-5),
    "a mean that is added": lambda x: (x + x.mean(3, keepdim=True)) / (_variance(x, 3) + 1).sqrt(),
    "less another square": lambda x: (
        _less_mean(x, 3) / (_square(x) - x.amin(3, keepdim=True).square() + 30.0).sqrt()
    ),
    "less half the mean's square": lambda x: (
        _less_mean(x, 3) / (_square(x) / 2 - x.mean(3, keepdim=True).square() + 30.0).sqrt()
    ),
    "an addend beyond all integers": lambda x: x / (x.norm() + 1e9),
    "a standard score": lambda x: (x - 0.5) / 0.25,
}


@pytest.mark.parametrize("name", OTHERS)
def test_is_left_alone(name: str) -> None:
    count, _ = check_aten_pass(fuse_norms, OTHERS[name], inputs=[X])
    assert count == 0


# Its bound is not small compared with the input's steps.
BOUNDED: dict[str, Function] = {
    "at least": lambda x: F.normalize(x, eps=20.0),
    "maximum": lambda x: (
        _less_mean(x, 1) / torch.maximum(x.std(1, keepdim=True), torch.tensor(0.9))
    ),
    "added": lambda x: _less_mean(x, 1) / (x.std(1, keepdim=True) + 0.1),
    "both": lambda x: x / (x.norm(dim=1, keepdim=True).clamp(min=8.0) + 3.0),
}


def _norm_of(graph: GraphModule) -> Node:
    norms: list[Node] = [n for n in graph.graph.nodes if n.target is torch.ops.pl.normalize.default]
    assert len(norms) == 1
    return norms[0]


@pytest.mark.parametrize("name", BOUNDED)
def test_a_bound_that_matters_is_in_the_op(name: str) -> None:
    graph = folded(BOUNDED[name], shapes=[(4, 64)])
    assert op_counts(graph)["pl.normalize"] == 1
    norm = _norm_of(graph)
    bounds = [arguments(norm)[bound] > 0 for bound in ("floor", "addend")]
    assert bounds == [name != "added", name in ("added", "both")]


@pytest.mark.parametrize("eps", [1e-12, 1e-5])
def test_a_bound_that_makes_no_difference_is_not(eps: float) -> None:
    graph = folded(lambda x: _less_mean(x, 1) / (x.std(1, keepdim=True) + eps), shapes=[(4, 64)])
    norm = _norm_of(graph)
    assert arguments(norm)["addend"] == 0


@pytest.mark.parametrize("name", ["norm", "var"])
def test_what_is_of_a_number_alone_is_left(name: str) -> None:
    options = {"correction": 0} if name == "var" else {}
    graph = folded(lambda x: getattr(x, name)(dim=0, **options), shapes=[()])
    assert op_counts(graph) == {"pl.reshape": 2, "pl.second_moment": 1}
