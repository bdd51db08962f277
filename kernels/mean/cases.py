# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::mean."""

import math
from collections.abc import Iterator

from kernels.common.kernel import AnyArray
from kernels.testing.case import Case
from kernels.testing.reductions import reductions
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for name, shape, dim, keepdim, board in reductions(150):
        values = Values("mean", name)
        count = math.prod(shape[d] for d in dim)
        for kind, zero_point in values.zero_points():
            given, factor = values.int8(*shape), values.factor(4 / count)
            points = (zero_point(), zero_point())
            yield _case(f"{name}, {kind}", given, dim, keepdim, factor, points, board)
    for shift in (-31, -12, -1, 0, 2, 30):
        for multiplier in (2**30, 2**31 - 1, 2**29 + 1, 1, 0):
            for output in (-128, 127):
                name = f"factor {multiplier}, {shift}, zero point {output}"
                values = Values("mean", name)
                given, board = values.extreme_int8(3, 50), shift in (-1, 30)
                factor, points = (multiplier, shift), (0, output)  # 0: sums of both signs
                yield _case(name, given, [1], False, factor, points, board)


def _case(
    name: str,
    given: AnyArray,
    dim: list[int],
    keepdim: bool,
    factor: tuple[int, int],
    zero_points: tuple[int, int],
    board: bool,
) -> Case:
    attributes = {
        "dim": dim,
        "keepdim": keepdim,
        "input_zero_point": zero_points[0],
        "output_zero_point": zero_points[1],
        "multiplier": factor[0],
        "shift": factor[1],
    }
    return Case(name, "pl::mean", {"input": given}, attributes=attributes, board=board)
