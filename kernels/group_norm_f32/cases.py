# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 native_group_norm."""

import math
from collections.abc import Iterator
from typing import Any

from kernels.common.kernel import OpCall
from kernels.testing.calls import floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    shapes = [((2, 6, 3, 4), 3), ((1, 4, 5), 2), ((1, 3, 2, 2), 1), ((2, 5, 7), 5), ((1, 8, 1), 4)]
    for index, (shape, groups) in enumerate(shapes * 4):
        values = Values("group_norm", index)
        # The weight in one of two cases, the bias in two of three.
        constants = {}
        attributes: dict[str, Any] = {
            "N": shape[0],
            "C": shape[1],
            "HxW": math.prod(shape[2:]),
            "group": groups,
            "eps": 1e-5,
        }
        for name, present in (("weight", index % 2 == 0), ("bias", index % 3 != 0)):
            if present:
                constants[name] = values.float32(shape[1])
            else:
                attributes[name] = None
        yield Case(
            name=f"{index}: {shape}, {groups} groups",
            op="aten::native_group_norm.out",
            inputs={"input": values.float32(*shape) - 2},
            constants=constants,
            attributes=attributes,
            board=index < 4,
            # Sums of 24 values of order 2 in float32; rstd, at most 316, enlarges the error.
            tolerance=1e-4,
        )


CALLS = [
    Valid(
        OpCall(
            "aten::native_group_norm.out",
            {
                "input": floats(1, 4, 3, 3),
                "weight": None,
                "bias": floats(4),
                "N": 1,
                "C": 4,
                "HxW": 9,
                "group": 2,
                "eps": 1e-5,
            },
            (floats(1, 4, 3, 3, name="y"), floats(1, 2, name="m"), floats(1, 2, name="r")),
        ),
        refused=[({"group": 3}, "in 3 groups"), ({"bias": floats(3)}, "not 4")],
    ),
]

MUTANTS = [
    Mutant("group_norm_f32/group_norm_f32_scalar.c", "row % dims->groups", "row"),
]


def layers() -> Iterator[Layer]:
    arguments = {
        "input": floats(1, 16, 8, 8),
        "weight": floats(16),
        "bias": floats(16),
        "N": 1,
        "C": 16,
        "HxW": 64,
        "group": 4,
        "eps": 1e-5,
    }
    results = (floats(1, 16, 8, 8, name="y"), floats(1, 4, name="m"), floats(1, 4, name="r"))
    yield Layer("group_norm_f32 16x8x8", OpCall("aten::native_group_norm.out", arguments, results))
