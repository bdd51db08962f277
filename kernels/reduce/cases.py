# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::amax, amin, integer_sum, second_moment, logsumexp and cumsum."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import activation, constant, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.exponentials import exp_table, rows, wide_exp_table
from kernels.testing.reductions import reductions
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for op in ("amax", "amin"):
        for name, shape, dim, keepdim, board in reductions(40):
            attributes = {"dim": dim, "keepdim": keepdim}
            given = Values(op, name).int8(*shape)
            yield _case(op, name, given, attributes, board)
            if board:
                bools = Values(op, name, "bools").int8(*shape) > 100
                yield _case(op, f"{name}, bools", bools, attributes, True)
                wide = Values(op, name, "int16").int16(*shape)
                yield _case(op, f"{name}, int16", wide, attributes, True)
    for name, shape, dim, keepdim, board in reductions(20):
        attributes = {"dim": dim, "keepdim": keepdim}
        values = Values("integer_sum", name)
        yield _case("integer_sum", name, values.int32(2**31 - 1, *shape), attributes, board)
        yield _case("integer_sum", f"{name}, bools", values.int8(*shape) > 0, attributes, board)
        yield _case("integer_sum", f"{name}, int16", values.int16(*shape), attributes, board)
    yield from _second_moment()
    yield from _logsumexp()
    yield from _cumsum()


def _second_moment() -> Iterator[Case]:
    for index, (name, shape, dim, keepdim, board) in enumerate(reductions(60)):
        values = Values("second_moment", name)
        for kind, zero_point in values.zero_points():
            multiplier, shift = values.factor(2.0**-23)
            attributes = {
                "dim": dim,
                "keepdim": keepdim,
                "centered": index % 3 > 0,
                "root": index % 2 == 0,
                "input_zero_point": zero_point(),
                "output_zero_point": zero_point(),
                "multiplier": multiplier,
                "shift": shift,
            }
            given = values.int8(*shape)
            yield _case("second_moment", f"{name}, {kind}", given, attributes, board)
        centered, root = index % 3 > 0, index % 2 == 0
        multiplier, shift = values.factor(2.0**-16 if root else 2.0**-31)
        attributes = {**attributes, **_ZERO_POINTS, "multiplier": multiplier, "shift": shift}
        wide = values.choice([values.int16, values.extreme_int16])(*shape)
        yield _case("second_moment", f"{name}, int16", wide, attributes, board)
    for centered in (False, True):
        for root in (False, True):
            for value in (-128, 5, 127):
                # All the same, and half of them as far from the others as can be.
                given = np.full((3, 3000 if value == 5 else 40), value, np.int8)
                given[1, ::2] = -128
                given[2, ::2] = 127
                attributes = {
                    "dim": [1],
                    "keepdim": False,
                    "centered": centered,
                    "root": root,
                    "input_zero_point": -value - 1,
                    "output_zero_point": -128,
                    "multiplier": 2**31 - 1,
                    "shift": -23,
                }
                name = f"extreme {value}, {centered}, {root}"
                yield _case("second_moment", name, given, attributes, value != 5)

    longer = np.full((1, 70000), -128, np.int8)
    longer[0, ::3] = 127
    attributes = {**attributes, "centered": False, "root": False, "input_zero_point": 100}
    yield _case("second_moment", "more than a run", longer, attributes, False)


def _logsumexp() -> Iterator[Case]:
    for index, (name, shape, dim, keepdim, board) in enumerate(reductions(60)):
        values = Values("logsumexp", name)
        scale = values.choice([0.001, 0.02, 0.1, 0.5, 4.0])
        output_scale = scale * values.choice([0.5, 1.0, 3.0])
        table, bits = exp_table(scale, math.prod(shape[d] for d in dim))
        input_multiplier, input_shift = values.factor(scale / output_scale * 2.0**-10)
        log_multiplier, log_shift = values.factor(math.log(2) / output_scale * 2.0**-6)
        attributes = {
            "dim": dim,
            "keepdim": keepdim,
            "input_zero_point": values.zero_point(),
            "fraction_bits": bits,
            "input_multiplier": input_multiplier,
            "input_shift": input_shift,
            "log_multiplier": log_multiplier,
            "log_shift": log_shift,
            "output_zero_point": values.zero_point(),
        }
        given = values.extreme_int8(*shape) if index % 7 == 0 else values.int8(*shape)
        yield _case("logsumexp", name, given, attributes, board, {"exp_table": table})
        output_scale = scale * values.choice([0.03, 0.5, 3.0])
        input_multiplier, input_shift = values.factor(scale / output_scale * 2.0**-4)
        log_multiplier, log_shift = values.factor(math.log(2) / output_scale * 2.0**-12)
        attributes = {
            **attributes,
            **_ZERO_POINTS,
            "fraction_bits": 30,
            "input_multiplier": input_multiplier,
            "input_shift": input_shift,
            "log_multiplier": log_multiplier,
            "log_shift": log_shift,
        }
        wide = values.extreme_int16(*shape) if index % 7 == 0 else values.int16(*shape)
        tables = {"exp_table": wide_exp_table(scale / 256)}
        yield _case("logsumexp", f"{name}, int16", wide, attributes, board, tables)


def _cumsum() -> Iterator[Case]:
    for name, given, dim, board, values in rows("cumsum", 60):
        left_shift = values.choice([22, 5, 0]) - (given.shape[dim] - 1).bit_length()
        left_shift = max(left_shift, 0)
        multiplier, shift = values.factor(2.0**-left_shift / given.shape[dim])
        attributes = {
            "dim": dim,
            "left_shift": left_shift,
            "input_zero_point": values.zero_point(),
            "output_zero_point": values.zero_point(),
            "multiplier": multiplier,
            "shift": shift,
        }
        yield _case("cumsum", name, given, attributes, board)
        wide = {**attributes, **_ZERO_POINTS, "left_shift": 0}
        wide["multiplier"], wide["shift"] = values.factor(1.0 / given.shape[dim])
        drawn = values.choice([values.int16, values.extreme_int16])(*given.shape)
        yield _case("cumsum", f"{name}, int16", drawn, wide, board)


def _case(
    op: str,
    name: str,
    given: AnyArray,
    attributes: dict[str, Any],
    board: bool,
    constants: dict[str, AnyArray] | None = None,
) -> Case:
    return Case(f"{op}, {name}", f"pl::{op}", {"input": given}, constants or {}, attributes, board)


_EXTREME = {"input": activation(2, 8), "dim": [1], "keepdim": False}
_ZERO_POINTS = {"input_zero_point": 0, "output_zero_point": 0}
_FACTOR = {"multiplier": 2**30, "shift": -20}
_LOGSUMEXP = {
    **_ZERO_POINTS,
    "fraction_bits": 23,
    "input_multiplier": 2**30,
    "input_shift": -8,
    "log_multiplier": 2**30,
    "log_shift": -2,
}
_ROW = (activation(2, name="y"),)

CALLS = [
    Valid(
        OpCall("pl::amax", _EXTREME, _ROW),
        refused=[
            ({"dim": [2]}, "does not fit 2 dimensions"),
            ({"input": activation(2, 8, dtype="bool")}, "input is bool, not int8"),
            ({"input": activation(2, 8, dtype="int16")}, "input is int16, not int8"),
        ],
    ),
    Valid(
        OpCall("pl::amin", _EXTREME, _ROW),
        refused=[({"keepdim": True}, "it should be \\[2, 1\\]")],
    ),
    Valid(
        OpCall(
            "pl::integer_sum",
            {**_EXTREME, "input": activation(2, 8, dtype="int32")},
            (activation(2, dtype="int32", name="y"),),
        ),
        refused=[
            ({"input": activation(2, 8)}, "input is int8, not int32, int16 or bool"),
            ({"dim": []}, "dim names no dimension"),
        ],
    ),
    Valid(
        OpCall(
            "pl::second_moment",
            {**_EXTREME, "centered": True, "root": True, **_ZERO_POINTS, **_FACTOR},
            _ROW,
        ),
        refused=[
            ({"input": floats(2, 8)}, "input is float32, not int8"),
            ({"input": activation(2, 2**23)}, "may overflow int32"),
            ({"input": activation(2, 2**15, dtype="int16")}, "may overflow int32"),
        ],
    ),
    Valid(
        OpCall(
            "pl::logsumexp",
            {
                **_EXTREME,
                "exp_table": constant([2**23] + [0] * 255, "int32"),
                **_LOGSUMEXP,
            },
            _ROW,
        ),
        refused=[
            ({"fraction_bits": 22}, "not 2\\^fraction_bits with 22 bits"),
            ({"input_shift": 5}, "int32 overflows"),
        ],
    ),
    Valid(
        OpCall(
            "pl::cumsum",
            {"input": activation(2, 8), "dim": 1, "left_shift": 19, **_ZERO_POINTS, **_FACTOR},
            (activation(2, 8, name="y"),),
        ),
        refused=[
            ({"left_shift": 21}, "21 guard bits may overflow int32"),
            ({"dim": 2}, "dim is 2, not in \\[0, 1\\]"),
            ({"input": activation(2, 7)}, "it should be \\[2, 7\\]"),
        ],
    ),
]

MUTANTS = [
    Mutant("reduce/sum_s16_scalar.c", "(const int16_t *)", "(const uint16_t *)"),
    Mutant("reduce/sums.h", "l * dims->reduced_stride[1]", "l * dims->reduced_stride[0]"),
    Mutant("reduce/extremes.h", "value > *largest", "value < *largest"),
    Mutant("reduce/extremes.h", "int32_t result = pl_load_s8(x)", "int32_t result = 0"),
    Mutant("reduce/amax_s16_scalar.c", "value > *largest", "value < *largest"),
    Mutant("reduce/amin_s16_scalar.c", "value < *smallest", "value > *smallest"),
    Mutant("reduce/second_moment_s8.h", "sum - all", "sum"),
    Mutant("reduce/second_moment_s8.h", "- 2 * (int64_t)sum", "- (int64_t)sum"),
    Mutant("reduce/second_moment_s8.h", "left -= PL_MOMENT_RUN", "left = 0"),
    Mutant("reduce/second_moment_s16_scalar.c", "{0, 0}", "{1, 0}"),
    Mutant("common/square_root.h", "rest -= larger", "rest -= bit"),
    Mutant("reduce/second_moment.h", "params->count != 0", "0"),
    Mutant("reduce/second_moment.h", ">> -bits;", ">> (1 - bits);"),
    Mutant("reduce/logsumexp.h", "{exp_table + maximum", "{exp_table"),
    Mutant("reduce/logsumexp.h", "scaled + scaled_log", "scaled - scaled_log"),
    Mutant("reduce/cumsum_row.h", "int32_t sum = 0", "static int32_t sum = 0"),
    Mutant("reduce/logsumexp_s16_scalar.c", "= pl_load_s16(x)", "= 0"),
    Mutant("reduce/cumsum_s16_scalar.c", "int64_t sum = 0", "static int64_t sum = 0"),
    Mutant("reduce/cumsum.h", "j * dims->kept_stride[1]", "j * dims->kept_stride[0]"),
    Mutant("reduce/cumsum_row.h", "1 << p.fraction_bits", "1"),
    Mutant("reduce/fold.h", "dims->kept_stride[2] * bytes", "dims->kept_stride[2]"),
    Mutant("reduce/fold.h", "j * dims->kept_stride[1]", "j * dims->kept_stride[0]"),
    Mutant("reduce/fold.h", "i * dims->reduced_stride[0]", "0"),
]


def layers() -> Iterator[Layer]:
    spatial = {"input": activation(1, 8, 8, 64), "dim": [1, 2], "keepdim": False}
    result = (activation(1, 64, name="y"),)
    yield Layer("amax 8x8x64", OpCall("pl::amax", spatial, result))
    std = {**spatial, "centered": True, "root": True, **_ZERO_POINTS, **_FACTOR}
    yield Layer("std 8x8x64", OpCall("pl::second_moment", std, result))
    rows = {**std, "input": activation(16, 65), "dim": [1]}
    yield Layer("std 16x65, rows", OpCall("pl::second_moment", rows, (activation(16, name="y"),)))
    for shape, dim in (((16, 100), 1), ((64, 5), 1), ((100, 16), 0), ((5, 64), 0)):
        log = {
            **_LOGSUMEXP,
            "input": activation(*shape),
            "dim": [dim],
            "keepdim": False,
            "exp_table": constant([2**23] + [0] * 255, "int32"),
        }
        name = f"logsumexp {shape[0]}x{shape[1]}, over {'rows' if dim else 'columns'}"
        yield Layer(name, OpCall("pl::logsumexp", log, (activation(shape[1 - dim], name="y"),)))
    for shape, dim in (((16, 64), 1), ((16, 64), 0), ((16, 5), 0), ((16, 2), 0), ((16, 1), 0)):
        name = f"cumsum {shape[0]}x{shape[1]}, {'rows' if dim else 'columns'}"
        sums = {"input": activation(*shape), "dim": dim, "left_shift": 10}
        sums = {**sums, **_ZERO_POINTS, **_FACTOR}
        yield Layer(name, OpCall("pl::cumsum", sums, (activation(*shape, name="y"),)))
