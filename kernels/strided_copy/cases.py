# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::transpose and pl::slice."""

from collections.abc import Iterator
from itertools import permutations

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_TRANSPOSES: list[tuple[str, tuple[int, ...], tuple[int, ...], bool]] = [
    ("NCHW to NHWC", (1, 3, 6, 5), (0, 2, 3, 1), True),
    ("NHWC to NCHW", (1, 6, 5, 3), (0, 3, 1, 2), True),
    ("NCHW to NHWC, batch", (2, 5, 4, 4), (0, 2, 3, 1), False),
    ("matrix", (7, 9), (1, 0), True),
    ("long rows", (2, 3, 40), (1, 0, 2), True),
    ("rank 6", (2, 3, 2, 2, 3, 2), (5, 3, 1, 4, 2, 0), True),
    ("pixel shuffle", (1, 2, 2, 3, 4, 5), (0, 4, 1, 5, 2, 3), False),
    ("identity", (3, 4), (0, 1), False),
    ("one element", (1, 1, 1), (2, 0, 1), False),
]

# shape, dim, start, end, step
_SLICES: list[tuple[tuple[int, ...], int, int, int, int, bool]] = [
    ((10,), 0, 2, 9, 1, False),
    ((10,), 0, 1, 10, 3, True),
    ((4, 10), 1, 0, 5, 1, True),
    ((4, 10), 1, 1, 10, 2, True),
    ((4, 10), 0, 1, 3, 1, False),
    ((9, 6), 0, 0, 9, 4, True),
    ((2, 6, 5, 3), 1, 2, 6, 1, False),
    ((2, 6, 5, 3), 2, 1, 5, 3, True),
    ((2, 6, 5, 3), 3, 2, 3, 1, False),
    ((2, 3, 2, 2, 4, 3), 4, 1, 4, 2, False),
    ((5, 7), 1, 6, 7, 5, False),
    ((3, 50), 1, 3, 50, 1, True),
]


def cases() -> Iterator[Case]:
    for dtype in ("int8", "int16", "int32", "float32"):
        for name, shape, perm, board in _TRANSPOSES:
            yield _transpose(f"{name}, {dtype}", dtype, shape, perm, board)
        for index, (shape, dim, start, end, step, board) in enumerate(_SLICES):
            name = f"slice {index}, {dtype}"
            yield _slice(name, dtype, shape, (dim, start, end, step), board)
    for perm in permutations(range(4)):
        yield _transpose(f"perm {perm}", "int8", (2, 3, 4, 5), perm, False)
    for index in range(150):
        values = Values("strided", index)
        dtype = values.choice(["int8", "int8", "int16", "int32", "float32"])
        rank = values.integer(1, 6)
        shape = tuple(values.integer(1, 9 - rank) for _ in range(rank))
        order = values.choice(list(permutations(range(len(shape)))))
        yield _transpose(f"random {index}", dtype, shape, order, False)
        dim = values.integer(0, len(shape) - 1)
        start = values.integer(0, shape[dim] - 1)
        where = (dim, start, values.integer(start + 1, shape[dim]), values.integer(1, 4))
        yield _slice(f"random slice {index}", dtype, shape, where, False)


def _transpose(
    name: str, dtype: str, shape: tuple[int, ...], perm: tuple[int, ...], board: bool
) -> Case:
    inputs = {"input": Values("transpose", name).of_type(dtype, *shape)}
    return Case(name, "pl::transpose", inputs, attributes={"perm": list(perm)}, board=board)


def _slice(
    name: str, dtype: str, shape: tuple[int, ...], where: tuple[int, int, int, int], board: bool
) -> Case:
    inputs = {"input": Values("slice", name).of_type(dtype, *shape)}
    attributes = dict(zip(("dim", "start", "end", "step"), where, strict=True))
    return Case(name, "pl::slice", inputs, attributes=attributes, board=board)


CALLS = [
    Valid(
        OpCall(
            "pl::transpose",
            {"input": activation(2, 3), "perm": [1, 0]},
            (activation(3, 2, name="y"),),
        ),
        refused=[({"perm": [0, 0]}, "does not name each dimension")],
    ),
    Valid(
        OpCall(
            "pl::slice",
            {"input": activation(9), "dim": 0, "start": 1, "end": 7, "step": 2},
            (activation(3, name="y"),),
        ),
        refused=[({"start": 7}, "is not a range"), ({"step": 0}, "step is 0")],
    ),
]

MUTANTS = [
    Mutant("strided_copy/strided_copy_x16.c", "to += output_step", "to += input_step"),
    Mutant("strided_copy/strided_copy_x16.c", "input + row.input", "input + row.output"),
    Mutant("common/copy_scalar.c", "for (; bytes > 0; --bytes) *to++ = *from++", ""),
    Mutant("strided_copy/strided_row.c", "row->index[d] = 0", "row->index[d] = 1"),
    Mutant(
        "strided_copy/strided_copy_x8_scalar.c",
        "to += 2 * to_step;\n    to[0]",
        "to += to_step;\n    to[0]",
    ),
    Mutant("strided_copy/strided_copy_x32_scalar.c", "4 * size", "size"),
]


def layers() -> Iterator[Layer]:
    for c in (3, 16):
        call = OpCall(
            "pl::transpose",
            {"input": activation(1, c, 16, 16), "perm": [0, 2, 3, 1]},
            (activation(1, 16, 16, c, name="y"),),
        )
        yield Layer(f"transpose to NHWC, 16x16x{c}", call)
