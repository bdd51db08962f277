# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::max_with_indices and pl::topk."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import activation, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.exponentials import rows


def cases() -> Iterator[Case]:
    for name, given, dim, board, _ in rows("max_with_indices", 100):
        yield _case(name, given, dim, given.size % 2 == 0, board)
        halves = given.astype(np.float32) / 8.0
        yield _case(f"{name}, float32", halves, dim, given.size % 2 == 0, board)
        if board:
            yield _case(f"{name}, int16", _wide(given), dim, given.size % 2 == 0, board)
    for place in (0, 1, 6, 12):
        given = np.full((2, 13, 3), -128, np.int8)
        given[:, place] = [-127, 0, 127]
        yield _case(f"at {place}", given, 1, False, place == 12)
    for first in range(4):
        given = np.full((1, 9), -5, np.int8)
        given[:, first::2] = 4
        yield _case(f"several from {first}", given, 1, True, first == 2)
    for first in (15, 16, 33, 39):
        given = np.full((3, 40), -128, np.int8)
        given[1:, first:] = [[-128], [5]]
        given[1, first] = 127
        yield _case(f"late in a row, {first}", given, 1, False, True)
        for inner in (2, 4, 9):
            columns = np.stack([np.roll(given, step, 1) for step in range(inner)], 2)
            yield _case(f"late in {inner} columns, {first}", columns, 1, False, True)
    for name, given, dim, board, values in rows("topk", 100):
        if given.size <= 1000:
            k = values.choice([1, given.shape[dim], values.integer(1, given.shape[dim])])
            largest = bool(values.integer(0, 1))
            yield _topk(name, given, k, dim, largest, board)
            halves = given.astype(np.float32) / 8.0
            yield _topk(f"{name}, float32", halves, k, dim, largest, board)
            if board:
                yield _topk(f"{name}, int16", _wide(given), k, dim, largest, board)
                wide = _wide(given).astype(np.int32) * 0xFFFF
                yield _topk(f"{name}, int32", wide, k, dim, largest, board)
    few = np.array([[1, 0, -128, 1, 127, -128, 0, 127, 1]], np.int8)
    for k in range(1, 10):
        for largest in (True, False):
            yield _topk(f"several, {k}, {largest}", few, k, 1, largest, k == 4)
            wide = few.astype(np.int16) * 258
            yield _topk(f"several, {k}, {largest}, int16", wide, k, 1, largest, k == 4)
            yield _topk(f"several, {k}, {largest}, int32", _INTEGERS, k, 1, largest, k == 4)
            yield _topk(f"floats, {k}, {largest}", _SPECIAL, k, 1, largest, k == 4)
    yield _case("floats", _SPECIAL, 1, False, True)
    yield _case("floats, no NaN", _SPECIAL[:, 3:], 1, False, True)


_SPECIAL = np.array([[0.5, np.nan, -1.0, 0.5, np.inf, -np.inf, np.inf, 2.0, 0.25]], np.float32)

_ENDS = -(2**31), 2**31 - 1
_INTEGERS = np.array([[1, 0, _ENDS[0], 1, _ENDS[1], _ENDS[0], -1, _ENDS[1], 65536]], np.int32)


def _wide(given: AnyArray) -> AnyArray:
    """Return int16 values ordered unlike int8 ones: the low bytes decide."""
    return (given.astype(np.int16) >> 6) * 8192 + given


def _case(name: str, given: AnyArray, dim: int, keepdim: bool, board: bool) -> Case:
    attributes = {"dim": dim, "keepdim": keepdim}
    inputs = {"input": given}
    return Case(name, "pl::max_with_indices", inputs, attributes=attributes, board=board)


def _topk(name: str, given: AnyArray, k: int, dim: int, largest: bool, board: bool) -> Case:
    attributes = {"k": k, "dim": dim, "largest": largest}
    return Case(f"topk, {name}", "pl::topk", {"input": given}, attributes=attributes, board=board)


CALLS = [
    Valid(
        OpCall(
            "pl::max_with_indices",
            {"input": activation(2, 8), "dim": 1, "keepdim": False},
            (activation(2, name="y"), activation(2, dtype="int32", name="indices")),
        ),
        refused=[
            ({"dim": 2}, "dim is 2, not in \\[0, 1\\]"),
            ({"keepdim": True}, "they should be \\[2, 1\\]"),
            (
                {"input": activation(2, 8, dtype="int32")},
                "input is int32, not int8, int16 or float32",
            ),
            ({"input": floats(2, 8)}, "is int8, not float32"),
        ],
    ),
    Valid(
        OpCall(
            "pl::topk",
            {"input": activation(2, 8), "k": 3, "dim": 1, "largest": True},
            (activation(2, 3, name="y"), activation(2, 3, dtype="int32", name="indices")),
        ),
        refused=[
            ({"k": 9}, "k is 9, not in \\[1, 8\\]"),
            (
                {"input": activation(2, 8, dtype="bool")},
                "input is bool, not int8, int16, float32 or int32",
            ),
            ({"k": 2}, "they should be \\[2, 2\\]"),
        ],
    ),
]

_TOPK_S32 = "max_with_indices/topk_s32_scalar.c"
_TOPK_S16 = "max_with_indices/topk_s16_scalar.c"
_TOPK = "max_with_indices/topk_s8_scalar.c"
_SOURCE = "max_with_indices/max_with_indices_s8_scalar.c"
MUTANTS = [
    Mutant("max_with_indices/max_with_indices_f32_scalar.c", "a > b ||", "a >= b ||"),
    Mutant("max_with_indices/topk_f32_scalar.c", "a > b || (a != a && b == b)", "a > b"),
    Mutant("max_with_indices/max_with_indices_s16_scalar.c", "*x > largest", "*x >= largest"),
    Mutant(_TOPK_S16, "params->largest ? 0 : -1", "params->largest ? -1 : 0"),
    Mutant(_TOPK_S32, "params->largest ? 0 : -1", "params->largest ? -1 : 0"),
    Mutant(_TOPK_S32, "value > (", "value >= ("),
    Mutant(_SOURCE, "*x > largest", "*x >= largest"),
    Mutant(_SOURCE, "x += dims->inner", "x += 1"),
    Mutant(_SOURCE, "outer * dims->size * dims->inner", "outer * dims->size"),
    Mutant(_TOPK, "value > (", "value >= ("),
    Mutant(_TOPK, "params->largest ? 0 : -1", "params->largest ? -1 : 0"),
    Mutant(_TOPK, "outer * params->k * dims->inner", "outer * params->k"),
]


def layers() -> Iterator[Layer]:
    values = activation(1, 16, 16, name="values")
    indices = activation(1, 16, 16, dtype="int32", name="indices")
    arguments = {"input": activation(1, 16, 16, 8), "dim": 3, "keepdim": False}
    call = OpCall("pl::max_with_indices", arguments, (values, indices))
    yield Layer("max with indices over channels, 16x16x8", call)
    outputs = activation(1, 5, name="values"), activation(1, 5, dtype="int32", name="indices")
    arguments = {"input": activation(1, 100), "k": 5, "dim": 1, "largest": True}
    yield Layer("topk, 5 of 100", OpCall("pl::topk", arguments, outputs))
