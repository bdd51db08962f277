# SPDX-License-Identifier: Apache-2.0
"""Ops that move values: reshape, transpose, cat, slice, pad, gather; and split ops."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from tests.ops.bundle import as_model
from tests.ops.case import Case, Function, Input, spatial

# name, function, input shape, dialect ops, transposes
_ONE_INPUT: tuple[
    tuple[str, Callable[[torch.Tensor], object], tuple[int, ...], Mapping[str, int], int], ...
] = (
    ("reshape", lambda x: x.reshape(4, 6), (2, 3, 4), {}, 0),
    ("reshape_inferred", lambda x: x.reshape(1, -1), (2, 3, 4), {}, 0),
    ("view", lambda x: x.view(6, 4), (2, 3, 4), {}, 0),
    ("flatten", lambda x: x.flatten(1), (1, 3, 4, 2), {}, 0),
    ("flatten_middle", lambda x: x.flatten(1, 2), (2, 3, 4, 5), {}, 0),
    ("unflatten", lambda x: torch.unflatten(x, 1, (3, 4)), (2, 12), {}, 0),
    ("squeeze", lambda x: x.squeeze(), (1, 3, 1, 4), {}, 0),
    ("squeeze_dim", lambda x: x.squeeze(2), (1, 3, 1, 4), {}, 0),
    ("squeeze_negative_dims", lambda x: x.squeeze((0, -2)), (1, 3, 1, 4), {}, 0),
    ("unsqueeze", lambda x: x.unsqueeze(1), (3, 4), {}, 0),
    ("unsqueeze_last", lambda x: x.unsqueeze(-1), (3, 4), {}, 0),
    ("permute_2d", lambda x: x.permute(1, 0), (3, 5), {}, 1),
    ("t", lambda x: x.t(), (3, 5), {}, 1),
    ("transpose", lambda x: x.transpose(1, 2), (2, 3, 5), {}, 1),
    ("transpose_negative_dims", lambda x: x.transpose(-1, -3), (2, 3, 5), {}, 1),
    ("permute_4d", lambda x: x.permute(0, 2, 3, 1), (1, 3, 4, 5), {}, 1),
    ("permute_reversed", lambda x: x.permute(3, 2, 1, 0), (2, 3, 4, 5), {}, 1),
    ("permute_6d", lambda x: x.permute(0, 3, 1, 4, 2, 5), (1, 2, 3, 2, 2, 3), {}, 1),
    ("permute_size_1", lambda x: x.permute(0, 2, 1), (3, 1, 5), {}, 0),
    ("permute_and_back", lambda x: x.permute(1, 2, 0).permute(2, 0, 1), (2, 3, 4), {}, 0),
    ("slice", lambda x: x[:, 1:3], (2, 5, 3), {"slice": 1}, 0),
    ("slice_negative", lambda x: x[:, -3:-1], (2, 5, 3), {"slice": 1}, 0),
    ("slice_past_the_end", lambda x: x[:, 2:100], (2, 5), {"slice": 1}, 0),
    ("slice_step", lambda x: x[:, ::2], (2, 7, 3), {"slice": 1}, 0),
    ("slice_step_last_dim", lambda x: x[..., 1::3], (2, 10), {"slice": 1}, 0),
    ("slice_two_dims", lambda x: x[:, 1:, :2], (2, 4, 5), {"slice": 2}, 0),
    ("narrow", lambda x: x.narrow(1, 2, 2), (2, 5, 3), {"slice": 1}, 0),
    ("select", lambda x: x[:, 2], (2, 5, 3), {"slice": 1}, 0),
    ("select_negative", lambda x: x.select(-1, -2), (2, 5, 3), {"slice": 1}, 0),
    ("split_even", lambda x: torch.split(x, 2, dim=1), (2, 6, 3), {"slice": 3}, 0),
    ("split_rest", lambda x: torch.split(x, 4, dim=1), (2, 6, 3), {"slice": 2}, 0),
    ("split_sizes", lambda x: torch.split(x, [1, 3, 2], dim=-1), (2, 3, 6), {"slice": 3}, 0),
    ("split_one_part_used", lambda x: torch.split(x, 2, dim=1)[1], (2, 6), {"slice": 1}, 0),
    ("chunk", lambda x: x.chunk(2, dim=1), (1, 6, 4, 4), {"slice": 2}, 0),
    ("chunk_rest", lambda x: x.chunk(3, dim=0), (7, 2), {"slice": 3}, 0),
    ("unbind", lambda x: x.unbind(1), (2, 3, 4), {"slice": 3}, 0),
    ("pad_last_dim", lambda x: functional.pad(x, (1, 2)), (2, 5), {"pad": 1}, 0),
    ("pad_spatial", lambda x: functional.pad(x, (1, 0, 2, 1)), (1, 2, 3, 4), {"pad": 1}, 0),
    ("pad_channels", lambda x: functional.pad(x, (0, 0, 0, 0, 1, 2)), (1, 2, 3, 4), {"pad": 1}, 0),
    ("pad_value", lambda x: functional.pad(x, (2, 2), value=0.75), (2, 5), {"pad": 1}, 0),
    ("pad_value_outside", lambda x: functional.pad(x, (2, 2), value=-9.0), (2, 5), {"pad": 1}, 0),
    ("pad_and_crop", lambda x: functional.pad(x, (-1, 2)), (2, 5), {"slice": 1, "pad": 1}, 0),
    ("pad_nothing", lambda x: functional.relu(functional.pad(x, (0, 0))), (2, 5), {"lut": 1}, 0),
    ("stack", lambda x: torch.stack((x, x * 0.5), dim=1), (2, 3), {"lut": 1, "cat": 1}, 0),
    ("expand_nothing", lambda x: functional.relu(x.expand(2, 5)), (2, 5), {"lut": 1}, 0),
    ("cat_itself", lambda x: torch.cat((x, x), dim=1), (2, 3), {"cat": 1}, 0),
    ("identity", lambda x: x, (2, 5), {}, 0),
    ("identity_beside_another", lambda x: (x, functional.relu(x), x), (2, 5), {"lut": 1}, 0),
    ("slice_all", lambda x: x[:, :1], (2, 1, 3), {}, 0),
    ("contiguous", lambda x: functional.relu(x.contiguous()), (2, 5), {"lut": 1}, 0),
    (
        "flip_by_slices",
        lambda x: torch.cat((x[:, 2:], x[:, :2]), 1),
        (2, 5),
        {"slice": 2, "cat": 1},
        0,
    ),
    (
        "pixel_unshuffle",
        partial(functional.pixel_unshuffle, downscale_factor=2),
        (1, 2, 4, 6),
        {},
        1,
    ),
    ("pixel_shuffle", partial(functional.pixel_shuffle, upscale_factor=2), (1, 8, 2, 3), {}, 1),
    ("channel_shuffle", partial(functional.channel_shuffle, groups=2), (1, 6, 3, 2), {}, 1),
)


# name, function, input shape: one gather each
_GATHERED: tuple[tuple[str, Callable[[torch.Tensor], object], tuple[int, ...]], ...] = (
    ("upsample_nearest", partial(functional.interpolate, scale_factor=2), (1, 3, 4, 5)),
    ("upsample_nearest_rows", partial(functional.interpolate, scale_factor=(3, 1)), (1, 3, 4, 5)),
    ("upsample_nearest_fraction", partial(functional.interpolate, size=(3, 7)), (1, 3, 4, 5)),
    ("upsample_nearest_1d", partial(functional.interpolate, scale_factor=1.5), (1, 3, 6)),
    ("upsample_nearest_3d", partial(functional.interpolate, scale_factor=2), (1, 2, 2, 3, 2)),
    (
        "upsample_nearest_exact",
        partial(functional.interpolate, size=(3, 7), mode="nearest-exact"),
        (1, 3, 4, 5),
    ),
    ("pad_reflect_1d", lambda x: functional.pad(x, (2, 1), mode="reflect"), (1, 2, 5)),
    ("pad_reflect_2d", lambda x: functional.pad(x, (2, 1, 1, 3), mode="reflect"), (1, 2, 4, 5)),
    ("pad_replicate_2d", lambda x: functional.pad(x, (2, 1, 0, 3), mode="replicate"), (1, 2, 4, 5)),
    ("pad_replicate_3d", lambda x: functional.pad(x, (1,) * 6, mode="replicate"), (1, 2, 2, 3, 2)),
    ("pad_circular_1d", lambda x: functional.pad(x, (2, 1), mode="circular"), (1, 2, 5)),
    ("pad_circular_2d", lambda x: functional.pad(x, (2, 1, 1, 3), mode="circular"), (1, 2, 4, 5)),
    ("flip", lambda x: x.flip(1), (2, 5, 3)),
    ("flip_two_dims", lambda x: x.flip((1, -1)), (2, 5, 3)),
    ("roll_one_dim", lambda x: x.roll(2, 1), (2, 5, 3)),
    ("roll_two_dims", lambda x: x.roll((1, -2), (1, 2)), (2, 5, 3)),
    ("roll_flat", lambda x: x.roll(4), (2, 5, 3)),
    ("repeat", lambda x: x.repeat(1, 3, 2), (2, 3, 2)),
    ("repeat_more_dims", lambda x: x.repeat(2, 1, 2), (3, 2)),
    ("tile", lambda x: x.tile(2), (3, 2)),
    ("repeat_interleave", lambda x: x.repeat_interleave(2, 1), (2, 3, 2)),
    ("expand", lambda x: x.expand(-1, 4, -1), (2, 1, 3)),
    ("expand_in_front", lambda x: x.expand(2, 3, 4), (3, 4)),
    ("index_select", lambda x: x.index_select(1, torch.tensor([3, 0, 3])), (2, 5, 3)),
    ("index_list", lambda x: x[:, [2, 3, -5]], (2, 5, 3)),
    ("index_grid", lambda x: x[:, [[0], [2]], [1, 0, 1]], (2, 5, 3)),
    ("index_pairs", lambda x: x[:, [0, 4, 1], [1, 0, 2]], (2, 5, 3)),
    ("index_pairs_apart", lambda x: x[[0, 1, 1], :, [1, 0, 2]], (2, 5, 3)),
    ("gather", lambda x: x.gather(1, torch.tensor([[4, 1, 0], [2, 2, 3]])), (2, 5)),
    ("take_along_dim", lambda x: torch.take_along_dim(x, torch.tensor([[2, 0]]), 1), (3, 4)),
    ("windows", lambda x: x.unfold(1, 3, 2), (2, 7)),
    ("windows_inside", lambda x: x.unfold(1, 2, 1), (2, 4, 3)),
    ("diagonal", lambda x: x.diagonal(1, 1, 2), (2, 4, 4)),
)

# name, function of a tensor and indices, its shape, transposes
_BY_COMPUTED_INDICES: tuple[
    tuple[str, Callable[[torch.Tensor, torch.Tensor], object], tuple[int, ...], int], ...
] = (
    ("select_rows", lambda x, i: x.index_select(0, i), (4, 5), 0),
    ("select_elements", lambda x, i: x.index_select(0, i), (6,), 0),
    ("select_channels", lambda x, i: x.index_select(1, i), (1, 3, 2, 2), 0),
    ("select_last", lambda x, i: x.index_select(-1, i), (2, 3, 4), 2),
    ("select_by_brackets", lambda x, i: x[:, i], (2, 5, 3), 2),
    ("select_grid", lambda x, i: x[i], (4, 3), 0),
    ("select_grid_inside", lambda x, i: x[:, i], (2, 4, 3), 2),
)

_PLACES, _SOME = Input((3, 2), below=2), Input((2, 2, 4), below=3)
_ROW, _FEW = Input((3,), below=2), Input((2,), below=3)

_GRID = Input((1, 2, 5, 2), -1.2, 1.2)
_BOUNDS, _TABLE = torch.tensor([-1.0, 0.0, 0.5]), torch.linspace(-1.0, 1.0, 12).reshape(4, 3)

_SAMPLED = {
    "slice": 2,
    "integer_lut": 4,
    "lut": 4,
    "integer_add": 4,
    "embedding": 4,
    "mul": 8,
    "add": 3,
}
_TAKEN = {"integer_place": 1, "embedding": 1}
_POOL = {"gather": 1, "max_with_indices": 1, "embedding": 1}

# name, function, inputs after x (floats [2, 3, 4]), ops, transposes
_BY_PLACE: tuple[
    tuple[str, Callable[..., object], tuple[Input, ...], Mapping[str, int], int], ...
] = (
    ("take_elements", lambda x, i: x.gather(2, i), (Input((2, 3, 2), below=4),), _TAKEN, 0),
    ("take_first", lambda x, i: x.gather(0, i), (Input((1, 3, 4), below=2),), _TAKEN, 0),
    ("take_steps", lambda x, i: x.gather(1, _wide(i)), (Input((2, 2), below=3),), _TAKEN, 0),
    ("take_by_two", lambda x, i: x[i, i], (_PLACES,), _TAKEN, 0),
    ("take_apart", lambda x, i: x[i, :, i], (_PLACES,), _TAKEN, 1),
    ("take_each_last", lambda x, i: x[torch.arange(2), i], (Input((2,), below=3),), _TAKEN, 0),
    (
        "put_rows",
        lambda x, i, y: _put(x, i, y),
        (_ROW, Input((3, 1, 4))),
        {"gather": 1, "scatter": 1},
        0,
    ),
    (
        "put_last",
        lambda x, i, y: x.index_copy(2, i, y),
        (_FEW, Input((2, 3, 2))),
        {"scatter": 1},
        3,
    ),
    ("put_number", lambda x, i: x.index_fill(1, i, 0.5), (_ROW,), {"scatter": 1}, 3),
    (
        "put_by_two",
        lambda x, i, y: _put(x, (i, i), y),
        (_PLACES, Input((4,))),
        {"gather": 1, "integer_place": 1, "scatter": 1},
        0,
    ),
    (
        "put_elements",
        lambda x, i, y: x.scatter(1, i, y),
        (_SOME, Input((2, 3, 4))),
        {"integer_place": 2, "slice": 1, "scatter": 1},
        0,
    ),
    (
        "put_zeros",
        lambda x, i: x.scatter(1, i, 0.0),
        (_SOME,),
        {"integer_place": 2, "scatter": 1},
        0,
    ),
    (
        "add_rows",
        lambda x, i, y: x.index_add(1, i, y),
        (_FEW, Input((2, 2, 4))),
        {"scatter_sum": 1, "add": 1},
        2,
    ),
    (
        "add_elements",
        lambda x, i: torch.zeros_like(x).scatter_add(1, i, x),
        (_SOME,),
        {"integer_place": 2, "slice": 1, "scatter_sum": 1},
        0,
    ),
    (
        "add_to_nodes",
        lambda x, i: x.new_zeros(5, 3, 4).index_add(0, i, x),
        (_FEW,),
        {"scatter_sum": 1},
        0,
    ),
    (
        "largest_of_rows",
        lambda x, i, y: x.index_reduce(1, i, y, "amax", include_self=False),
        (_FEW, Input((2, 2, 4))),
        {"amin": 1, "integer_equal": 1, "where": 2, "amax": 2},
        3,
    ),
    (
        "mean_of_elements",
        lambda x, i: x.scatter_reduce(1, i, x, "mean"),
        (_SOME,),
        {"integer_place": 4, "slice": 1, "scatter_sum": 2, "add": 1, "lut": 1, "div": 1},
        0,
    ),
    ("fold", lambda x: functional.fold(x.reshape(1, 4, 6), (3, 4), 2), (), {"scatter_sum": 1}, 1),
    (
        "max_unpool",
        lambda x: _unpooled(x.reshape(1, 1, 4, 6)),
        (),
        {"max_with_indices": 1, "embedding": 1, "integer_add": 2, "scatter": 1},
        1,
    ),
    ("pool_places", lambda x: _pooled(x.reshape(1, 2, 3, 4)), (), {**_POOL, "integer_add": 1}, 0),
    ("bucketed", lambda x: torch.bucketize(x, _BOUNDS), (), {"integer_lut": 1}, 0),
    (
        "taken_by_bucket",
        lambda x: _TABLE[torch.searchsorted(_BOUNDS, x[0], side="right")],
        (),
        {"slice": 1, "integer_lut": 1, "embedding": 1},
        0,
    ),
    ("samples", lambda x, grid: _samples(x, grid), (_GRID,), _SAMPLED, 2),
    (
        "pixels",
        lambda x, grid: _samples(x, grid, mode="nearest", padding_mode="border"),
        (_GRID,),
        {"slice": 2, "integer_lut": 2, "integer_add": 1, "embedding": 1},
        2,
    ),
)


def _wide(indices: torch.Tensor) -> torch.Tensor:
    return indices.unsqueeze(-1).expand(-1, -1, 4)


def _put(x: torch.Tensor, indices: Any, y: torch.Tensor) -> torch.Tensor:
    return torch.index_put(x, indices if isinstance(indices, tuple) else (indices,), y)


def _samples(x: torch.Tensor, grid: torch.Tensor, **how: Any) -> torch.Tensor:
    return functional.grid_sample(x[None], grid, align_corners=False, **how)


def _pooled(x: torch.Tensor) -> object:
    return functional.max_pool2d(x, 3, 2, 1, return_indices=True)


def _unpooled(x: torch.Tensor) -> torch.Tensor:
    largest, places = functional.max_pool2d(x, 2, return_indices=True)
    return functional.max_unpool2d(largest, places, [2, 2])


def cases() -> Iterator[Case]:
    for name, gathered, shape in _GATHERED:
        yield Case(name, partial(Function, gathered), (Input(shape),), {"gather": 1})
    for name, function, shape, ops, transposes in _ONE_INPUT:
        yield Case(name, partial(Function, function), (Input(shape),), ops, transposes)
    yield Case("flatten_module", nn.Flatten, (Input((1, 3, 4, 2)),), {})
    yield Case(
        "flatten_channels_last", nn.Flatten, (Input((1, 3, 4, 2), channels_last=True),), {}, 1
    )
    for what, dim in (("0", 0), ("1", 1), ("2", 2), ("3", 3), ("negative", -2)):
        shapes = [[1, 3, 4, 5], [1, 3, 4, 5]]
        shapes[1][dim] += 2
        same = tuple(Input(tuple(shape)) for shape in shapes)
        module = partial(Function, partial(_cat, dim=dim))
        yield Case(f"cat_dim_{what}", module, same, {"cat": 1})
    ranges = (Input((2, 3), -1.0, 1.0), Input((2, 4), 0.0, 6.0), Input((2, 2), -3.0, -2.0))
    ops = {"slice": 1, "lut": 1, "cat": 1, "gather": 1}
    yield Case("assign_every_second", partial(Function, _assign), (Input((2, 6)),), ops)
    patches = partial(functional.unfold, kernel_size=2, padding=1)
    ops = {"pad": 1, "gather": 1}
    yield Case("patches", partial(Function, patches), (Input((1, 2, 3, 4)),), ops, 1)
    reflected = partial(nn.Conv2d, 3, 4, 3, padding=1, padding_mode="reflect")
    ops = {"gather": 1, "conv2d": 1}
    yield spatial("conv2d_padded_by_reflection", reflected, (1, 3, 5, 4), ops)
    yield Case("cat_of_three_ranges", partial(Function, partial(_cat, dim=1)), ranges, {"cat": 1})
    moved = partial(Function, _choose_by_moved_mask)
    yield Case("mask_moved", moved, (Input((2, 3, 4)),), _OF_MOVED_MASK, 1)
    yield Case("indices_moved", Moved, (Input((2, 5), below=9),), _OF_MOVED_INDICES, 1)
    for name, shape in (("", (2, 5)), ("_rank_1", (3,)), ("_of_one", (1, 1))):
        rows = (Input(shape, below=11),)
        yield Case(f"embedding{name}", partial(nn.Embedding, 11, 6), rows, {"embedding": 1})
    for name, taken, shape, transposes in _BY_COMPUTED_INDICES:
        given = (Input(shape), Input((2, 3) if "grid" in name else (3,), below=2))
        yield Case(name, partial(Function, taken), given, {"embedding": 1}, transposes)
    for name, function, others, ops, transposes in _BY_PLACE:
        inputs = (Input((2, 3, 4)), *others)
        yield Case(f"by_place_{name}", partial(Function, function), inputs, ops, transposes)
    tokens = (Input((2, 5), below=11),)
    yield Case("embedding_with_positions", Tokens, tokens, {"embedding": 1, "add": 1})


_OF_MOVED_MASK = {"mean": 1, "lut": 1, "slice": 1, "cat": 1, "gather": 1, "where": 1}


def _choose_by_moved_mask(x: torch.Tensor) -> torch.Tensor:
    mask = (x > 0)[:, 1:].transpose(1, 2)
    mask = torch.cat((mask, mask.flip(-1)), -1).reshape(2, 16)
    return torch.where(mask, x.sum(), 0.0)


_OF_MOVED_INDICES = {"cat": 1, "gather": 1, "embedding": 1}


class Moved(nn.Module):
    """Embeddings of tokens after a constant first one, in another order."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(9, 4)

    def forward(self, indices: torch.Tensor) -> torch.Tensor:
        first = torch.full((2, 1), 8)
        indices = torch.cat((first, indices[:, 1:].roll(1, 1)), 1)
        embedded: torch.Tensor = self.tokens(indices.t().unsqueeze(0))
        return embedded


class Tokens(nn.Module):
    """Embeddings of tokens, and of their positions as constants."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(11, 6, padding_idx=0)
        self.positions = nn.Embedding(5, 6)

    def forward(self, indices: torch.Tensor) -> torch.Tensor:
        place = torch.arange(indices.shape[1])
        both: torch.Tensor = self.tokens(indices) + self.positions(place)
        return both


def _assign(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(x)
    y[:, ::2] = torch.tanh(x[:, 3:])
    return y


def _cat(*tensors: torch.Tensor, dim: int) -> torch.Tensor:
    return torch.cat(tensors, dim=dim)


factory, calibration, test_inputs = as_model(cases)
