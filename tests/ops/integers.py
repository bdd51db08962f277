# SPDX-License-Identifier: Apache-2.0
"""Integers without quantization: indices, numbers of inputs, and counts."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import torch
from torch.nn import functional

from tests.ops.bundle import as_model
from tests.ops.case import Case, Function, Input

_WRAPPED = {"integer_mul": 1, "integer_sub": 2, "integer_modulo": 2, "integer_add": 2}

# Functions of indices, one list of them for each row.
_INDICES: tuple[tuple[str, Callable[..., object], Mapping[str, int]], ...] = (
    (
        "arithmetic",
        lambda i, j: (i + j) * 3 - j,
        {"integer_add": 1, "integer_mul": 1, "integer_sub": 1},
    ),
    (
        "limits",
        lambda i, j: torch.maximum(i, j).clamp(2, 6),
        {"integer_maximum": 2, "integer_minimum": 1},
    ),
    (
        "quotient",
        lambda i, j: (i - 4) // (j + 1),
        {"integer_divide": 1, "integer_sub": 1, "integer_add": 1},
    ),
    ("rest", lambda i, j: (i - 4) % 3, {"integer_modulo": 1, "integer_sub": 1}),
    (
        "bits",
        lambda i, j: ((i - 9) | j) ^ (i * 3),
        {"integer_and": 2, "integer_sub": 4, "integer_add": 2, "integer_mul": 1},
    ),
    ("all_bits_but_one", lambda i, j: (i - j) & -2, {"integer_sub": 1, "integer_and": 1}),
    ("compared", lambda i, j: (i < j) | (i >= 7), {"integer_less": 2, "where": 2}),
    ("equal", lambda i, j: (i != j) & (i == 3), {"integer_equal": 2, "where": 2}),
    ("as_numbers", lambda i, j: i.float() * 0.5 + j, {"integer_quantize": 2, "lut": 1, "add": 1}),
    ("one_hot", lambda i, j: functional.one_hot(i, 9).float(), {"integer_equal": 1, "where": 1}),
    (
        "bytes",
        lambda i, j: (i * 100 - j).to(torch.uint8),
        {"integer_mul": 1, "integer_sub": 1, "integer_modulo": 1},
    ),
    ("bytes_below_0", lambda i, j: (i * 100 - 300).to(torch.int8).to(torch.int16) + j, _WRAPPED),
    ("mask_of_bytes", lambda i, j: (i < j).to(torch.uint8), {"integer_less": 1, "where": 1}),
)


_COUNTED = {"integer_lut": 2, "integer_sum": 1, "slice": 1, "integer_add": 1}

# Functions of all numbers of an allowed input type.
_NARROW: tuple[tuple[str, Callable[..., object], str, Mapping[str, int]], ...] = (
    ("bytes", lambda x: x.float() / 255, "uint8", {"lut": 1}),
    (
        "bytes_last",
        lambda x: x.permute(0, 3, 1, 2).flip(1) - 127.5,
        "uint8",
        {"gather": 1, "lut": 1},
    ),
    ("bytes_indices", lambda x: x.sum(1).long() + x[:, 0], "uint8", _COUNTED),
    ("bytes_mask", lambda x: x[:, 1:] > 128, "uint8", {"slice": 1, "lut": 1}),
    (
        "bytes_in_a_border",
        lambda x: functional.pad(x.float(), (1, 1), value=300.0),
        "uint8",
        {"lut": 1, "pad": 1},
    ),
    ("bytes_of_bits", lambda x: (x | 3) ^ ~(x << 1), "uint8", {"integer_lut": 1}),
    ("bytes_limited", lambda x: x.clamp(17, 201), "uint8", {"lut": 1}),
    ("int8_smaller", lambda x: torch.minimum(x, x.flip(1)), "int8", {"gather": 1, "minimum": 1}),
    ("int8_divided", lambda x: x // -1, "int8", {"integer_lut": 1}),
    ("samples_smaller", lambda x: torch.maximum(x, x[:, :1]), "int16", {"slice": 1, "maximum": 1}),
    ("bytes_in_order", lambda x: x.sort(-1), "uint8", {"topk": 1}),
    (
        "bytes_chosen",
        lambda x: torch.maximum(x.masked_fill(x > 200, 9), x[:, :1]) / 255,
        "uint8",
        {"slice": 1, "lut": 2, "maximum": 1},
    ),
    ("int8", lambda x: torch.tanh(x / 32.0), "int8", {"lut": 1}),
    ("samples", lambda x: x.float() / 32768, "int16", {"requantize": 1, "lut": 1}),
    ("samples_best", lambda x: x.max(1), "int16", {"max_with_indices": 1}),
    ("samples_mask", lambda x: x >= 300, "int16", {"less": 1}),
    ("samples_unlike", lambda x: x != x[:, :1], "int16", {"slice": 1, "equal": 1}),
    ("samples_place", lambda x: x.argmax(2), "int16", {"max_with_indices": 1}),
)

# Functions of float32: counts and positions.
_COUNTS: tuple[tuple[str, Callable[..., object], Mapping[str, int], int], ...] = (
    (
        "one_hot",
        lambda x: functional.one_hot(x.argmax(2), 4),
        {"max_with_indices": 1, "integer_equal": 1, "where": 1},
        0,
    ),
    (
        "choose",
        lambda x: torch.where(x > 0, x.argmax(2, True), 7),
        {"max_with_indices": 1, "lut": 1, "where": 1},
        0,
    ),
    ("rounded", lambda x: (x * 3.0).floor().long() + 1, {"integer_lut": 1}, 0),
    (
        "read_twice",
        lambda x: ((n := (x * 2.0).long()), n.float() * 0.5),
        {"integer_lut": 1, "integer_quantize": 1, "lut": 1},
        0,
    ),
    ("above_0", lambda x: (x > 0).sum(1), {"lut": 1, "integer_sum": 1}, 0),
    (
        "so_far",
        lambda x: (x > 1).cumsum(1),
        {"lut": 1, "where": 1, "integer_mul": 1, "integer_sum": 1},
        2,
    ),
    ("sum", lambda x: x.argmax(2).sum(), {"max_with_indices": 1, "integer_sum": 1}, 0),
)


def cases() -> Iterator[Case]:
    indices = (Input((2, 5), below=9), Input((5,), below=9))
    for name, function, counts in _INDICES:
        yield Case(f"integer_{name}", partial(Function, function), indices, counts)
    for name, function, dtype, counts in _NARROW:
        whole = Input((1, 3, 4, 5), narrow=dtype)
        yield Case(f"given_{name}", partial(Function, function), (whole,), counts)
    for name, function, counts, transposes in _COUNTS:
        floats = (Input((2, 3, 4)),)
        yield Case(f"counted_{name}", partial(Function, function), floats, counts, transposes)


factory, calibration, test_inputs = as_model(cases)
