# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::mul."""

from collections.abc import Callable, Iterator

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.broadcast_shapes import pairs
from kernels.testing.calls import AFTER_RELU, INT16_STAGE, STAGE, activation
from kernels.testing.case import Case, Layer, Mutant, Valid
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
    for rows, size in (180, 20), (110, 31), (70, 35):
        for b_shape in (1, size), (rows, 1):
            values = Values("mul of many short rows", size, b_shape[0])
            a, b = values.int8(rows, size), values.int8(*b_shape)
            name = f"many short rows of {size}, {b_shape[0]} of b"
            yield _case(name, a, b, values, values.factor(1 / 100), size == 31, values.zero_point)
    for shift in (-31, -16, -15, -1, 0, 1, 3, 16, 30):
        for multiplier in (2**30, 2**31 - 1, 0):
            values = Values("mul factor", shift, multiplier)
            name = f"factor {multiplier}, {shift}"
            a, b = values.int8(30), values.int8(30)
            factor, board = (multiplier, shift), shift in (-15, 0, 3)
            yield _case(name, a, b, values, factor, board, values.zero_point)
    for name, a_shape, b_shape, board in pairs(12):
        values = Values("mul up", name)
        a, b = (values.int8(*shape) // 12 for shape in (a_shape, b_shape))
        yield _case(f"{name}, no division", a, b, values, (2**30, 0), board, lambda: 3)
    for name, a_shape, b_shape, board in pairs(30):
        values = Values("mul int16", name)
        low, high = values.int16_activation()
        for kind, make in ("", values.int16), ("extreme ", values.extreme_int16):
            multiplier, shift = values.factor(2.0**-14)
            attributes = {
                "a_zero_point": 0,
                "b_zero_point": 0,
                "multiplier": multiplier,
                "shift": shift,
                **INT16_STAGE,
                "activation_min": low,
                "activation_max": high,
            }
            operands = {"a": make(*a_shape), "b": make(*b_shape)}
            yield Case(f"int16 {kind}{name}", "pl::mul", operands, {}, attributes, board)
        attributes |= {"shift": -21}
        yield Case(f"int16 far down {name}", "pl::mul", operands, {}, attributes, False)
    for shift in (-31, -15, -1, 0, 1, 16, 30):
        for multiplier in (2**30, 2**31 - 1, 0):
            values = Values("mul int16 factor", shift, multiplier)
            attributes = {
                "a_zero_point": 0,
                "b_zero_point": 0,
                "multiplier": multiplier,
                "shift": shift,
                **INT16_STAGE,
            }
            few = values.int8(30) // 3
            operands = {"a": few.astype(np.int16), "b": values.extreme_int16(30)}
            name = f"int16 factor {multiplier}, {shift}"
            yield Case(name, "pl::mul", operands, {}, attributes, shift in (-31, -1, 0, 16))
    for name, multiplier in ("", 2**30 + 1000), ("not ", 2**30 + 2**16):
        values = Values("mul int16, the largest product", name)
        least = np.full(5, -(2**15), np.int16)
        attributes = {
            "a_zero_point": 0,
            "b_zero_point": 0,
            "multiplier": multiplier,
            "shift": -16,
            **INT16_STAGE,
        }
        operands = {"a": least, "b": np.append(least[1:], values.int16(1))}
        name = f"int16, the largest product is {name}as the one before"
        yield Case(name, "pl::mul", operands, {}, attributes, True)


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


CALLS = [
    Valid(
        OpCall(
            "pl::mul",
            {
                "a": activation(2, 3),
                "b": activation(3),
                "a_zero_point": 0,
                "b_zero_point": 0,
                "multiplier": 2**30,
                "shift": -7,
                **STAGE,
            },
            (activation(2, 3, name="y"),),
        ),
        refused=[
            ({"b": activation(2)}, "does not broadcast"),
            ({"shift": -32}, "shift .* is -32"),
            ({"activation_max": 128}, "activation_max is 128"),
        ],
    ),
    Valid(
        OpCall(
            "pl::mul",
            {
                "a": activation(2, 3, dtype="int16"),
                "b": activation(3, dtype="int16"),
                "a_zero_point": 0,
                "b_zero_point": 0,
                "multiplier": 2**30,
                "shift": -14,
                **INT16_STAGE,
            },
            (activation(2, 3, dtype="int16", name="y"),),
        ),
        refused=[
            ({"b": activation(3)}, "b is int8, not int16"),
            ({"b_zero_point": 1}, "b_zero_point is 1"),
        ],
    ),
]

MUTANTS = [
    Mutant("common/requantize.h", "x > maximum ? maximum : x", "x"),
    Mutant("common/product_high.h", "m + (1 << 30)", "m"),
    Mutant(
        "common/requantize.h",
        "pl_clamp(x, minimum - zero_point, maximum - zero_point) + zero_point",
        "pl_clamp(x + zero_point, minimum, maximum)",
    ),
    Mutant("mul/mul_down_s8_scalar.c", "*of.b - s.b_zero_point;", "*of.b;"),
    Mutant("common/narrow_down.h", "(sum >> 31)", "0"),
    Mutant(
        "common/broadcast.h",
        "row->b += dims->b_stride[d] * dims->size[d]",
        "row->b += dims->b_stride[d]",
    ),
    Mutant("mul/mul_down_s16_scalar.c", "PL_SATURATE(product, 31)", "product"),
    Mutant("mul/mul_down_s16_scalar.c", "*of.a++ * factor, &s", "*of.a++ * *of.b++, &s"),
    Mutant("mul/mul_s8_scalar.c", "b - p.b_zero_point", "b"),
    Mutant("mul/mul_s16_scalar.c", "--left, b += b_step", "--left, ++b"),
    Mutant("mul/mul_s16_scalar.c", "p.activation_max", "INT16_MAX"),
    Mutant("common/broadcast.c", "- dims->b_stride[d] * dims", "- dims->a_stride[d] * dims"),
]


def layers() -> Iterator[Layer]:
    yield _layer("mul 4096", (4096,), (4096,))
    yield _layer("mul 4096, per channel", (64, 64), (64,))
    yield _layer("mul 19", (19,), (19,))
    yield _layer("mul 32x7, per channel", (32, 7), (7,))
    yield _int16_layer("mul int16 1024", (1024,), (1024,))
    yield _int16_layer("mul int16 8x8x16, per channel", (8, 8, 16), (16,))


def _layer(name: str, a: tuple[int, ...], b: tuple[int, ...]) -> Layer:
    arguments = {
        "a": activation(*a),
        "b": activation(*b),
        "a_zero_point": -3,
        "b_zero_point": -128,
        "multiplier": 1623821475,
        "shift": -7,
        **AFTER_RELU,
    }
    return Layer(name, OpCall("pl::mul", arguments, (activation(*a, name="y"),)))


def _int16_layer(name: str, a: tuple[int, ...], b: tuple[int, ...]) -> Layer:
    arguments = {
        "a": activation(*a, dtype="int16"),
        "b": activation(*b, dtype="int16"),
        "a_zero_point": 0,
        "b_zero_point": 0,
        "multiplier": 1623821475,
        "shift": -7,
        **INT16_STAGE,
    }
    return Layer(name, OpCall("pl::mul", arguments, (activation(*a, dtype="int16", name="y"),)))
