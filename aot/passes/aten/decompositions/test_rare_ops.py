# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from aot.lower import lower
from aot.options import Measure
from aot.passes.aten.constants.fold_constants import fold_constants
from aot.passes.aten.decompositions.rare_ops import decompose_rare_ops
from aot.testing.fixtures import check_aten_pass, model, op_counts, samples

X = torch.randn((3, 4, 5), generator=torch.Generator().manual_seed(0))
ROWS = torch.randn((3, 2, 5), generator=torch.Generator().manual_seed(1))
ROW, CELLS = torch.tensor([2, 0]), torch.tensor([[[1, 0, 3, 2, 2]]])
BOUNDS = torch.tensor([-0.5, 0.0, X[0, 0, 0].item()]).sort()[0]
WEIGHT = torch.randn((3, 5, 2), generator=torch.Generator().manual_seed(2))
IDS = torch.tensor([[1, 0, 3], [2, 2, 5]])
TURNED = torch.tensor([[[0.9, 0.2, 0.1], [-0.2, 0.8, 0.0]]])
GRID = F.affine_grid(TURNED, [1, 3, 3, 6], align_corners=False)
_core = torch.ops.aten

# name: function of X (or IDS), an op afterwards and its count (none: it is left)
FUNCTIONS: dict[str, tuple[Callable[..., object], str, int]] = {
    "values of maxima": (lambda x: x.max(1)[0], "aten.amax", 1),
    "values of minima": (lambda x: x.min(-1, keepdim=True).values, "aten.amin", 1),
    "maxima and their places": (lambda x: x.max(1), "aten.amax", 0),
    "sort": (lambda x: x.sort(1, descending=True), "aten.topk", 1),
    "order": (lambda x: x.argsort(), "aten.topk", 1),
    "median": (lambda x: x.median(1), "aten.topk", 1),
    "median of all": (lambda x: x.median(), "aten.topk", 1),
    "quantile": (lambda x: x.quantile(0.5, 1), "aten.topk", 1),
    "smallest but one": (lambda x: x.kthvalue(2, 0, keepdim=True)[0], "aten.topk", 1),
    "norm of order 3": (lambda x: x.norm(3, 1), "aten.pow", 2),
    "norm of order -2": (lambda x: torch.linalg.vector_norm(x, -2), "aten.pow", 2),
    "norm of order 0": (lambda x: x.norm(0, (0, 2), keepdim=True), "aten.ne", 1),
    "norm of order 2": (lambda x: x.norm(2, 1), "aten.pow", 0),
    "product": (lambda x: x.prod(2), "aten.mul", 3),
    "product of two": (lambda x: x[:2].prod(0, keepdim=True), "aten.mul", 1),
    "product of all": (lambda x: x.prod(), "aten.mul", 6),
    "any of no dimensions": (lambda x: torch.any(x > 0, []), "aten.gt", 1),
    "all of no dimensions": (lambda x: torch.all(x, []), "aten.ne", 1),
    "truth of integers": (lambda ids: ids.to(torch.bool), "aten.ne", 1),
    "distances": (lambda x: torch.cdist(x, ROWS), "aten.linalg_vector_norm", 1),
    "distances of order 1": (lambda x: torch.cdist(x, ROWS, p=1.0), "aten.linalg_vector_norm", 1),
    "distances of order 3": (lambda x: torch.cdist(x, ROWS, p=3.0), "aten.pow", 2),
    "distance": (lambda x: torch.dist(x, ROWS[:, :1]), "aten.linalg_vector_norm", 1),
    "assignment by mask": (lambda x: _assigned(x, x > 0.5), "aten.where", 1),
    "assignment of rows by mask": (lambda x: _assigned(x, x[..., 0] > 0.0), "aten.where", 1),
    "assignment of a row": (lambda x: x.index_put((x[:, 0, 0] > 0,), X[:1]), "aten.where", 0),
    "median of a number": (lambda x: x[0, 0, 0].median(), "aten.topk", 1),
    "samples on a grid": (lambda x: _sampled(x, GRID), "aten.index_select", 4),
    "pixels on a grid": (lambda x: _sampled(x, GRID, mode="nearest"), "aten.index_select", 1),
    "cubic samples": (lambda x: _sampled(x, GRID, mode="bicubic"), "aten.index_select", 16),
    "samples up to the border": (
        lambda x: _sampled(x, GRID, padding_mode="border"),
        "aten.index_select",
        4,
    ),
    "a grid each image": (
        lambda x: F.grid_sample(x[:2, None], torch.cat([GRID, -GRID]), align_corners=False),
        "aten.gather",
        4,
    ),
    "a grid that is computed": (
        lambda x: _sampled(x, GRID * x[0, 0, 0]),
        "aten.gather",
        4,
    ),
    "a grid that is computed, to the border": (
        lambda x: F.grid_sample(
            x[None], GRID * x[0, 0, 0], padding_mode="border", align_corners=True
        ),
        "aten.gather",
        4,
    ),
    "pixels on a grid that is computed": (
        lambda x: _sampled(x, GRID * x[0, 0, 0], mode="nearest"),
        "aten.gather",
        1,
    ),
    "cubic samples on a grid that is computed": (
        lambda x: _sampled(x, GRID * x[0, 0, 0], mode="bicubic"),
        "aten.gather",
        0,
    ),
    "between boundaries": (lambda x: torch.bucketize(x, BOUNDS), "aten.gt", 3),
    "between boundaries, with these": (
        lambda x: torch.searchsorted(BOUNDS, x, right=True, out_int32=True),
        "aten.ge",
        3,
    ),
    "between boundaries of each row": (
        lambda x: torch.searchsorted(x[0], x[1]),
        "aten.gt",
        0,
    ),
    "quotient rounded down": (lambda x: torch.floor_divide(x, x + 4.0), "aten.floor", 1),
    "quotient cut off": (lambda x: torch.div(x, x[0], rounding_mode="trunc"), "aten.trunc", 1),
    "quotient by a number": (lambda x: torch.floor_divide(x, 0.5), "aten.floor", 0),
    "bags": (lambda i: F.embedding_bag(i, X.reshape(-1, 10)), "aten.embedding", 1),
    "bags, largest": (
        lambda i: F.embedding_bag(i, X.reshape(-1, 10), mode="max"),
        "aten.amax",
        1,
    ),
    "bags by offsets": (
        lambda i: F.embedding_bag(i[0], X.reshape(-1, 10), torch.tensor([0, 1, 2]), mode="sum"),
        "aten.sum",
        1,
    ),
    "bags of different sizes": (
        lambda i: F.embedding_bag(i[0], X.reshape(-1, 10), torch.tensor([0, 2])),
        "aten._unsafe_index_put",
        1,
    ),
    "bags with weights": (
        lambda i: F.embedding_bag(i, X.reshape(-1, 10), mode="sum", per_sample_weights=i * 0.25),
        "aten.embedding",
        1,
    ),
    "bags that are given, with weights": (
        lambda i: F.embedding_bag(
            i.flatten(),
            X.reshape(-1, 10),
            i[1] - 2,
            mode="sum",
            per_sample_weights=torch.linspace(-1.0, 1.0, i.numel()),
        ),
        "aten._unsafe_index_put",
        1,
    ),
    "bags that are given": (
        lambda i: F.embedding_bag(i.flatten(), X.reshape(-1, 10), i[1] - 2),
        "aten._unsafe_index_put",
        1,
    ),
    "bags that are given, sums": (
        lambda i: F.embedding_bag(i.flatten(), X.reshape(-1, 10), i[1] - 2, mode="sum"),
        "aten._unsafe_index_put",
        1,
    ),
    **{
        f"padded bags, {mode}": (
            lambda i, mode=mode: F.embedding_bag(i, X.reshape(-1, 10), mode=mode, padding_idx=3),
            "aten.ne",
            1,
        )
        for mode in ("sum", "mean", "max")
    },
    "running product": (lambda x: x.cumprod(2), "aten.mul", 6),
    "running maximum": (lambda x: x.cummax(0)[0], "aten.maximum", 2),
    "running logarithm of a sum": (lambda x: x.logcumsumexp(1), "aten.log1p", 2),
    "determinant of 2 rows": (lambda x: torch.det(x[:, :2, :2]), "aten.mul", 2),
    "determinant of 3 rows": (lambda x: torch.det(x[:, :3, :3]), "aten.mul", 5),
    "determinant of a number": (lambda x: torch.det(x[:, :1, :1]), "aten.squeeze", 1),
    "inverse of a number": (lambda x: torch.linalg.inv(x[:, :1, :1]), "aten.div", 1),
    "inverse of 2 rows": (lambda x: torch.linalg.inv(x[:, :2, :2]), "aten.mul", 2),
    "inverse of 3 rows": (lambda x: torch.inverse(x[0, :3, :3]), "aten.div", 1),
    "inverse of 4 rows": (lambda x: torch.linalg.inv(x[..., :4]), "aten.mul", 6),
    "inverse of 5 rows": (lambda x: torch.linalg.inv(_squares(x)), "aten.div", 0),
    "inverse, and whether there is one": (
        lambda x: torch.linalg.inv_ex(x[..., :4]),
        "aten.div",
        0,
    ),
    "an equation": (lambda x: torch.linalg.solve(x[0, :3, :3], x[1, :3, 0]), "aten.matmul", 1),
    "an equation for each row": (
        lambda x: torch.linalg.solve(x[..., :4], x[..., 4]),
        "aten.matmul",
        1,
    ),
    "equations from the right": (
        lambda x: torch.linalg.solve(x[:, :3, :3], x[..., :3], left=False),
        "aten.matmul",
        1,
    ),
    "where the running maximum is": (lambda x: x.cummax(0)[1], "aten.ge", 2),
    "bags, running minimum": (lambda i: (i - 2).cummin(1)[0], "aten.minimum", 2),
    "bags, running product": (lambda i: (i - 2).cumprod(1), "aten.mul", 2),
    "bags, product": (lambda i: (i - 2).prod(1), "aten.mul", 2),
    "running sum of bags' numbers": (lambda i: i.cumsum(1), "aten.sum", 1),
    "bags, negative": (lambda i: -i, "aten.mul", 1),
    "bags, how far from 2": (lambda i: (i - 2).abs(), "aten.maximum", 1),
    "bags, four times": (lambda i: i << 2, "aten.mul", 1),
    "bags, halves": (lambda i: (i - 3) >> 1, "aten.floor_divide", 1),
    "bags, bits that are set": (lambda i: (i - 2) | 0x2B, "aten.sub", 2),
    "bags, bits that are turned": (lambda i: (i - 2) ^ 0x2B, "aten.sub", 3),
    "bags, all bits but one that are set": (lambda i: (i - 2) | -3, "aten.bitwise_and", 1),
    "bags, all bits but some that are turned": (lambda i: (i - 2) ^ -6, "aten.bitwise_and", 1),
    "bags, every bit that is turned": (lambda i: (i - 2) ^ -1, "aten.bitwise_and", 1),
    "bags, no bits that are set": (lambda i: (i - 2) | 0, "aten.bitwise_and", 1),
    "bags, bits of either": (lambda i: (i - 9) | (3 * i), "aten.bitwise_and", 1),
    "bags, bits of one of both": (lambda i: (i - 9) ^ (3 * i), "aten.bitwise_and", 1),
    "bags, all bits turned": (lambda i: ~(i - 2), "aten.sub", 2),
    "bags, rests of a number": (lambda i: torch.fmod(i - 2, -3), "aten.where", 1),
    "bags, rests": (lambda i: torch.fmod(i - 2, i.flip(0) + 1), "aten.remainder", 1),
    "bags, quotients cut off": (
        lambda i: torch.div(i - 2, -3, rounding_mode="trunc"),
        "aten.floor_divide",
        1,
    ),
    "bags, quotients of both": (
        lambda i: torch.div(i - 2, 2 * i.flip(0) - 3, rounding_mode="trunc"),
        "aten.logical_xor",
        1,
    ),
    "bags, logic": (
        lambda i: torch.logical_and(i - 2, i > 1) | torch.logical_not(i),
        "aten.ne",
        1,
    ),
    "bags, between values": (
        lambda i: torch.clamp(i, i.flip(0) - 2, torch.tensor(3)),
        "aten.minimum",
        1,
    ),
    "bags, between boundaries": (
        lambda i: torch.bucketize(i, torch.tensor([0.5, 2.0, 2.5])),
        "aten.gt",
        3,
    ),
    "bags, ones": (lambda i: (i - 2) ** 0, "aten.add", 1),
    "bags, squares": (lambda i: (i - 2).square(), "aten.mul", 1),
    "bags, cubes": (lambda i: (i - 2) ** 3, "aten.mul", 2),
    "masks that differ": (lambda x: (x > 0) != (x > 0.5), "aten.logical_xor", 1),
    "masks that are the same": (lambda x: (x > 0) == (x[:1] > 0.5), "aten.logical_not", 1),
    "hypotenuse": (lambda x: torch.hypot(x, ROWS[:, :1]), "aten.linalg_vector_norm", 1),
    "angle": (lambda x: torch.atan2(x, x.flip(0)), "aten.where", 3),
    "powers of two": (lambda x: torch.ldexp(x, torch.tensor([1, -2, 0, 3, 2])), "aten.mul", 1),
    "powers of two of computed exponents": (
        lambda x: torch.ldexp(x, (x * 2).long()),
        "aten.exp2",
        1,
    ),
    "ramp": (lambda x: torch.linspace(x.amin(), x.amax(), 7), "aten.mul", 2),
    "ramp to a number": (lambda x: torch.linspace(x.mean(), 3.0, 7), "aten.mul", 1),
    "ramp from a number": (lambda x: torch.linspace(-1, x.mean(), 1), "aten.mul", 1),
    "power": (lambda x: x.abs() ** x.flip(0), "aten.log", 1),
    "power of zero": (lambda x: x.relu() ** ROWS[:, :1].abs(), "aten.where", 1),
    "computed whole powers": (lambda x: x ** x.flip(0).round().abs(), "aten.where", 2),
    "whole powers of numbers": (
        lambda x: torch.tensor([-2.0, 0.5, -0.5, 3.0, -1.0]) ** (2.0 * x).round(),
        "aten.where",
        2,
    ),
    "steps": (lambda x: torch.heaviside((3.0 * x).round(), x.flip(0)), "aten.where", 1),
    "a taken number": (lambda x: x.take(torch.tensor(7)), "aten.index", 1),
    "powers of numbers": (lambda x: torch.tensor([2.0, 0.5, 1.0, 3.0, 1.5]) ** x, "aten.exp", 1),
    "powers": (lambda x: x.abs() ** torch.linspace(0.3, 2.2, 5), "aten.log", 1),
    "whole powers": (lambda x: x ** torch.tensor([0.0, 1.0, 2.0, 3.0, -1.0]), "aten.where", 1),
    "squares": (lambda x: x ** torch.full((4, 5), 2.0), "aten.pow", 1),
    "modulo": (lambda x: torch.remainder(x, x[0].abs() + 1.0), "aten.floor", 1),
    "modulo of a number": (lambda x: torch.remainder(x, 0.3), "aten.floor", 0),
    "modulo towards zero": (lambda x: torch.fmod(x, x[0].abs() + 1.0), "aten.trunc", 1),
    "sign of another": (lambda x: torch.copysign(x, x.flip(1)), "aten.where", 1),
    "bilinear": (lambda x: F.bilinear(x, x[..., :2], WEIGHT), "aten.linear", 1),
    "sum of products": (
        lambda x: torch.addbmm(x[0, 0, :4], x, x.mT),
        "aten.matmul",
        1,
    ),
    "sum of products, scaled": (
        lambda x: torch.addbmm(x[0, :, :4], x, x.mT, alpha=0.5, beta=2),
        "aten.mul",
        2,
    ),
    "sum of products alone": (
        lambda x: torch.addbmm(x[0, 0, :4], x, x.mT, beta=0),
        "aten.matmul",
        1,
    ),
    "values in rows": (lambda x: x.index_put((ROW,), X[0]), "aten.index_put", 1),
    "a value for each row": (lambda x: x.index_put((ROW,), X[:2]), "aten.expand", 0),
    "sums in rows": (lambda x: x.index_add(0, ROW, X[:2]), "aten._unsafe_index_put", 1),
    "sums of elements": (lambda x: x.scatter_add(1, CELLS, x), "aten.add", 1),
    "sums alone": (lambda x: torch.zeros(3, 4, 5).scatter_add(1, CELLS, x), "aten.add", 0),
    "a number in elements": (lambda x: x.scatter(1, CELLS, 0.5), "aten.scatter", 1),
    "slope of rrelu": (lambda x: F.rrelu(x, 0.1, 0.2), "aten.leaky_relu", 1),
    "bicubic": (lambda x: F.interpolate(x[None], (9, 3), mode="bicubic"), "aten.linear", 2),
    "bicubic to corners": (
        lambda x: F.interpolate(x[None], scale_factor=1.7, mode="bicubic", align_corners=True),
        "aten.linear",
        2,
    ),
    "antialiased": (
        lambda x: F.interpolate(x[None], (2, 7), mode="bilinear", antialias=True),
        "aten.linear",
        2,
    ),
    "bicubic, antialiased": (
        lambda x: F.interpolate(x[None], (2, 7), mode="bicubic", antialias=True),
        "aten.linear",
        2,
    ),
    "trilinear": (
        lambda x: F.interpolate(x[None, None], scale_factor=2, mode="trilinear"),
        "aten.linear",
        3,
    ),
    "pool and where": (
        lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
        "aten.max",
        1,
    ),
    "where adaptive pools are largest": (
        lambda x: F.adaptive_max_pool2d(x, (3, 2), return_indices=True)[1],
        "aten.max",
        1,
    ),
    "a pool alone": (lambda x: F.max_pool2d(x, 2, return_indices=True)[0], "aten.max", 0),
    "softmax of many": (lambda x: torch.vmap(lambda row: row.softmax(0))(x), "aten.softmax", 1),
    "logarithms": (lambda x: torch.xlogy(x, x.abs() + 0.5), "aten.where", 1),
    "logarithms of one more": (lambda x: torch.special.xlog1py(x, x.abs()), "aten.where", 1),
    "core softmax": (lambda x: _core._softmax(x, -1, False), "aten.softmax", 1),
    "core log_softmax": (lambda x: _core._log_softmax(x, 1, False), "aten.log_softmax", 1),
    "core layer_norm": (
        lambda x: _core.native_layer_norm(x, [4, 5], ROWS[0, 0] * X[0], None, 1e-5)[0],
        "aten.layer_norm",
        1,
    ),
    "core layer_norm and the mean": (
        lambda x: _core.native_layer_norm(x, [5], None, None, 1e-5)[:2],
        "aten.layer_norm",
        0,
    ),
    "core group_norm": (
        lambda x: _core.native_group_norm(x, None, ROWS[0, 0, :4], 3, 4, 5, 2, 1e-3)[0],
        "aten.group_norm",
        1,
    ),
    "core pool": (
        lambda x: _core._adaptive_avg_pool2d(x, [3, 2]),
        "aten.adaptive_avg_pool2d",
        1,
    ),
}


def _sampled(x: torch.Tensor, grid: torch.Tensor, **how: Any) -> torch.Tensor:
    return F.grid_sample(x[None], grid, align_corners=False, **how)


def _assigned(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[mask] = 0.5
    return y


def _squares(x: torch.Tensor) -> torch.Tensor:
    return x.transpose(1, 2) @ x + torch.eye(5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compositions(name: str) -> None:
    function, op, count = FUNCTIONS[name]

    def rewrite(module: torch.fx.GraphModule) -> int:
        fold_constants(module)
        return decompose_rare_ops(module)

    inputs = [IDS if "bags" in name or "integers" in name else X]
    # Powers and products are rounded in another order.
    changes, graph = check_aten_pass(rewrite, function, inputs=inputs, atol=1e-4)
    assert (changes > 0) == (count > 0)
    assert op_counts(graph).get(op, 0) == count


def test_values_of_a_running_product_keep_their_range() -> None:
    given = samples((4, 6), count=16)
    double = model(lambda x: (2.0 * x).cumprod(1))
    lowered = lower(double, given[0], calibration=given, measure=Measure(per_op=False))
    assert (lowered.quality.outputs[0].sqnr_db or 0.0) > 15.0


@pytest.mark.parametrize("dim", [0, 1, 2, None])
def test_a_quantile_takes_its_places_from_the_shape(dim: int | None) -> None:
    """It has no test for NaN, because no quantized value is NaN."""
    _, graph = check_aten_pass(decompose_rare_ops, lambda x: x.quantile(0.9, dim), inputs=[X])
    fold_constants(graph)
    graph.graph.eliminate_dead_code()
    assert {"aten.isnan", "aten.ceil", "aten.any"}.isdisjoint(op_counts(graph))
