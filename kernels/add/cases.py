# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::add."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.broadcast_shapes import pairs
from kernels.testing.calls import AFTER_RELU, INT16_STAGE, STAGE, activation
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for index, (name, a_shape, b_shape, board) in enumerate(pairs(150)):
        values = Values("add", name)
        for kind, zero_point in values.zero_points():
            attributes = _attributes(values, zero_point)
            if index % 4 == 1:  # a subtraction
                attributes["b_multiplier"] = -attributes["b_multiplier"]
            a, b = values.int8(*a_shape), values.int8(*b_shape)
            yield _case(f"{name}, {kind}", a, b, attributes, board)
    yield from _short_rows()
    yield from _every_pair()
    yield from _factors()
    yield from _saturating()
    yield from _up()
    yield from _int16()


def _attributes(values: Values, zero_point: Callable[[], int]) -> dict[str, Any]:
    """Return attributes as in lowering: operands at half scale or less, left_shift 20."""
    a_multiplier, a_shift = values.factor(1 / 8)
    b_multiplier, b_shift = values.factor(1 / 8)
    output_multiplier, output_shift = values.factor(2.0**-16)
    low, high = values.activation()
    return {
        "a_zero_point": zero_point(),
        "a_multiplier": a_multiplier,
        "a_shift": a_shift,
        "b_zero_point": zero_point(),
        "b_multiplier": b_multiplier,
        "b_shift": b_shift,
        "left_shift": 20,
        "output_zero_point": zero_point(),
        "output_multiplier": output_multiplier,
        "output_shift": output_shift,
        "activation_min": low,
        "activation_max": high,
    }


def _short_rows() -> Iterator[Case]:
    """Yield cases with short rows crossed by vectors; also with operands at half scale."""
    for size, shape, short in (23, (5, 3, 23), (5, 1, 23)), (11, (2, 17, 11), (17, 1)):
        for halved in (), ("a",), ("b",), ("a", "b"):
            values = Values("add of short rows", size, *halved)
            attributes = _attributes(values, values.zero_point)
            for operand in halved:
                factor = {f"{operand}_multiplier": 2**30, f"{operand}_shift": 0}
                attributes |= factor
            a, b = values.int8(*shape), values.int8(*short)
            name = f"short rows of {size}, {' and '.join(halved) or 'nothing'} halved"
            yield _case(name, a, b, attributes, True)
            yield _case(f"{name}, swapped", b, a, attributes, size == 11)


def _every_pair() -> Iterator[Case]:
    """Yield cases with all values of b for a few of a, with ties: scales that are powers of two."""
    every_value = np.arange(-128, 128, dtype=np.int8)
    for index, output_shift in enumerate((-20, -19, -18, -17)):
        values = Values("add ties", index)
        attributes = _attributes(values, values.zero_point) | {
            "a_multiplier": 2**30,
            "a_shift": 0,
            "b_multiplier": values.choice([2**30, -(2**30)]),
            "b_shift": -1,
            "output_multiplier": 2**30,
            "output_shift": output_shift,
        }
        a = np.array([[-128], [-127], [-1], [0], [1], [127]], np.int8)
        yield _case(f"ties {index}", a, every_value, attributes, index < 2)
        tall = np.repeat(a, 256, axis=1)
        wide = np.tile(every_value, (6, 1))
        yield _case(f"ties, same shape {index}", tall, wide, attributes, False)
        # Operands of half their values, without rounding after them.
        up = attributes | {"a_shift": -1, "left_shift": 1, "output_shift": 1}
        yield _case(f"ties, no division {index}", a, every_value, up, False)


def _factors() -> Iterator[Case]:
    for shift in (-31, -9, -1, 0, 1, 2):
        for left_shift in (0, 7, 20):
            values = Values("add factor", shift, left_shift)
            attributes = _attributes(values, values.zero_point) | {
                "a_shift": shift,
                "b_shift": min(shift, 0),
                "left_shift": left_shift,
                "output_shift": values.choice([-31, -18, -17, -1, 0, 2, 30]),
            }
            name = f"shifts {shift}, {left_shift}"
            yield _case(name, values.int8(60), values.int8(60), attributes, left_shift == 20)


def _up() -> Iterator[Case]:
    """Yield cases with an undivided operand."""
    for name, a_shape, b_shape, board in pairs(12):
        values = Values("add up", name)
        multiplier, shift = values.factor(2.0**-20)
        attributes = _attributes(values, values.zero_point) | {
            "a_multiplier": 3 * 2**29,
            "a_shift": 0,
            "output_multiplier": multiplier,
            "output_shift": shift,
        }
        a, b = values.int8(*a_shape), values.int8(*b_shape)
        yield _case(f"{name}, no division", a, b, attributes, board)


def _saturating() -> Iterator[Case]:
    """Yield cases with results beyond int32 before a zero point is added."""
    for zero_point in (-128, 127):
        values = Values("add saturating", zero_point)
        attributes = _attributes(values, values.zero_point) | {
            "output_multiplier": 2**31 - 1,
            "output_shift": 30,
            "output_zero_point": zero_point,
        }
        a, b = values.extreme_int8(40), values.extreme_int8(40)
        yield _case(f"saturating, {zero_point}", a, b, attributes, True)


def _int16() -> Iterator[Case]:
    for index, (name, a_shape, b_shape, board) in enumerate(pairs(30)):
        values = Values("add int16", name)
        low, high = values.int16_activation()
        attributes = _attributes(values, lambda: 0) | {
            "left_shift": values.choice([15, 15, 0, 7]),
            "activation_min": low,
            "activation_max": high,
        }
        if index % 4 == 1:  # a subtraction
            attributes["b_multiplier"] = -attributes["b_multiplier"]
        attributes["output_shift"] += 12
        a, b = values.int16(*a_shape), values.int16(*b_shape)
        yield _case(f"int16 {name}", a, b, attributes, board)
        a, b = values.extreme_int16(*a_shape), values.extreme_int16(*b_shape)
        yield _case(f"int16 extreme {name}", a, b, attributes, False)
        attributes |= {"a_multiplier": 3 * 2**29, "a_shift": 0}
        yield _case(f"int16 not down {name}", a, b, attributes, index == 0)
    yield from _int16_down()
    factors = [(2**30, 0), (2**31 - 1, -1), (-(2**30), 0), (0, 0), (2**30 + 12345, -30)]
    for index, (left_shift, up) in enumerate([(15, 0), (0, 14), (7, 7), (0, 0)]):
        for a_factor, b_factor in zip(factors, [*factors[1:], factors[0]], strict=True):
            values = Values("add int16 factors", index, a_factor[0])
            attributes = _attributes(values, lambda: 0) | {
                "left_shift": left_shift,
                "a_multiplier": a_factor[0],
                "a_shift": a_factor[1] + up,
                "b_multiplier": b_factor[0],
                "b_shift": b_factor[1] + up,
                "output_multiplier": 3 * 2**29,
                "output_shift": (-14, -15, 0, 2)[index],
                "activation_min": -(2**15),
                "activation_max": 2**15 - 1,
            }
            a, b = values.extreme_int16(21), values.int16(21)
            name = f"int16 factors {a_factor}, {b_factor}, shifts {left_shift}, {up}"
            yield _case(name, a, b, attributes, index < 2)
    values = Values("add int16 ties")
    attributes = _attributes(values, lambda: 0) | {
        "left_shift": 1,
        "a_multiplier": 2**30,
        "a_shift": 0,
        "b_multiplier": -(2**30),
        "b_shift": -2,
        "output_multiplier": 2**31 - 1,
        "output_shift": -1,
        "activation_min": -(2**15),
        "activation_max": 2**15 - 1,
    }
    a, b = values.int16(40), np.arange(-20, 20, dtype=np.int16)
    yield _case("int16 ties of a quarter that is taken off", a, b, attributes, True)


def _int16_down() -> Iterator[Case]:
    """Yield cases with all kinds of operands of pl_add_down_s16, in rows of all lengths."""
    for index, (name, a_shape, b_shape, board) in enumerate(pairs(40)):
        values = Values("add int16 down", name)
        low, high = values.int16_activation()
        attributes = _attributes(values, lambda: 0) | {
            "left_shift": 15,
            "a_shift": -1,
            "b_shift": -2,
            "output_shift": values.choice([-13, -14, -15, -17]),
            "activation_min": low,
            "activation_max": high,
        }
        for operand, halved in ("a", index & 1), ("b", index & 2):
            if halved:
                attributes |= {f"{operand}_multiplier": 2**30, f"{operand}_shift": 0}
        if index % 5 == 1:  # a subtraction
            attributes["b_multiplier"] = -attributes["b_multiplier"]
        make = values.choice([values.int16, values.extreme_int16])
        yield _case(f"int16 down {name}", make(*a_shape), make(*b_shape), attributes, board)


def _case(name: str, a: AnyArray, b: AnyArray, attributes: dict[str, Any], board: bool) -> Case:
    return Case(name, "pl::add", {"a": a, "b": b}, attributes=attributes, board=board)


CALLS = [
    Valid(
        OpCall(
            "pl::add",
            {
                "a": activation(2, 3),
                "b": activation(3),
                **{f"{name}_zero_point": 0 for name in "ab"},
                **{f"{name}_multiplier": 2**30 for name in "ab"},
                **{f"{name}_shift": 0 for name in "ab"},
                "left_shift": 20,
                "output_multiplier": 2**30,
                "output_shift": -18,
                **STAGE,
            },
            (activation(2, 3, name="y"),),
        ),
        refused=[
            ({"b": activation(2)}, "does not broadcast"),
            ({"left_shift": 23}, "left_shift is 23"),
            ({"a_multiplier": 2**31 - 1, "a_shift": 10}, "int32 overflows"),
        ],
    ),
]

_WIDE = {f"{name}_multiplier": 2**30 for name in ("a", "b", "output")}
CALLS.append(
    Valid(
        OpCall(
            "pl::add",
            {
                "a": activation(2, 3, dtype="int16"),
                "b": activation(3, dtype="int16"),
                **{f"{name}_zero_point": 0 for name in "ab"},
                **_WIDE,
                **{f"{name}_shift": 0 for name in "ab"},
                "left_shift": 15,
                "output_shift": -14,
                **INT16_STAGE,
            },
            (activation(2, 3, dtype="int16", name="y"),),
        ),
        refused=[
            ({"b": activation(3)}, "b is int8, not int16"),
            ({"left_shift": 16}, "left_shift is 16"),
            ({"a_zero_point": 1}, "a_zero_point is 1"),
        ],
    )
)

MUTANTS = [
    Mutant("common/requantize.h", "shift == 0 ? high", "shift == 1 ? high"),
    Mutant("common/requantize.h", "(h + (h >> 31))", "h"),
    Mutant(
        "common/requantize.h",
        "pl_clamp(x, minimum - zero_point, maximum - zero_point) + zero_point",
        "pl_clamp(x + zero_point, minimum, maximum)",
    ),
    Mutant("add/add_down_s8_scalar.c", "of.output += of.count * size", "of.output += size"),
    Mutant("add/add_s8_scalar.c", "(1 << left_shift)", "(1 << 20)"),
    Mutant("add/add_s8_scalar.c", "scale(a[i], &p.a, p.left_shift) + scaled_b", "scaled_b"),
    Mutant("add/add_down_s16_scalar.c", "((d ^ o->multiplier) >> 31)", "(d >> 31)"),
    Mutant("add/add_down_s16_scalar.c", "swap ? 1 : b_step", "1"),
    Mutant("add/add_down_s16_scalar.c", "of.output += of.count * size", "of.output += size"),
    Mutant("add/add_down_s16_scalar.c", "of.y += of.y_gap", "of.y += of.x_gap"),
    Mutant("add/add_down_s16_scalar.c", "swap ? a_gap : b_gap", "b_gap"),
    Mutant("add/add_s16_scalar.c", "--left, b += b_step", "--left, ++b"),
    Mutant("add/add_s16_scalar.c", "(1 << left_shift)", "(1 << 15)"),
    Mutant("add/add_s16_scalar.c", "p.activation_min", "INT16_MIN"),
    Mutant("common/broadcast.c", "row->index[d] = 0", "row->index[d] = 1"),
]


def layers() -> Iterator[Layer]:
    yield _layer("add 16384", (16384,), (16384,), "resnet8/add1")
    yield _layer("add 8192", (8192,), (8192,), "resnet8/add2")
    yield _layer("add 4096", (4096,), (4096,), "resnet8/add3")
    yield _layer("add 4096, one value", (64, 64), (1,))
    yield _layer("add 19", (19,), (19,))
    yield _layer("add 32x7, per channel", (32, 7), (7,))
    yield _layer("add 32x5, per row", (32, 5), (32, 1))
    yield _int16_layer("add int16 1024", (1024,), (1024,))
    yield _int16_layer("add int16 8x8x16, per channel", (8, 8, 16), (16,))


def _layer(name: str, a: tuple[int, ...], b: tuple[int, ...], peer: str = "") -> Layer:
    arguments = {
        "a": activation(*a),
        "b": activation(*b),
        "a_zero_point": -128,
        "a_multiplier": 2**30,
        "a_shift": 0,
        "b_zero_point": 4,
        "b_multiplier": 1623821475,
        "b_shift": -2,
        "left_shift": 20,
        "output_multiplier": 1098017566,
        "output_shift": -18,
        **AFTER_RELU,
    }
    return Layer(name, OpCall("pl::add", arguments, (activation(*a, name="y"),)), peer)


def _int16_layer(name: str, a: tuple[int, ...], b: tuple[int, ...]) -> Layer:
    arguments = {
        "a": activation(*a, dtype="int16"),
        "b": activation(*b, dtype="int16"),
        "a_zero_point": 0,
        "a_multiplier": 2**30,
        "a_shift": 0,
        "b_zero_point": 0,
        "b_multiplier": 1623821475,
        "b_shift": -2,
        "left_shift": 15,
        "output_multiplier": 1098017566,
        "output_shift": -14,
        **INT16_STAGE,
    }
    return Layer(name, OpCall("pl::add", arguments, (activation(*a, dtype="int16", name="y"),)))
