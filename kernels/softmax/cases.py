# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::softmax."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation, constant
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.exponentials import exp_table, rows, wide_exp_table
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for name, given, dim, board, values in rows("softmax", 100):
        scale = values.choice([0.001, 0.02, 0.1, 0.5, 4.0])
        for steps in (256, values.choice([255, 257, 1000, 4099, 2**18])):
            table, _ = exp_table(scale, given.shape[dim], steps)
            inputs, constants = {"input": given}, {"exp_table": table}
            attributes = {"dim": dim, "steps": steps}
            yield Case(f"{name}, {steps}", "pl::softmax", inputs, constants, attributes, board)

    for name, shape, dim in _INT16:
        values = Values("softmax int16", name)
        for scale in (1e-5, 3e-4, 0.01):
            for kind, make in ("", values.int16), ("extreme ", values.extreme_int16):
                inputs, constants = {"input": make(*shape)}, {"exp_table": wide_exp_table(scale)}
                attributes = {"dim": dim, "steps": 2**15}
                label = f"int16 {kind}{name}, {scale}"
                board = name in ("rows", "middle")
                yield Case(label, "pl::softmax", inputs, constants, attributes, board)


_INT16 = (
    ("one value", (3, 1), 1),
    ("rows", (4, 10), 1),
    ("vector", (33,), 0),
    ("middle", (2, 7, 3), 1),
    ("long", (1, 2049), 1),
)

CALLS = [
    Valid(
        OpCall(
            "pl::softmax",
            {
                "input": activation(2, 8),
                "exp_table": constant([2**23] + [0] * 255, "int32"),
                "dim": 1,
                "steps": 256,
            },
            (activation(2, 8, name="y"),),
        ),
        refused=[
            ({"dim": -1}, "dim is -1"),
            ({"steps": 0}, "steps is 0"),
            ({"steps": 2**18}, "uint32"),
            ({"exp_table": constant([1, 2] + [0] * 254, "int32")}, "largest"),
            ({"exp_table": constant([2**30] + [0] * 255, "int32")}, "uint32"),
        ],
    ),
    Valid(
        OpCall(
            "pl::softmax",
            {
                "input": activation(2, 8, dtype="int16"),
                "exp_table": constant(wide_exp_table(0.1), "int32"),
                "dim": 1,
                "steps": 2**15,
            },
            (activation(2, 8, dtype="int16", name="y"),),
        ),
        refused=[
            ({"steps": 256}, "of int16 it is 32768"),
            ({"exp_table": constant([2**23] + [0] * 255, "int32")}, "256 entries, not 512"),
            ({"exp_table": constant([2**29] + [0] * 511, "int32")}, "both halves start with"),
        ],
    ),
]

MUTANTS = [
    Mutant("softmax/softmax_s8.c", "+ half) / sum", ") / sum"),
    Mutant("softmax/softmax_steps_s8.c", "params->steps", "256"),
    Mutant("softmax/softmax_s8.c", "share > 255 ? 255 :", "share > 256 ? 255 :"),
    Mutant("softmax/softmax_s16_scalar.c", "x[i] > maximum ? x[i]", "x[i] > 0 ? x[i]"),
    Mutant("common/wide_exponentials.h", "high * low +", "high +"),
    Mutant("common/wide_exponentials.h", "bit < 32", "bit < 31"),
    Mutant("common/wide_exponentials.h", "46 + down", "46"),
    Mutant("common/wide_exponentials.h", "share > INT16_MAX ? INT16_MAX :", "share > 32768 ? 0 :"),
    Mutant("common/exponentials.h", "*x > maximum ? *x", "*x < maximum ? *x"),
]


def layers() -> Iterator[Layer]:
    table = np.array([round(2**23 * np.exp(-d * 0.1)) for d in range(256)], np.int32)
    for count, peer in (
        (12, "dscnn/softmax"),
        (2, "vww/softmax"),
        (10, "resnet8/softmax"),
        (1000, ""),
    ):
        arguments = {
            "input": activation(1, count),
            "exp_table": constant(table // 4, "int32"),
            "dim": 1,
            "steps": 256,
        }
        call = OpCall("pl::softmax", arguments, (activation(1, count, name="y"),))
        yield Layer(f"softmax {count}", call, peer)
    finer = OpCall("pl::softmax", {**arguments, "steps": 1000}, call.outputs)
    yield Layer("softmax 1000, finer", finer)
