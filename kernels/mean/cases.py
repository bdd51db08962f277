# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::mean."""

import math
from collections.abc import Iterator

from kernels.common.kernel import AnyArray, Isa, OpCall
from kernels.testing.calls import activation
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.reductions import reductions
from kernels.testing.values import Values

_COLUMNS: list[tuple[str, tuple[int, ...], list[int], bool, bool | Isa]] = [
    ("columns", (3, 7, 45), [1], False, True),
    ("columns of images", (2, 5, 4, 64), [1, 2], True, True),
    ("columns of most values", (1, 255, 33), [1], False, True),
    ("columns of many values", (1, 511, 40), [1], False, True),
    ("one neighbour", (2, 6, 1, 1), [1], True, False),
    ("one value, rows of a few", (1, 32, 12, 1), [3], True, True),
    ("one value, rows of many", (1, 3, 5, 40), [0], True, True),
    ("one value, rows of one", (40, 1, 1), [1], True, True),
    ("few neighbours", (2, 9, 5), [1], False, True),
    ("a vector of neighbours", (1, 255, 8), [1], False, True),
    ("neighbours of images", (2, 3, 3, 9), [1, 2], True, True),
    ("two vectors of neighbours", (3, 7, 16), [1], False, True),
    ("more than two vectors", (2, 6, 17), [1], False, True),
    ("three vectors of most values", (1, 255, 24), [1], False, True),
    ("three vectors of too many values", (1, 256, 24), [1], False, "mve"),
    ("two vectors of many values", (2, 300, 9), [1], False, "mve"),
    ("two whole vectors of many values", (1, 256, 16), [1], False, "mve"),
    ("three vectors of many values", (1, 511, 17), [1], False, "mve"),
    ("four vectors of many values", (2, 20, 13, 29), [1, 2], True, "mve"),
    ("more than three vectors", (2, 4, 25), [1], False, True),
    ("five vectors", (2, 5, 40), [1], False, True),
]
"""Sums of adjacent columns: name, shape, dim, keepdim, also on boards."""


def cases() -> Iterator[Case]:
    for name, shape, dim, keepdim, board in [*reductions(150), *_COLUMNS]:
        values = Values("mean", name)
        count = math.prod(shape[d] for d in dim)
        for kind, zero_point in values.zero_points():
            given, factor = values.int8(*shape), values.factor(4 / count)
            points = (zero_point(), zero_point())
            yield _case(f"{name}, {kind}", given, dim, keepdim, factor, points, board)
    for shift in (-31, -12, -1, 0, 2, 30):
        for multiplier in (2**30, 2**31 - 1, 2**29 + 1, 1, 0):
            for output in (-128, 127):
                name = f"factor {multiplier}, {shift}, zero point {output}"
                values = Values("mean", name)
                given, board = values.extreme_int8(3, 50), shift in (-1, 30)
                factor, points = (multiplier, shift), (0, output)  # 0: sums of both signs
                yield _case(name, given, [1], False, factor, points, board)
                given = given.reshape(10, 15)
                yield _case(f"neighbours, {name}", given, [0], False, factor, points, shift == -1)
    for name, shape, dim, keepdim, board in reductions(30):
        values = Values("mean int16", name)
        given, factor = values.int16(*shape), values.factor(4 / math.prod(shape[d] for d in dim))
        yield _case(f"int16 {name}", given, dim, keepdim, factor, (0, 0), board)


def _case(
    name: str,
    given: AnyArray,
    dim: list[int],
    keepdim: bool,
    factor: tuple[int, int],
    zero_points: tuple[int, int],
    board: bool | Isa,
) -> Case:
    attributes = {
        "dim": dim,
        "keepdim": keepdim,
        "input_zero_point": zero_points[0],
        "output_zero_point": zero_points[1],
        "multiplier": factor[0],
        "shift": factor[1],
    }
    return Case(name, "pl::mean", {"input": given}, attributes=attributes, board=board)


CALLS = [
    Valid(
        OpCall(
            "pl::mean",
            {
                "input": activation(2, 8),
                "dim": [1],
                "keepdim": False,
                "input_zero_point": 0,
                "output_zero_point": 0,
                "multiplier": 2**30,
                "shift": -2,
            },
            (activation(2, name="y"),),
        ),
        refused=[
            ({"dim": [2]}, "does not fit 2 dimensions"),
            ({"keepdim": True}, "it should be \\[2, 1\\]"),
        ],
    ),
    Valid(
        OpCall(
            "pl::mean",
            {
                "input": activation(2, 8, dtype="int16"),
                "dim": [1],
                "keepdim": False,
                "input_zero_point": 0,
                "output_zero_point": 0,
                "multiplier": 2**30,
                "shift": -2,
            },
            (activation(2, dtype="int16", name="y"),),
        ),
        refused=[
            ({"input": activation(2, 70000, dtype="int16")}, "a sum of 70000 int16 values"),
            ({"input_zero_point": 1}, "input_zero_point is 1"),
        ],
    ),
]

MUTANTS = [
    Mutant(
        "common/requantize.h",
        "pl_clamp(x, minimum - zero_point, maximum - zero_point) + zero_point",
        "pl_clamp(x + zero_point, minimum, maximum)",
    ),
    Mutant("mean/mean_s8_scalar.c", "sum1 = params->offset", "sum1 = 0"),
    Mutant("mean/mean_rows_s8_scalar.c", "sums[c] = params->offset", "sums[c] = 0"),
    Mutant("mean/mean_rows_s8_scalar.c", "x += channels", "x += 1"),
    Mutant("mean/mean_rows_s8_scalar.c", "dims->rows * dims->pixels", "dims->rows"),
    Mutant("mean/mean_rows_s8_scalar.c", "< dims->count", "<= dims->count"),
    Mutant("mean/mean_s8_scalar.c", "j * dims->kept_stride[1]", "j * dims->kept_stride[0]"),
    Mutant("mean/mean_s8_scalar.c", "x += dims->kept_stride[2]) *", "++x) *"),
    Mutant("mean/mean_s16_scalar.c", "x += dims->kept_stride[2])", "++x)"),
    Mutant("mean/mean_s16_scalar.c", "at += step", "++at"),
    Mutant("mean/mean_s16_scalar.c", "INT16_MIN", "INT32_MIN"),
]


def layers() -> Iterator[Layer]:
    for h, w, c, peer in (
        (25, 5, 64, "dscnn/avgpool"),
        (3, 3, 256, "vww/avgpool"),
        (8, 8, 64, "resnet8/avgpool"),
        (7, 7, 24, ""),
        (4, 4, 40, ""),
        (6, 6, 10, ""),
        (16, 16, 64, ""),
        (20, 20, 24, ""),
    ):
        arguments = {
            "input": activation(1, h, w, c),
            "dim": [1, 2],
            "keepdim": True,
            "input_zero_point": -128,
            "output_zero_point": -128,
            "multiplier": 1098017566,
            "shift": -5,
        }
        call = OpCall("pl::mean", arguments, (activation(1, 1, 1, c, name="y"),))
        yield Layer(f"mean {h}x{w}x{c}", call, peer)
