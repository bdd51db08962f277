# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::gather."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation, constant
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

# name, shape, indices by dimension, run on boards
_NAMED: list[tuple[str, tuple[int, ...], Mapping[int, Sequence[int]], bool]] = [
    ("one row", (4, 5), {0: [2]}, False),
    ("rows", (4, 5), {0: [2, 0, 1, 2]}, True),
    ("elements", (9,), {0: [7, 1, 2, 3, 0]}, True),
    ("the same again", (3, 4), {0: [0, 1, 2]}, False),
    ("channels", (1, 3, 3, 8), {3: [6, 0, 1, 2, 5]}, True),
    ("reflect", (1, 4, 5, 3), {1: [1, 0, 1, 2, 3, 2], 2: [2, 1, 0, 1, 2, 3, 4, 3]}, True),
    ("nearest, to 2/3", (2, 6, 6, 4), {1: [0, 1, 3, 4], 2: [0, 1, 3, 4]}, False),
    ("nearest, twice", (1, 3, 4, 5), {1: [0, 0, 1, 1, 2, 2], 2: [0, 0, 1, 1, 2, 2, 3, 3]}, True),
    ("dimensions apart", (2, 3, 2, 4), {0: [1, 1, 0], 2: [1, 0, 1], 3: [3, 1]}, True),
    # These are strided copies.
    ("flip of the last", (3, 7), {1: [6, 5, 4, 3, 2, 1, 0]}, True),
    ("flip of two", (1, 3, 4, 1), {1: [2, 1, 0], 2: [3, 2, 1, 0]}, False),
    ("repeat elements", (3, 4), {1: [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]}, True),
    ("repeat the whole", (2, 3), {1: [0, 1, 2, 0, 1, 2]}, False),
    ("windows", (2, 9), {1: [0, 2, 4, 1, 3, 5, 2, 4, 6, 3, 5, 7]}, True),
    ("one to many", (4, 1), {1: [0] * 9}, True),
]


def cases() -> Iterator[Case]:
    for dtype in ("int8", "int32", "float32"):
        for name, shape, indices, board in _NAMED:
            yield _case(f"{name}, {dtype}", dtype, shape, indices, board and dtype != "int32")
    for index in range(120):
        values = Values("gather", index)
        rank = values.integer(1, 5)
        shape = tuple(values.integer(1, 8 - rank) for _ in range(rank))
        dims = sorted({values.integer(0, rank - 1) for _ in range(values.integer(1, 3))})
        indices = {
            d: [values.integer(0, shape[d] - 1) for _ in range(values.integer(1, 8))] for d in dims
        }
        dtype = values.choice(["int8", "int8", "int32", "float32"])
        yield _case(f"random {index}", dtype, shape, indices, False)


def _case(
    name: str, dtype: str, shape: tuple[int, ...], indices: Mapping[int, Sequence[int]], board: bool
) -> Case:
    inputs = {"input": Values("gather", name).of_type(dtype, *shape)}
    constants = {"indices": [np.array(items, np.int32) for items in indices.values()]}
    return Case(name, "pl::gather", inputs, constants, {"dims": list(indices)}, board)


def _indices(*lists: Sequence[int]) -> list[object]:
    return [constant(items, "int32") for items in lists]


CALLS = [
    Valid(
        OpCall(
            "pl::gather",
            {"input": activation(4, 5), "indices": _indices([3, 0, 3]), "dims": [0]},
            (activation(3, 5, name="y"),),
        ),
        refused=[
            ({"dims": [1]}, "output has shape .* it should be"),
            ({"dims": [2]}, "do not go with dims \\[2\\]"),
            ({"dims": [0, 0], "indices": _indices([0], [1])}, "do not go with dims \\[0, 0\\]"),
            ({"dims": []}, "1 lists of indices"),
            ({"indices": _indices([3, 4, 0])}, "not all in \\[0, 4\\)"),
            ({"indices": _indices([3, -1, 0])}, "not all in \\[0, 4\\)"),
            ({"indices": [activation(3, dtype="int32")]}, "must be a constant list"),
            ({"indices": [constant([3, 0, 3])]}, "int8, not int32"),
            ({"input": activation(4, 5, dtype="int16")}, "output 0 is int8, not int16"),
        ],
    ),
]

MUTANTS = [
    Mutant("gather/gather_x8.c", "part += dims->outer_step", "part += 0"),
    Mutant("gather/gather_x8.c", "part + data->rows[row]", "part"),
    Mutant("gather/gather_x8.c", "from + run[0]", "from"),
]


def layers() -> Iterator[Layer]:
    doubled = [i // 2 for i in range(32)]
    yield _layer("nearest 16x16x16 to 32x32", (1, 16, 16, 16), [doubled, doubled], [1, 2])
    reflected = [1, *range(16), 14]
    yield _layer("reflect 16x16x16 to 18x18", (1, 16, 16, 16), [reflected, reflected], [1, 2])
    yield _layer("flip 16x64 bytes", (16, 64), [range(63, -1, -1)], [1])


def _layer(
    name: str, shape: tuple[int, ...], indices: Sequence[Sequence[int]], dims: list[int]
) -> Layer:
    result = list(shape)
    for dim, items in zip(dims, indices, strict=True):
        result[dim] = len(items)
    arguments = {"input": activation(*shape), "indices": _indices(*indices), "dims": dims}
    call = OpCall("pl::gather", arguments, (activation(*result, name="y"),))
    return Layer(f"gather {name}", call)
