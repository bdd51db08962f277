# SPDX-License-Identifier: Apache-2.0
"""Replacements in error messages work: they compute the same and lower to int8."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import Node

from aot.accept.export import export_aten
from aot.errors import LoweringError, source_line
from aot.rules import function
from aot.support.support import check_supported, unsupported
from aot.testing.fixtures import model

IMAGE = torch.randn((1, 3, 4, 6), generator=torch.Generator().manual_seed(4))
OTHER = torch.rand((1, 3, 4, 6), generator=torch.Generator().manual_seed(5)) + 0.5

_PLACES = torch.zeros((1, 3, 4, 6), dtype=torch.int64)
_KERNELS = torch.ones(2, 3, 2, 2)
_ABOVE_DIAGONAL = (torch.ones(4, 4).triu(1) > 0).flatten().nonzero()[:, 0]

_TABLE = torch.linspace(-1.0, 1.0, 12).reshape(3, 4)

# name: the refused form, a part of the hint, the replacement from the hint
HINTS: dict[str, tuple[Callable[..., object], str, Callable[..., object]]] = {
    "samples on a grid": (
        lambda x, y: F.grid_sample(
            x * y,
            F.affine_grid(torch.eye(2, 3)[None], [1, 3, 8, 12], align_corners=False)
            + 0.0 * y[0, 0, 0, 0],
            mode="bicubic",
            align_corners=False,
        ),
        "one constant grid for all images",
        lambda x, y: F.grid_sample(
            x * y,
            F.affine_grid(torch.eye(2, 3)[None], [1, 3, 8, 12], align_corners=False),
            mode="bicubic",
            align_corners=False,
        ),
    ),
    "bags of different sizes": (
        lambda x, y: F.embedding_bag(
            (x[0, 0, 0] > 0.0).long(), _TABLE, torch.tensor([0, 2]), mode="max"
        ),
        "indices of [bags, size], padded with padding_idx",
        lambda x, y: F.embedding_bag(
            torch.stack(
                [
                    torch.cat([(x[0, 0, 0, :2] > 0.0).long(), torch.tensor([2, 2])]),
                    (x[0, 0, 0, 2:] > 0.0).long(),
                ]
            ),
            _TABLE,
            mode="max",
            padding_idx=2,
        ),
    ),
    "item": (
        lambda x, y: x * y.mean().item(),
        "remove .item()",
        lambda x, y: x * y.mean(),
    ),
    "logic of numbers": (
        lambda x, y: torch.logical_and(x, y),
        "x != 0 for the mask of x",
        lambda x, y: torch.logical_and(x != 0, y != 0),
    ),
    "places in sorted values": (
        lambda x, y: torch.searchsorted(x[0, 0, 0].sort()[0], y[0, 0, 0]),
        "(sorted_sequence[None] < values[:, None]).sum(1)",
        lambda x, y: (x[0, 0, 0].sort()[0][None] < y[0, 0, 0][:, None]).sum(1),
    ),
    "distances of all pairs": (
        lambda x, y: F.pdist((x * y)[0, 0]),
        "torch.cdist(x, x), and take the elements above the diagonal",
        lambda x, y: torch.cdist((x * y)[0, 0], (x * y)[0, 0]).flatten()[_ABOVE_DIAGONAL],
    ),
    "fake quantizers": (
        lambda x, y: torch.fake_quantize_per_tensor_affine(x, 1e-6, 0, -(2**31), 2**31 - 1) + y,
        "the float values",
        lambda x, y: x + y,
    ),
    "complex results": (
        lambda x, y: torch.view_as_real(torch.fft.rfft(x).sqrt() * 0.0) + y[..., :1, None],
        "torch.view_as_real",
        lambda x, y: torch.view_as_real(torch.fft.rfft(x) * 0.0) + y[..., :1, None],
    ),
    "a convolution of whole numbers": (
        lambda x, y: F.conv2d((x > 0).int() + 0 * y[..., :1].int(), _KERNELS.int()).float(),
        "x.to(torch.float32)",
        lambda x, y: F.conv2d((x > 0).to(torch.float32), _KERNELS),
    ),
    "twice the bits": (
        lambda x, y: (x.double() * y).float(),
        "remove .double()",
        lambda x, y: x * y,
    ),
    "a diagonal filled": (
        lambda x, y: x[0, 0].clone().fill_diagonal_(0.0) * 2.0,
        "torch.where, with a mask of the positions",
        lambda x, y: torch.where(torch.eye(*x.shape[2:], dtype=torch.bool), 0.0, x[0, 0]) * 2.0,
    ),
    "put": (
        lambda x, y: (x * 2.0).put(torch.tensor([0, 3]), torch.tensor([1.0, 2.0])),
        "index_put on x.flatten()",
        lambda x, y: (
            (x * 2.0)
            .flatten()
            .index_put((torch.tensor([0, 3]),), torch.tensor([1.0, 2.0]))
            .view(x.shape)
        ),
    ),
    "medians without NaN": (
        lambda x, y: x.nanmedian(-1)[0],
        "torch.median",
        lambda x, y: x.median(-1)[0],
    ),
    "one of two functions": (
        lambda x, y: torch.cond(y.mean() > 0.0, lambda x: x + 1.0, lambda x: x * 2.0, (x,)),
        "m * a + (1 - m) * b",
        lambda x, y: (m := (y.mean() > 0.0).to(x.dtype)) * (x + 1.0) + (1 - m) * (x * 2.0),
    ),
    "slopes by chance": (
        lambda x, y: F.rrelu(x, training=True) * 0.0 + y,
        "training=False",
        lambda x, y: F.rrelu(x, training=False) * 0.0 + y,
    ),
}


@pytest.mark.parametrize("name", HINTS)
def test_the_hint_is_the_same_function_and_has_an_int8_form(name: str) -> None:
    refused, hint, instead = HINTS[name]
    inputs = (IMAGE, OTHER)
    with pytest.raises(LoweringError) as error:
        check_supported(export_aten(model(refused), inputs), lambda _: False)
    assert [hint in problem.hint for problem in error.value.problems] == [True]
    check_supported(export_aten(model(instead), inputs), lambda _: False)
    # Float32: the two forms round differently; counts are integers.
    torch.testing.assert_close(
        refused(*inputs), instead(*inputs), rtol=1e-5, atol=1e-6, check_dtype=False
    )


def test_of_long_lines_the_beginning_is_shown() -> None:
    node = torch.fx.Graph().placeholder("x")
    for length, shown in ((100, "x" * 100), (9000, f"{'x' * 117}...")):
        node.meta["stack_trace"] = f'  File "net.py", line 3, in forward\n    {"x" * length}\n'
        assert source_line(node) == f"net.py:3 in forward: {shown}"


def test_what_autocast_makes_of_floats_is_named_as_it_is_written() -> None:
    def narrow(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y: torch.Tensor = layer(x).relu().float()
            return y

    graph = export_aten(model(narrow, nn.Conv2d(3, 2, 1)), [IMAGE])
    (problem, *_) = unsupported(graph, lambda _: False)
    assert problem.op.startswith("autocast") and "without torch.autocast" in problem.hint


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gumbel_softmax", "random numbers as a model input"),
        ("rand", "random numbers as a model input"),
        ("bernoulli", "random numbers as a model input"),
        ("randperm", "random numbers as a model input"),
        ("dropout", "training=self.training"),
        ("alpha_dropout", "training=self.training"),
        ("normal_", "random numbers as a model input"),
        ("poisson", "random numbers as a model input"),
        ("fractional_max_pool2d", "F.adaptive_max_pool2d"),
        ("fractional_max_pool3d", "F.adaptive_max_pool3d"),
    ],
)
def test_what_is_drawn_by_chance_is_named_as_it_is_written(name: str, hint: str) -> None:
    nets = {
        "gumbel_softmax": model(F.gumbel_softmax),
        "rand": model(lambda x: x + torch.rand(4, 6)),
        "bernoulli": model(lambda x: torch.bernoulli(x.sigmoid())),
        "randperm": model(lambda x: x[..., torch.randperm(6)]),
        "dropout": model(F.dropout),
        "alpha_dropout": model(lambda x: F.alpha_dropout(x, training=True)),
        "normal_": model(lambda x: x + torch.empty(4, 6).normal_()),
        "poisson": model(lambda x: torch.poisson(x.exp())),
        "fractional_max_pool2d": nn.FractionalMaxPool2d(2, output_size=2).eval(),
        "fractional_max_pool3d": nn.FractionalMaxPool3d(2, output_size=(1, 2, 2)).eval(),
    }
    problems = unsupported(export_aten(nets[name], [IMAGE]), lambda _: False)
    assert problems and all(p.op.startswith((name, f"aten.{name}")) for p in problems)
    assert all(hint in p.hint for p in problems)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.linalg.qr(x)[1],
        lambda x: torch.linalg.eigvalsh(x[..., :4]),
        lambda x: torch.linalg.svd(x)[1],
        lambda x: torch.linalg.matrix_exp(x[..., :4]),
        lambda x: torch.linalg.cholesky(x[..., :4]),
        lambda x: torch.linalg.pinv(x),
        lambda x: torch.linalg.eigvals(x[..., :4]).real,
        lambda x: torch.linalg.eig(x[..., :4])[0].abs(),
    ],
)
def test_decompositions_of_matrices_are_inputs(function: Callable[..., object]) -> None:
    (problem,) = unsupported(export_aten(model(function), [IMAGE]), lambda _: False)
    assert "pass it as a model input" in problem.hint


@pytest.mark.parametrize(
    "function", [lambda x: x.histc(8, -1, 1), lambda x: x.mode(-1)[0], lambda x: x.frexp()[0]]
)
def test_what_only_the_application_has_is_said_so(function: Callable[..., object]) -> None:
    (problem,) = unsupported(export_aten(model(function), [IMAGE]), lambda _: False)
    assert "the rest in the application" in problem.hint


def test_a_line_is_the_users_own_in_what_torch_generates() -> None:
    net = model(lambda x: torch.cond(x.mean() > 0.0, lambda x: x + 1.0, lambda x: x * 2.0, (x,)))
    (problem,) = unsupported(export_aten(net, [IMAGE]), lambda _: False)
    assert "eval_with_key" not in problem.where


class Head(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.linalg.cholesky(x[..., :4]), torch.fft.rfft(x).sqrt().abs()


def test_a_problem_is_named_as_it_is_written_once_with_its_module() -> None:
    net = nn.Sequential(nn.Linear(6, 6), Head()).eval()
    problems = unsupported(export_aten(net, [IMAGE]), lambda _: False)
    assert [p.op.split()[0] for p in problems] == ["linalg_cholesky", "fft_rfft"]
    assert all(p.where.startswith("1 (Head), test_support.py:") for p in problems)
    assert "torch.linalg.cholesky(x[..., :4]), torch.fft" in problems[0].where


def test_a_chain_of_elementwise_ops_is_walked_once_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new walk from the start for each op would take quadratic time."""
    looked_at = 0
    find_root = function._find_root

    def counted(node: Node, roots: function.Roots) -> Node | None:
        nonlocal looked_at
        looked_at += 1
        return find_root(node, roots)

    monkeypatch.setattr(function, "_find_root", counted)
    offsets = nn.ParameterList(torch.full((6,), 0.01 * i) for i in range(30))

    def chain(offsets: nn.ParameterList, x: torch.Tensor) -> torch.Tensor:
        for offset in offsets:
            x = torch.sigmoid(x * offset + offset)
        return x

    graph = export_aten(model(chain, offsets), [IMAGE])
    check_supported(graph, lambda _: False)
    assert looked_at < 10 * len(graph.graph.nodes)
