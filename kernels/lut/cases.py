# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::lut and pl::integer_lut."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import INT32_MAX, AnyArray, OpCall
from kernels.testing.calls import activation, constant
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    every_value = np.arange(-128, 128, dtype=np.int8)
    identity = every_value.copy()
    yield _case("identity", every_value, identity, board=True)
    yield _case("reversed", every_value.reshape(4, 64), identity[::-1].copy())
    yield _case("bools", every_value, every_value > 3, board=True)
    for size in [*range(1, 12), 100, 1000]:
        values = Values("lut", size)
        yield _case(f"size {size}", values.int8(size), values.int8(256), board=size in (1, 7, 100))
    for rank in range(1, 7):
        values = Values("lut rank", rank)
        shape = [values.integer(1, 4) for _ in range(rank)]
        yield _case(f"rank {rank}", values.int8(*shape), values.int8(256))

    for size in (1, 3, 64, 256):
        values = Values("integer_lut", size)
        given = every_value if size == 256 else values.int8(1, size)
        tables = {"table": values.int32(INT32_MAX, 256)}
        name = f"integers {size}"
        yield Case(name, "pl::integer_lut", {"input": given}, tables, board=size != 64)

    straight = np.arange(-(2**15), 2**15 + 1, 2**7).clip(max=2**15 - 1).astype(np.int16)
    ends = [-32768, -32767, -32641, -32640, -32639, -129, -128, -127, -1, 0, 1, 127, 32639, 32767]
    for index, table in enumerate([straight, straight[::-1].copy()]):
        yield _case(f"int16 ends {index}", np.array(ends, np.int16), table, board=True)
    for index in range(12):
        values = Values("lut int16", index)
        make = values.extreme_int16 if index < 3 else values.int16
        shape = [values.integer(1, 5) for _ in range(values.integer(1, 5))]
        yield _case(f"int16 random {index}", values.int16(*shape), make(513), board=index < 4)
    near = [-513, -512, -511, *ends, 511, 512, 513]
    for index in range(6):
        values = Values("lut int16 near zero", index)
        make = values.extreme_int16 if index < 2 else values.int16
        given = values.int16(40) // 30
        given = np.array(near, np.int16) if index % 2 == 0 else given.astype(np.int16)
        yield _case(f"int16 near zero {index}", given, make(513 + 1024), board=index < 4)


def _case(name: str, given: AnyArray, table: AnyArray, board: bool = False) -> Case:
    return Case(name, "pl::lut", {"input": given}, {"table": table}, board=board)


CALLS = [
    Valid(
        OpCall(
            "pl::lut",
            {"input": activation(4), "table": constant(range(-128, 128))},
            (activation(4, name="y"),),
        ),
        refused=[
            ({"table": constant(range(100))}, "100 entries, not 256"),
            ({"input": activation(5)}, "5 inputs do not give 4"),
            ({"table": constant([True] * 256, "bool")}, "output 0 is int8, not bool"),
        ],
    ),
    Valid(
        OpCall(
            "pl::lut",
            {"input": activation(4, dtype="int16"), "table": constant([0] * 513, "int16")},
            (activation(4, dtype="int16", name="y"),),
        ),
        refused=[
            ({"table": constant([0] * 256, "int16")}, "256 entries, not 513 or 1537"),
            ({"table": constant([0] * 1536, "int16")}, "1536 entries, not 513 or 1537"),
            ({"table": constant([0] * 513)}, "table is int8, not int16"),
        ],
    ),
    Valid(
        OpCall(
            "pl::integer_lut",
            {"input": activation(4), "table": constant([7] * 256, "int32")},
            (activation(4, dtype="int32", name="y"),),
        ),
        refused=[
            ({"table": constant([0] * 513, "int32")}, "513 entries, not 256"),
            ({"table": constant([0] * 256)}, "table is int8, not int32"),
            ({"input": activation(4, dtype="int16")}, "input is int16, not int8"),
            ({"input": activation(5)}, "5 inputs do not give 4"),
        ],
    ),
]

MUTANTS = [
    Mutant("lut/lut_s32.c", "data->table + 128", "data->table + 127"),
    Mutant("lut/lut_s8_scalar.c", "data->table + 128", "data->table + 127"),
    Mutant("lut/lut_s8_scalar.c", "output[3] = middle[input[3]]", "output[3] = input[3]"),
    Mutant("lut/line_s16.h", "x >> PL_LUT_STEP_BITS", "x / (1 << PL_LUT_STEP_BITS)"),
    Mutant("lut/line_s16.h", "rise + (1 << (PL_LUT_STEP_BITS - 1))", "rise"),
    Mutant("lut/lut_near_zero_s16_scalar.c", "x >= -PL_LUT_NEAR", "x > -PL_LUT_NEAR"),
    Mutant("lut/lut_near_zero_s16_scalar.c", "x < PL_LUT_NEAR", "x <= PL_LUT_NEAR"),
    Mutant("lut/lut_near_zero_s16_scalar.c", "PL_LUT_ENTRIES + PL_", "PL_LUT_ENTRIES - 1 + PL_"),
]


def layers() -> Iterator[Layer]:
    arguments = {"input": activation(4096), "table": constant(range(-128, 128))}
    yield Layer("lut 4096", OpCall("pl::lut", arguments, (activation(4096, name="y"),)))
    for name, size in (("lut int16 1024", 513), ("lut int16 1024, finer near zero", 513 + 1024)):
        arguments = {
            "input": activation(1024, dtype="int16"),
            "table": constant(range(size), "int16"),
        }
        output = activation(1024, dtype="int16", name="y")
        yield Layer(name, OpCall("pl::lut", arguments, (output,)))
