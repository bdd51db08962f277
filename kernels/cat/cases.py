# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::cat."""

from collections.abc import Iterator

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_NAMED: list[tuple[str, tuple[int, ...], int, list[int], bool]] = [
    ("channels", (1, 3, 4, 0), 3, [5, 8], True),
    ("one channel each", (1, 2, 3, 0), 3, [1, 1, 1], True),
    ("rows", (1, 0, 4, 3), 1, [2, 1], True),
    ("batch", (0, 7), 0, [2, 3, 1], False),
    ("vectors", (0,), 0, [3, 17, 5], False),
    ("one input", (2, 0), 1, [4], False),
    ("long runs", (2, 0), 1, [33, 70], True),
    ("rank 6", (2, 1, 2, 0, 2, 3), 3, [1, 2], False),
    ("eight inputs", (3, 0), 1, [1, 2, 3, 4, 5, 6, 7, 8], True),
]


def cases() -> Iterator[Case]:
    for dtype in ("int8", "int32", "float32"):
        for name, shape, dim, sizes, board in _NAMED:
            yield _case(f"{name}, {dtype}", dtype, shape, dim, sizes, board and dtype != "int32")
    for index in range(100):
        values = Values("cat", index)
        rank = values.integer(1, 5)
        shape = tuple(values.integer(1, 8 - rank) for _ in range(rank))
        dim = values.integer(0, len(shape) - 1)
        sizes = [values.integer(1, 10 - rank) for _ in range(values.integer(1, 4))]
        dtype = values.choice(["int8", "int8", "float32"])
        yield _case(f"random {index}", dtype, shape, dim, sizes, False)


def _case(
    name: str, dtype: str, shape: tuple[int, ...], dim: int, sizes: list[int], board: bool
) -> Case:
    values = Values("cat", name)
    inputs = [values.of_type(dtype, *shape[:dim], size, *shape[dim + 1 :]) for size in sizes]
    return Case(name, "pl::cat", {"inputs": inputs}, attributes={"dim": dim}, board=board)


CALLS = [
    Valid(
        OpCall(
            "pl::cat",
            {"inputs": [activation(2, 3), activation(2, 4)], "dim": 1},
            (activation(2, 7, name="y"),),
        ),
        refused=[
            ({"dim": 0}, "does not go into"),
            ({"inputs": [activation(2, 3)]}, "3 elements along dim 1, the output 7"),
        ],
    ),
]

MUTANTS = [
    Mutant("common/copy_scalar.c", "from += 16", "from += 12"),
    Mutant("cat/cat_x8.c", "start += bytes", "start += dims->output_step"),
]


def layers() -> Iterator[Layer]:
    halves = [activation(1, 16, 16, 8), activation(1, 16, 16, 8)]
    joined = activation(1, 16, 16, 16, name="y")
    call = OpCall("pl::cat", {"inputs": halves, "dim": 3}, (joined,))
    yield Layer("cat channels, 8 and 8", call)
