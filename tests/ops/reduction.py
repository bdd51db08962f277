# SPDX-License-Identifier: Apache-2.0
"""Sums, means, extremes and where they are, deviations, softmax and norms over every dimension."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from tests.ops.bundle import as_model
from tests.ops.case import Case, Function, Input, sequence


def _numbers(x: torch.Tensor) -> torch.Tensor:
    """Return integers without duplicates."""
    return (x > 0).sum(0) * 6 + torch.arange(6).reshape(2, 3)


# name, input shape, arguments
_MEAN: tuple[tuple[str, tuple[int, ...], dict[str, Any]], ...] = (
    ("first_dim", (4, 6), {"dim": 0}),
    ("last_dim", (4, 6), {"dim": 1}),
    ("negative_dim", (2, 3, 5), {"dim": -2}),
    ("keepdim", (2, 3, 5), {"dim": 1, "keepdim": True}),
    ("spatial", (1, 6, 4, 5), {"dim": (2, 3)}),
    ("spatial_keepdim", (1, 6, 4, 5), {"dim": (-1, -2), "keepdim": True}),
    ("channels", (1, 6, 4, 5), {"dim": 1}),
    ("apart", (2, 3, 4, 5), {"dim": (1, 3)}),
    ("all_dims", (2, 3, 5), {"dim": (0, 1, 2)}),
    ("no_dims", (2, 3, 5), {}),
    ("size_1_dim", (3, 1, 5), {"dim": 1}),
    ("many_values", (1, 700), {"dim": 1}),
)

# name, input shape, arguments of torch.max (returns values and indices)
_MAX: tuple[tuple[str, tuple[int, ...], dict[str, Any]], ...] = (
    ("last_dim", (4, 6), {"dim": 1}),
    ("first_dim", (4, 6), {"dim": 0}),
    ("negative_dim", (2, 3, 5), {"dim": -2}),
    ("keepdim", (2, 3, 5), {"dim": 1, "keepdim": True}),
    ("channels", (1, 6, 4, 5), {"dim": 1}),
    ("size_1_dim", (3, 1, 5), {"dim": 1}),
    ("vector", (7,), {"dim": 0}),
    ("many_values", (1, 700), {"dim": 1}),
)

# name, input shape, arguments
_ARGMAX: tuple[tuple[str, tuple[int, ...], dict[str, Any]], ...] = (
    ("last_dim", (4, 6), {"dim": -1}),
    ("keepdim", (2, 3, 5), {"dim": 1, "keepdim": True}),
    ("no_dims", (2, 3, 5), {}),
    ("no_dims_keepdim", (2, 3, 5), {"keepdim": True}),
    ("channels", (1, 6, 4, 5), {"dim": 1}),
)

_BETWEEN_TWO = {"topk": 1, "gather": 2, "where": 1, "add": 2, "mul": 1}

# name, function, input shape, ops
_OTHERS: tuple[tuple[str, Callable[..., Any], tuple[int, ...], dict[str, int]], ...] = (
    (
        "running_log_of_sum",
        lambda x: x.logcumsumexp(1),
        (2, 3),
        {"slice": 6, "add": 4, "lut": 6, "maximum": 2, "cat": 2},
    ),
    ("determinant", torch.det, (2, 3, 3), {"gather": 11, "mul": 5, "add": 3}),
    (
        "inverse",
        lambda x: torch.linalg.inv(x + 5.0 * torch.eye(2)),
        (3, 2, 2),
        {"add": 1, "gather": 3, "mul": 2, "mean": 1, "div": 1},
    ),
    (
        "equation",
        lambda x: torch.linalg.solve(x[:, :2] + 5.0 * torch.eye(2), x[:, 2]),
        (2, 3),
        {"slice": 2, "add": 1, "gather": 3, "mul": 2, "mean": 1, "bmm": 1, "div": 1},
    ),
    ("sum", lambda x: x.sum(1), (4, 6), {"mean": 1}),
    ("sum_spatial", lambda x: x.sum((2, 3), keepdim=True), (1, 6, 4, 5), {"mean": 1}),
    ("sum_of_all", torch.sum, (2, 3, 5), {"mean": 1}),
    ("amax", lambda x: x.amax(1), (2, 3, 5), {"amax": 1}),
    ("amax_spatial", lambda x: x.amax((2, 3), keepdim=True), (1, 6, 4, 5), {"amax": 1}),
    ("amax_apart", lambda x: x.amax((0, 2)), (2, 3, 5), {"amax": 1}),
    ("max_of_all", torch.max, (2, 3, 5), {"amax": 1}),
    ("amin", lambda x: x.amin(-1), (2, 3, 5), {"amin": 1}),
    ("min_of_all", torch.min, (4, 6), {"amin": 1}),
    ("aminmax", lambda x: tuple(torch.aminmax(x, dim=1)), (4, 6), {"amin": 1, "amax": 1}),
    ("min_values", lambda x: x.min(1)[0], (4, 6), {"amin": 1}),
    ("min", lambda x: tuple(x.min(1)), (2, 3, 5), {"topk": 1}),
    ("argmin", lambda x: x.argmin(-1, keepdim=True), (4, 6), {"topk": 1}),
    ("argmin_of_all", torch.argmin, (4, 6), {"topk": 1}),
    ("topk_1", lambda x: tuple(x.topk(1)), (4, 6), {"topk": 1}),
    ("topk_3", lambda x: tuple(x.topk(3, 1)), (2, 5, 3), {"topk": 1}),
    ("median_of_all", torch.median, (3, 4), {"topk": 1, "slice": 1}),
    ("median_of_even", lambda x: x.quantile(0.5, 1), (2, 6), _BETWEEN_TWO),
    ("nanquantile", lambda x: x.nanquantile(0.3, 1), (2, 6), _BETWEEN_TWO),
    ("median", lambda x: tuple(x.median(1)), (2, 5, 3), {"topk": 1, "slice": 2}),
    ("kthvalue", lambda x: x.kthvalue(2, -1, True)[0], (4, 6), {"topk": 1, "slice": 1}),
    ("topk_smallest", lambda x: tuple(x.topk(2, 0, False)), (5, 3), {"topk": 1}),
    ("var", lambda x: x.var(1), (4, 6), {"second_moment": 1}),
    ("var_uncorrected", lambda x: x.var((0, 2), correction=0), (2, 3, 5), {"second_moment": 1}),
    ("var_many_values", lambda x: x.var(), (1, 700), {"second_moment": 1}),
    ("std", lambda x: x.std(1, keepdim=True), (4, 6), {"second_moment": 1}),
    ("std_spatial", lambda x: x.std((2, 3)), (1, 6, 4, 5), {"second_moment": 1}),
    ("std_of_all", torch.std, (2, 3, 5), {"second_moment": 1}),
    ("var_mean", lambda x: torch.var_mean(x, 1), (4, 6), {"second_moment": 1, "mean": 1}),
    ("std_mean", lambda x: torch.std_mean(x, 1), (4, 6), {"second_moment": 1, "mean": 1}),
    ("norm", torch.linalg.vector_norm, (2, 3, 5), {"second_moment": 1}),
    ("norm_rows", lambda x: x.norm(dim=1, keepdim=True), (4, 6), {"second_moment": 1}),
    ("norm_1", lambda x: x.norm(1, 1), (4, 6), {"lut": 1, "mean": 1}),
    ("norm_inf", lambda x: x.norm(float("inf"), 1), (4, 6), {"lut": 1, "amax": 1}),
    ("cumsum", lambda x: x.cumsum(1), (2, 7), {"cumsum": 1}),
    ("cumsum_first_dim", lambda x: x.cumsum(0), (6, 2, 3), {"cumsum": 1}),
    ("cumprod", lambda x: x.cumprod(1), (2, 5), {"slice": 9, "mul": 3, "lut": 3, "cat": 3}),
    ("cummax", lambda x: x.cummax(1)[0], (2, 3), {"slice": 6, "maximum": 2, "cat": 2}),
    (
        "cummax_places",
        lambda x: tuple(x.cummax(1)),
        (2, 3),
        {"slice": 9, "less": 2, "where": 4, "cat": 4},
    ),
    ("logsumexp", lambda x: x.logsumexp(1), (4, 6), {"logsumexp": 1}),
    ("logsumexp_keepdim", lambda x: x.logsumexp((0, 2), True), (2, 3, 5), {"logsumexp": 1}),
    ("any", lambda x: (x > 1.5).any(1), (4, 6), {"lut": 1, "amax": 1}),
    ("any_value", lambda x: torch.relu(x).any(1), (4, 2), {"lut": 1, "amax": 1}),
    ("all", lambda x: (x > -1.5).all(1, keepdim=True), (4, 6), {"lut": 1, "amin": 1}),
    ("all_of_all", lambda x: (x < 3.0).all(), (4, 6), {"lut": 1, "amin": 1}),
    (
        "largest_number",
        lambda x: tuple(_numbers(x).max(1)),
        (5, 2, 3),
        {"lut": 1, "integer_sum": 1, "integer_mul": 1, "integer_add": 1, "topk": 1},
    ),
    (
        "order_of_numbers",
        lambda x: tuple(_numbers(x).sort(1, descending=True)),
        (5, 2, 3),
        {"lut": 1, "integer_sum": 1, "integer_mul": 1, "integer_add": 1, "topk": 1},
    ),
    (
        "least_numbers",
        lambda x: ((n := _numbers(x)).amin(0), n.argmin()),
        (5, 2, 3),
        {"lut": 1, "integer_sum": 1, "integer_mul": 1, "integer_add": 1, "topk": 2},
    ),
    (
        "bits_of_sums",
        lambda x: ((x > 0).sum(0) ^ 5) & 6,
        (7, 4),
        {"lut": 1, "integer_sum": 1, "integer_and": 2, "integer_sub": 2, "integer_add": 1},
    ),
    (
        "numbers_by_a_mask",
        lambda x: x.argmax(1) * (x.amax(1) > 1.0),
        (4, 3),
        {"max_with_indices": 1, "amax": 1, "lut": 1, "where": 1, "integer_mul": 1},
    ),
    (
        "masks_that_differ",
        lambda x: (x > 0) != (x[:1] > 0),
        (4, 6),
        {"slice": 1, "lut": 2, "where": 2},
    ),
)

# input shape, for softmax and log_softmax over each of its dimensions
_SOFTMAX: tuple[tuple[int, ...], ...] = ((10,), (3, 7), (2, 3, 5), (1, 4, 3, 5))


def _rms(x: torch.Tensor) -> torch.Tensor:
    return torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class _Written(nn.LayerNorm):
    """LayerNorm over the channels of an image, written out."""

    def __init__(self) -> None:
        super().__init__(6)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        x = input - input.mean(1, keepdim=True)
        x = x / torch.sqrt(x.pow(2).mean(1, keepdim=True) + self.eps)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


def _standardized(x: torch.Tensor) -> torch.Tensor:
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 0.1)


# name, module, input shape, True if a relu follows, fused into the norm
_NORMS: tuple[tuple[str, Callable[[], nn.Module], tuple[int, ...], bool], ...] = (
    ("layer_norm", partial(nn.LayerNorm, 6), (4, 6), False),
    ("layer_norm_relu", partial(nn.LayerNorm, 6), (2, 3, 6), True),
    ("layer_norm_no_bias", partial(nn.LayerNorm, 6, bias=False), (2, 6), False),
    ("layer_norm_not_affine", partial(nn.LayerNorm, 6, elementwise_affine=False), (2, 6), False),
    ("layer_norm_two_dims", partial(nn.LayerNorm, (3, 6)), (2, 3, 6), False),
    ("layer_norm_everything", partial(nn.LayerNorm, (2, 3, 6)), (2, 3, 6), False),
    ("layer_norm_large_eps", partial(nn.LayerNorm, 6, eps=100.0), (2, 6), False),
    ("layer_norm_no_eps", partial(nn.LayerNorm, 6, eps=0.0), (2, 6), False),
    ("layer_norm_many_values", partial(nn.LayerNorm, 700), (2, 700), False),
    ("group_norm_one_group", partial(nn.GroupNorm, 1, 6), (2, 6, 4, 5), False),
    ("group_norm_relu", partial(nn.GroupNorm, 3, 6), (1, 6, 4, 5), True),
    ("group_norm_not_affine", partial(nn.GroupNorm, 2, 6, affine=False), (1, 6, 4, 5), False),
    ("group_norm_every_channel", partial(nn.GroupNorm, 6, 6), (1, 6, 7), False),
    ("group_norm_rank_2", partial(nn.GroupNorm, 2, 6), (3, 6), False),
    ("group_norm_rank_5", partial(nn.GroupNorm, 2, 4), (1, 4, 2, 3, 3), False),
    ("instance_norm1d", partial(nn.InstanceNorm1d, 4), (1, 4, 7), False),
    ("instance_norm2d", partial(nn.InstanceNorm2d, 4, affine=True), (1, 4, 3, 5), True),
    ("instance_norm2d_batch", partial(nn.InstanceNorm2d, 4, affine=True), (2, 4, 3, 5), False),
    ("instance_norm3d", partial(nn.InstanceNorm3d, 3), (1, 3, 2, 3, 4), False),
    ("batch_norm_own", partial(nn.BatchNorm2d, 3, track_running_stats=False), (2, 3, 4, 5), False),
    ("rms_norm", partial(nn.RMSNorm, 6), (4, 6), False),
    ("rms_norm_not_affine", partial(nn.RMSNorm, 6, elementwise_affine=False), (2, 3, 6), False),
    ("rms_norm_two_dims", partial(nn.RMSNorm, (3, 6), eps=1e-3), (2, 3, 6), True),
    ("rms_norm_function", partial(Function, lambda x: functional.rms_norm(x, (6,))), (2, 6), False),
    ("normalize", partial(Function, functional.normalize), (1, 6, 4, 5), False),
    ("normalize_rows", partial(Function, partial(functional.normalize, dim=-1)), (5, 9), False),
    ("rms_norm_written", partial(Function, lambda x: x * _rms(x)), (4, 6), False),
    ("layer_norm_written", _Written, (1, 6, 4, 5), True),
    ("normalize_floor", partial(Function, partial(functional.normalize, eps=2.5)), (7, 4), False),
    ("standardized", partial(Function, _standardized), (2, 3, 9), False),
    ("normalize_sum", partial(Function, lambda x: x / (x.norm() + 1)), (3, 5), False),
)


def cases() -> Iterator[Case]:
    module: Callable[[], nn.Module]
    for name, shape, arguments in _MEAN:
        module = partial(Function, partial(torch.mean, **arguments))
        yield Case(f"mean_{name}", module, (Input(shape),), {"mean": 1})
    image = Input((1, 6, 4, 5), channels_last=True)
    module = partial(Function, partial(torch.mean, dim=(2, 3)))
    yield Case("mean_channels_last", module, (image,), {"mean": 1})
    offset = Input((2, 12), 5.0, 6.0)
    yield Case("mean_offset", partial(Function, partial(torch.mean, dim=1)), (offset,), {"mean": 1})
    for name, shape, arguments in _MAX:
        module = partial(Function, partial(torch.max, **arguments))
        yield Case(f"max_{name}", module, (Input(shape),), {"max_with_indices": 1})
    for name, shape, arguments in _ARGMAX:
        module = partial(Function, partial(torch.argmax, **arguments))
        yield Case(f"argmax_{name}", module, (Input(shape),), {"max_with_indices": 1})
    for name, function, shape, ops in _OTHERS:
        yield Case(f"reduction_{name}", partial(Function, function), (Input(shape),), ops)
    for name, function, ops in (
        ("amax", lambda x: x.amax(1), {"amax": 1}),
        ("std", lambda x: x.std((2, 3)), {"second_moment": 1}),
        ("logsumexp", lambda x: x.logsumexp((2, 3)), {"logsumexp": 1}),
    ):
        yield Case(f"{name}_channels_last", partial(Function, function), (image,), ops)
    values = partial(Function, lambda x: x.max(1).values - 0.5)
    yield Case("max_values", values, (Input((4, 6)),), {"amax": 1, "lut": 1})
    module = partial(Function, partial(torch.max, dim=1))
    yield Case("max_channels_last", module, (image,), {"max_with_indices": 1})
    for op, function in (("softmax", functional.softmax), ("log_softmax", functional.log_softmax)):
        for shape in _SOFTMAX:
            for dim in range(len(shape)):
                module = partial(Function, partial(function, dim=dim))
                name = f"{op}_rank_{len(shape)}_dim_{dim}"
                yield Case(name, module, (Input(shape, -4.0, 4.0),), {op: 1})
        last = partial(Function, partial(function, dim=-1))
        yield Case(f"{op}_negative_dim", last, (Input((2, 6)),), {op: 1})
        yield Case(f"{op}_wide", last, (Input((1, 8), -40.0, 40.0),), {op: 1})
        yield Case(f"{op}_narrow", last, (Input((1, 8), -1e-2, 1e-2),), {op: 1})
        yield Case(f"{op}_many_values", last, (Input((1, 1000)),), {op: 1})
        image = Input((1, 4, 3, 5), channels_last=True)
        channels = partial(Function, partial(function, dim=1))
        # torch's result is not channels_last here: one transpose restores that for the user.
        yield Case(f"{op}_channels_last", channels, (image,), {op: 1}, 1)
    for name, norm, shape, relu in _NORMS:
        module = partial(sequence, norm, *([nn.ReLU] if relu else []))
        yield Case(name, module, (Input(shape),), {"normalize": 1})
    image = Input((1, 6, 4, 5), channels_last=True)
    yield Case("group_norm_channels_last", partial(nn.GroupNorm, 3, 6), (image,), {"normalize": 1})
    alone = partial(Function, partial(functional.softmax, dim=-1))
    yield Case("softmax_one_value", alone, (Input((4, 1)),), {"softmax": 1})
    yield Case("softmax_2d", nn.Softmax2d, (Input((1, 4, 3, 5)),), {"softmax": 1})


factory, calibration, test_inputs = as_model(cases)
