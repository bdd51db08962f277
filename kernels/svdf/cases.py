# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::svdf."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation, constant
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

# name, (batches, input size, units, rank, memory), on boards
_SHAPES = (
    ("one of each", (1, 1, 1, 1, 2), True),
    ("a frame of many", (1, 40, 3, 1, 10), True),
    ("two filters a unit", (1, 7, 4, 2, 5), True),
    ("batch", (3, 5, 2, 3, 4), True),
    ("long memory", (1, 3, 2, 1, 33), True),
)


def cases() -> Iterator[Case]:
    for name, shape, board in _SHAPES:
        yield _case(name, shape, Values("svdf", name), board)
    for index in range(60):
        values = Values("svdf", index)
        sizes = [values.integer(1, n) for n in (3, 20, 6, 3)]
        given = (*sizes, values.integer(2, 12))
        yield _case(f"random {index}", given, values, False, values.choice([1.0, 30.0]))
    # Sums beyond 32 bits.
    yield _case("wraps", (1, 4, 3, 4, 9), Values("svdf", "wraps"), True, 1e3, extreme=True)


def _case(
    name: str,
    shape: tuple[int, ...],
    values: Values,
    board: bool,
    spread: float = 1.0,
    extreme: bool = False,
) -> Case:
    batches, size, units, rank, memory = shape
    filters = units * rank
    int16 = values.extreme_int16 if extreme else values.int16
    state_factor = values.factor(spread * 2.0 / math.sqrt(size))
    out_factor = values.factor(2.0**-23 / math.sqrt(rank * memory))
    attributes = {
        "state_multiplier": state_factor[0],
        "state_shift": state_factor[1],
        "multiplier": out_factor[0],
        "shift": out_factor[1],
        "input_zero_point": values.zero_point(),
        "output_zero_point": values.zero_point(),
    }
    inputs = {"input": values.int8(batches, size), "state": int16(batches, filters, memory - 1)}
    constants = {
        "weight": values.int8(filters, size),
        "time": int16(filters, memory),
        "bias": values.int32(2**24, units),
    }
    return Case(name, "pl::svdf", inputs, constants, attributes, board)


def _call(size: int, units: int, rank: int, memory: int) -> OpCall:
    """Return the call of a case as the plan compiler sees it."""
    case = _case("call", (1, size, units, rank, memory), Values("svdf", "call"), False)
    arguments: dict[str, Any] = {
        name: activation(*np.shape(array), dtype=np.asarray(array).dtype.name, name=name)
        for name, array in case.inputs.items()
    }
    arguments |= {
        name: constant(array, np.asarray(array).dtype.name)
        for name, array in case.constants.items()
    }
    state = activation(1, units * rank, memory - 1, dtype="int16", name="new_state")
    arguments |= case.attributes
    return OpCall("pl::svdf", arguments, (activation(1, units, name="y"), state))


CALLS = [
    Valid(
        _call(size=3, units=2, rank=2, memory=4),
        refused=[
            ({"weight": constant(np.ones((4, 2)))}, "weight has shape \\[4, 2\\]"),
            ({"state": activation(1, 4, 4, dtype="int16")}, "state has shape \\[1, 4, 4\\]"),
            ({"state": activation(1, 4, 3)}, "state is int8, not int16"),
            ({"time": constant(np.ones((4, 1)), "int16")}, "1 frames, it should have 2"),
            ({"bias": constant([0, 0, 0], "int32")}, "4 filters are no multiple of 3 units"),
            ({"multiplier": -(2**30)}, "2\\^30"),
            ({"input": activation(2, 3)}, "state has shape"),
        ],
    ),
]

_SOURCE = "svdf/filters.h"
MUTANTS = [
    Mutant("svdf/svdf_s8_scalar.c", "new_state[j] = state[j]", "new_state[j] = 0"),
    Mutant(_SOURCE, "add_frames(state + 1,", "add_frames(state,"),
    Mutant(_SOURCE, "(uint32_t)(frame * time[kept])", "(uint32_t)(frame * time[0])"),
    Mutant(_SOURCE, "pl_clamp(y, INT16_MIN, INT16_MAX)", "y"),
    Mutant(_SOURCE, "data->input + batch * dims->input_size", "data->input"),
    Mutant(_SOURCE, "time += dims->memory", "time += kept"),
]


def layers() -> Iterator[Layer]:
    yield Layer("svdf 40 to 32, 10 frames", _call(size=40, units=32, rank=1, memory=10))
