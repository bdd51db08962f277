# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::log_softmax."""

import math
from collections.abc import Iterator

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation, constant
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.exponentials import exp_table, rows, wide_exp_table
from kernels.testing.values import Values

GUARD = 2**10
"""The scaled terms have 10 guard bits."""


def cases() -> Iterator[Case]:
    for name, given, dim, board, values in rows("log_softmax", 100):
        scale = values.choice([0.001, 0.02, 0.1, 0.5, 4.0])
        output_scale = values.choice([0.03, 0.06, 0.5] if board else [1e-6, 0.03, 0.06, 0.5])
        table, bits = exp_table(scale, given.shape[dim])
        input_multiplier, input_shift = values.factor(scale / output_scale * GUARD / 2**20)
        log_multiplier, log_shift = values.factor(math.log(2) / output_scale * GUARD / 2**16)
        attributes = {
            "dim": dim,
            "fraction_bits": bits,
            "input_multiplier": input_multiplier,
            "input_shift": input_shift,
            "log_multiplier": log_multiplier,
            "log_shift": log_shift,
            "output_zero_point": values.choice([127, 127, values.zero_point()]),
        }
        inputs, constants = {"input": given}, {"exp_table": table}
        yield Case(name, "pl::log_softmax", inputs, constants, attributes, board)
        yield _wide(name, given.shape, dim, board)


def _wide(name: str, shape: tuple[int, ...], dim: int, board: bool) -> Case:
    values = Values("log_softmax int16", name)
    scale = values.choice([1e-6, 1e-4, 3e-4, 0.01])
    output_scale = values.choice([2e-5, 2e-4, 0.01])
    input_multiplier, input_shift = values.factor(scale / output_scale * GUARD / 2**14)
    log_multiplier, log_shift = values.factor(math.log(2) / output_scale * GUARD / 2**30)
    attributes = {
        "dim": dim,
        "fraction_bits": 30,
        "input_multiplier": input_multiplier,
        "input_shift": input_shift,
        "log_multiplier": log_multiplier,
        "log_shift": log_shift,
        "output_zero_point": 0,
    }
    given = values.choice([values.int16, values.extreme_int16])(*shape)
    inputs, constants = {"input": given}, {"exp_table": wide_exp_table(scale)}
    return Case(f"{name}, int16", "pl::log_softmax", inputs, constants, attributes, board)


CALLS = [
    Valid(
        OpCall(
            "pl::log_softmax",
            {
                "input": activation(2, 8),
                "exp_table": constant([2**23] + [0] * 255, "int32"),
                "dim": 1,
                "fraction_bits": 23,
                "input_multiplier": 2**30,
                "input_shift": -8,
                "log_multiplier": 2**30,
                "log_shift": -2,
                "output_zero_point": 127,
            },
            (activation(2, 8, name="y"),),
        ),
        refused=[
            ({"fraction_bits": 22}, "not 2\\^fraction_bits with 22 bits"),
            ({"log_multiplier": -(2**30)}, "2\\^30"),
            ({"input": activation(2, 7)}, "it should be \\[2, 7\\]"),
        ],
    ),
    Valid(
        OpCall(
            "pl::log_softmax",
            {
                "input": activation(2, 8, dtype="int16"),
                "exp_table": constant(wide_exp_table(0.1), "int32"),
                "dim": 1,
                "fraction_bits": 30,
                "input_multiplier": 2**30,
                "input_shift": -8,
                "log_multiplier": 2**30,
                "log_shift": -2,
                "output_zero_point": 0,
            },
            (activation(2, 8, dtype="int16", name="y"),),
        ),
        refused=[
            ({"fraction_bits": 29}, "of int16 it is 30"),
            ({"log_shift": 15}, "log_shift is 15"),
            ({"output_zero_point": 1}, "not in \\[0, 0\\]"),
        ],
    ),
]

MUTANTS = [
    Mutant("common/log2.h", "index == 127", "index == 128"),
    Mutant("common/log2.h", "fraction >> 8)", "fraction >> 9)"),
    Mutant("common/log2.h", "+ (down << 16)", ""),
    Mutant("common/wide_logarithms.h", "(value + half)", "value"),
    Mutant("common/wide_logarithms.h", "(PL_WIDE_EXPONENTIAL_BITS << 16)", "(31 << 16)"),
    Mutant("log_softmax/log_softmax_s16_scalar.c", "maximum = x[0]", "maximum = 0"),
]


def layers() -> Iterator[Layer]:
    arguments = {
        "input": activation(1, 12),
        "exp_table": constant([round(2**23 * math.exp(-d * 0.1)) for d in range(256)], "int32"),
        "dim": 1,
        "fraction_bits": 23,
        "input_multiplier": 1623821475,
        "input_shift": -8,
        "log_multiplier": 1098017566,
        "log_shift": -2,
        "output_zero_point": 127,
    }
    call = OpCall("pl::log_softmax", arguments, (activation(1, 12, name="y"),))
    yield Layer("log_softmax 12", call)
