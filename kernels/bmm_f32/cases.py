# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 bmm."""

from collections.abc import Iterator

from kernels.common.kernel import OpCall
from kernels.testing.calls import floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_NAMED = [(1, 1, 1, 1), (1, 3, 4, 5), (2, 3, 7, 2), (3, 1, 5, 4), (2, 4, 1, 3), (1, 2, 60, 3)]


def cases() -> Iterator[Case]:
    for index in range(40):
        values = Values("bmm", index)
        given = [values.integer(1, 3)] + [values.integer(1, 12) for _ in range(3)]
        batches, rows, depth, columns = _NAMED[index] if index < len(_NAMED) else given
        inputs = {
            "self": values.float32(batches, rows, depth),
            "mat2": values.float32(batches, depth, columns),
        }
        # Up to 60 products of order 1, each rounded and added with an error of 2^-24 of the sum.
        board = index < len(_NAMED)
        name = f"{index}: {batches}x{rows}x{depth}x{columns}"
        yield Case(name, "aten::bmm.out", inputs, board=board, tolerance=1e-5)


CALLS = [
    Valid(
        OpCall(
            "aten::bmm.out",
            {"self": floats(2, 3, 4), "mat2": floats(2, 4, 5)},
            (floats(2, 3, 5, name="y"),),
        ),
        refused=[({"mat2": floats(2, 3, 5)}, "does not give")],
    ),
]

MUTANTS = [
    Mutant("bmm_f32/multiply.h", "a += dims->depth", "a += dims->columns"),
    Mutant("bmm_f32/multiply.h", "a += PL_BLOCK_F32 * dims->depth", "a += dims->depth"),
]


def layers() -> Iterator[Layer]:
    arguments = {"self": floats(2, 16, 16), "mat2": floats(2, 16, 16)}
    call = OpCall("aten::bmm.out", arguments, (floats(2, 16, 16, name="y"),))
    yield Layer("bmm_f32 2x16x16x16", call)
    arguments = {"self": floats(1, 1, 128), "mat2": floats(1, 128, 64)}
    call = OpCall("aten::bmm.out", arguments, (floats(1, 1, 64, name="y"),))
    yield Layer("bmm_f32 1x1x128x64", call)
