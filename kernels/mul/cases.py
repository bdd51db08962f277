# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::mul."""

from collections.abc import Callable, Iterator

from kernels.common.kernel import AnyArray
from kernels.testing.broadcast_shapes import pairs
from kernels.testing.case import Case
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for name, a_shape, b_shape, board in pairs(150):
        values = Values("mul", name)
        for kind, zero_point in values.zero_points():
            factor = values.factor(1 / 100)
            a, b = values.int8(*a_shape), values.int8(*b_shape)
            yield _case(f"{name}, {kind}", a, b, values, factor, board, zero_point)
    for index in range(6):
        values = Values("mul extreme", index)
        a, b = values.extreme_int8(40), values.extreme_int8(40)
        factor = values.factor(1 / 200)
        name = f"extreme products {index}"
        yield _case(name, a, b, values, factor, index < 2, values.zero_point)
    for shift in (-31, -16, -15, -1, 0, 1, 3, 16, 30):
        for multiplier in (2**30, 2**31 - 1, 0):
            values = Values("mul factor", shift, multiplier)
            name = f"factor {multiplier}, {shift}"
            a, b = values.int8(30), values.int8(30)
            factor, board = (multiplier, shift), shift in (-15, 0, 3)
            yield _case(name, a, b, values, factor, board, values.zero_point)


def _case(
    name: str,
    a: AnyArray,
    b: AnyArray,
    values: Values,
    factor: tuple[int, int],
    board: bool,
    zero_point: Callable[[], int],
) -> Case:
    low, high = values.activation()
    attributes = {
        "a_zero_point": zero_point(),
        "b_zero_point": zero_point(),
        "output_zero_point": zero_point(),
        "multiplier": factor[0],
        "shift": factor[1],
        "activation_min": low,
        "activation_max": high,
    }
    return Case(name, "pl::mul", {"a": a, "b": b}, attributes=attributes, board=board)
