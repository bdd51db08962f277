# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::mean."""

import math
from collections.abc import Iterator
from dataclasses import replace

from kernels.common.kernel import AnyArray
from kernels.testing.case import Case
from kernels.testing.reductions import reductions
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for name, shape, dim, keepdim, board in reductions(150):
        values = Values("mean", name)
        count = math.prod(shape[d] for d in dim)
        factor = values.factor(1 / count)
        yield _case(name, values.int8(*shape), dim, keepdim, values, factor, board)
    for shift in (-31, -12, -1, 0, 2, 30):
        for multiplier in (2**30, 2**31 - 1, 0):
            for zero_point in (-128, 127):
                name = f"factor {multiplier}, {shift}, zero point {zero_point}"
                values = Values("mean", name)
                given, board = values.extreme_int8(3, 50), shift in (-1, 30)
                case = _case(name, given, [1], False, values, (multiplier, shift), board)
                # Sums of both signs.
                changed = {"input_zero_point": 0, "output_zero_point": zero_point}
                yield replace(case, attributes={**case.attributes, **changed})


def _case(
    name: str,
    given: AnyArray,
    dim: list[int],
    keepdim: bool,
    values: Values,
    factor: tuple[int, int],
    board: bool,
) -> Case:
    attributes = {
        "dim": dim,
        "keepdim": keepdim,
        "input_zero_point": values.zero_point(),
        "output_zero_point": values.zero_point(),
        "multiplier": factor[0],
        "shift": factor[1],
    }
    return Case(name, "pl::mean", {"input": given}, attributes=attributes, board=board)
