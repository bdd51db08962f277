# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::roll."""

from collections.abc import Iterator

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    yield _case("by nothing", (2, 5), 0, 1)
    yield _case("rows", (3, 4), 2, 0, board=True)
    yield _case("columns", (3, 4), 1, 1, board=True)
    for index in range(100):
        values = Values("roll", index)
        shape = tuple(values.integer(1, 5) for _ in range(values.integer(1, 4)))
        dim = values.integer(0, len(shape) - 1)
        yield _case(f"random {index}", shape, values.integer(0, shape[dim] - 1), dim)


def _case(name: str, shape: tuple[int, ...], shift: int, dim: int, board: bool = False) -> Case:
    given = Values("roll", name).int8(*shape)
    attributes = {"shift": shift, "dim": dim}
    return Case(name, "pl::roll", {"input": given}, attributes=attributes, board=board)


CALLS = [
    Valid(
        OpCall(
            "pl::roll",
            {"input": activation(2, 5), "shift": 3, "dim": 1},
            (activation(2, 5, name="y"),),
        ),
        refused=[
            ({"shift": 5}, "shift is 5"),
            ({"dim": 2}, "dim is 2"),
            ({"input": activation(5)}, "it should be \\[5\\]"),
        ],
    )
]

MUTANTS = [Mutant("roll/roll_s8_scalar.c", "dims->size - dims->shift", "dims->shift")]


def layers() -> Iterator[Layer]:
    arguments = {"input": activation(64, 64), "shift": 5, "dim": 1}
    yield Layer("roll 64x64", OpCall("pl::roll", arguments, (activation(64, 64, name="y"),)))
