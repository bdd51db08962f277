# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::masked_softmax."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import activation, constant, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.exponentials import exp_table, wide_exp_table
from kernels.testing.values import Values

# name, input, mask
_NAMED: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = [
    ("vector", (9,), (9,)),
    ("one value", (3, 1), (3, 1)),
    ("a mask for each row", (4, 10), (4, 10)),
    ("one for all rows", (4, 10), (10,)),
    ("one for each batch", (3, 4, 5), (3, 1, 5)),
    ("one for all heads", (2, 3, 4, 5), (2, 1, 4, 5)),
    ("rank 6", (2, 1, 2, 2, 2, 3), (2, 2, 1, 3)),
    ("long", (1, 1000), (1000,)),
]


def cases() -> Iterator[Case]:
    for name, shape, broadcast in _NAMED:
        for computed in (False, True):
            values = Values("masked_softmax", name)
            given = values.int8(*shape)
            board = name != "long" and not computed
            yield _case(
                f"{name}, {computed}", values, given, _mask(values, broadcast), computed, board
            )
    for kept in range(4):
        values = Values("masked_softmax kept", kept)
        mask = np.arange(12).reshape(1, 12) % 4 < kept
        yield _case(f"{kept} of 4", values, values.int8(3, 12), mask, False, True)
    for value in (-128, 0, 127):
        values = Values("masked_softmax all", value)
        given, mask = np.full((2, 9), value, np.int8), np.tri(2, 9, 3, dtype=np.bool_)
        yield _case(f"all {value}", values, given, mask, False, False)
    for index in range(100):
        values = Values("masked_softmax", index)
        shape = tuple(values.integer(1, 8) for _ in range(values.integer(1, 4)))
        rows = tuple(values.choice([1, size]) for size in shape[:-1])
        mask = _mask(values, (*rows, shape[-1]))
        source = values.extreme_int8(*shape) if index % 5 == 0 else values.int8(*shape)
        yield _case(f"random {index}", values, source, mask, index % 2 == 0, False)

    for name, shape, broadcast in _NAMED:
        values = Values("masked_softmax int16", name)
        for scale in (1e-4, 0.01):
            inputs = {"input": values.int16(*shape)}
            table = wide_exp_table(scale)
            constants = {"mask": _mask(values, broadcast), "exp_table": table}
            board = name != "long" and scale < 0.01
            label = f"int16 {name}, {scale}"
            yield Case(label, "pl::masked_softmax", inputs, constants, {"steps": 2**15}, board)
    for kept in range(4):
        values = Values("masked_softmax int16 kept", kept)
        mask = np.arange(12).reshape(1, 12) % 4 < kept
        inputs, constants = {"input": values.int16(3, 12)}, {"exp_table": wide_exp_table(1e-4)}
        constants["mask"] = mask
        label = f"int16 {kept} of 4"
        yield Case(label, "pl::masked_softmax", inputs, constants, {"steps": 2**15}, False)


def _mask(values: Values, shape: tuple[int, ...]) -> AnyArray:
    return values.int8(*shape) > values.choice([-60, 60])


def _case(
    name: str, values: Values, given: AnyArray, mask: AnyArray, computed: bool, board: bool
) -> Case:
    steps = values.choice([256, 256, 257, 1000, 4099])
    table, _ = exp_table(values.choice([0.001, 0.02, 0.1, 0.5, 4.0]), given.shape[-1], steps)
    inputs, constants = {"input": given}, {"mask": mask, "exp_table": table}
    if computed:
        inputs["mask"] = constants.pop("mask")
    return Case(name, "pl::masked_softmax", inputs, constants, {"steps": steps}, board)


CALLS = [
    Valid(
        OpCall(
            "pl::masked_softmax",
            {
                "input": activation(2, 3, 8),
                "mask": activation(3, 8, dtype="bool", name="mask"),
                "exp_table": constant([2**23] + [0] * 255, "int32"),
                "steps": 256,
            },
            (activation(2, 3, 8, name="y"),),
        ),
        refused=[
            ({"mask": activation(3, 1, dtype="bool")}, "the last sizes differ"),
            ({"mask": activation(2, 8, dtype="bool")}, "does not broadcast"),
            ({"mask": floats(3, 8)}, "mask is float32, not bool"),
            ({"steps": 0}, "steps is 0"),
            ({"steps": 2**18}, "uint32"),
            ({"exp_table": constant([1, 2] + [0] * 254, "int32")}, "largest"),
        ],
    ),
    Valid(
        OpCall(
            "pl::masked_softmax",
            {
                "input": activation(2, 3, 8, dtype="int16"),
                "mask": activation(3, 8, dtype="bool", name="mask"),
                "exp_table": constant(wide_exp_table(0.1), "int32"),
                "steps": 2**15,
            },
            (activation(2, 3, 8, dtype="int16", name="y"),),
        ),
        refused=[({"steps": 256}, "of int16 it is 32768")],
    ),
]

_SOURCE = "masked_softmax/masked_softmax_s8_scalar.c"
_WIDE = "masked_softmax/masked_softmax_s16_scalar.c"
MUTANTS = [
    Mutant(_SOURCE, "mask[i] && x[i] > maximum", "x[i] > maximum"),
    Mutant(_SOURCE, "mask[i] ? (uint32_t)exp_table[maximum - x[i]] : 0", "(uint32_t)exp_table[0]"),
    Mutant(_SOURCE, "+ half) / sum", ") / sum"),
    Mutant(_SOURCE, "share > 255 ? 255 :", "share > 256 ? 255 :"),
    Mutant(_WIDE, "mask[i] && x[i] > maximum", "x[i] > maximum"),
    Mutant(_WIDE, "sum += mask[i] ?", "sum += true ?"),
    Mutant(_WIDE, "data->mask + row.b", "data->mask"),
    Mutant(_SOURCE, "e * steps", "e * 256"),
    Mutant(_SOURCE, "data->mask + row.b", "data->mask"),
]


def layers() -> Iterator[Layer]:
    table = np.array([round(2**23 * np.exp(-d * 0.1)) for d in range(256)], np.int32)
    arguments = {
        "input": activation(2, 32, 32),
        "mask": activation(32, 32, dtype="bool", name="mask"),
        "exp_table": constant(table // 4, "int32"),
        "steps": 256,
    }
    call = OpCall("pl::masked_softmax", arguments, (activation(2, 32, 32, name="y"),))
    yield Layer("masked_softmax, 2 heads of 32x32", call)
