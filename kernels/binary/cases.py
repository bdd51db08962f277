# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::maximum, minimum, less, equal, div and prelu."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.broadcast_shapes import pairs
from kernels.testing.calls import INT16_STAGE, STAGE, activation, constant, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_EVERY_VALUE = np.arange(-128, 128, dtype=np.int8)


def cases() -> Iterator[Case]:
    for op in ("maximum", "minimum"):
        for name, a_shape, b_shape, board in pairs(40):
            values = Values(op, name)
            yield _case(op, name, values.int8(*a_shape), values.int8(*b_shape), {}, board)
    for index, (name, a_shape, b_shape, board) in enumerate(pairs(40)):
        values = Values("compare", name)
        # Some places below and above int8.
        table = values.int32(140, 256).clip(-128, 128).astype(np.int16)
        a, b = values.int8(*a_shape), values.int8(*b_shape)
        yield _case("less", name, a, b, {}, board, {"table": table})
        table[:100] = np.arange(-50, 50)
        attributes = {"negated": index % 2 == 0}
        yield _case("equal", name, a, b, attributes, board, {"table": table})
    yield from _div()
    yield from _prelu()
    yield from _int16()


def _div() -> Iterator[Case]:
    for name, a_shape, b_shape, board in pairs(100):
        values = Values("div", name)
        for kind, zero_point in values.zero_points():
            multiplier, shift = values.factor(20.0 * 2**-23)
            low, high = values.activation()
            attributes = {
                "a_zero_point": zero_point(),
                "b_zero_point": zero_point(),
                "output_zero_point": zero_point(),
                "multiplier": multiplier,
                "shift": shift,
                "activation_min": low,
                "activation_max": high,
            }
            a, b = values.int8(*a_shape), values.int8(*b_shape)
            yield _case("div", f"{name}, {kind}", a, b, attributes, board)
    for a_zero_point in (-128, 0, 127):
        for shift in (-31, -23, -22, -18, -8, 0, 30):
            attributes = {
                "a_zero_point": a_zero_point,
                "b_zero_point": -1,
                "output_zero_point": -5,
                "multiplier": 2**30,
                "shift": shift,
                "activation_min": -128,
                "activation_max": 127,
            }
            dividends = np.array([[-128], [-3], [-1], [0], [1], [2], [127]], np.int8)
            name = f"every divisor, {a_zero_point}, {shift}"
            board = shift in (-18, 0)
            yield _case("div", name, dividends, _EVERY_VALUE, attributes, board)


def _prelu() -> Iterator[Case]:
    for name, a_shape, b_shape, board in pairs(60):
        values = Values("prelu", name)
        for kind, zero_point in values.zero_points():
            one = values.choice([1, 40, 127, 508, 2**20])
            multiplier, shift = values.factor(1.0 / one)
            attributes = {
                "input_zero_point": zero_point(),
                "one": one,
                "output_zero_point": zero_point(),
                "multiplier": multiplier,
                "shift": shift,
            }
            inputs = {"input": values.int8(*a_shape)}
            constants = {"slope": values.int8(*b_shape)}
            yield Case(f"prelu, {name}, {kind}", "pl::prelu", inputs, constants, attributes, board)
    for one, shift in ((1, 0), (1, 2), (127, -21), (2**23 // 2, -20), (2**23, -23)):
        values = Values("prelu factor", one, shift)
        attributes = {
            "input_zero_point": values.choice([-128, 127]),
            "one": one,
            "output_zero_point": values.zero_point(),
            "multiplier": 2**30 + 12345,
            "shift": shift,
        }
        inputs = {"input": values.extreme_int8(4, 9)}
        constants = {"slope": values.extreme_int8(9)}
        name = f"prelu, one {one}, shift {shift}"
        yield Case(name, "pl::prelu", inputs, constants, attributes, shift in (0, -23))


def _int16() -> Iterator[Case]:
    for index, (name, a_shape, b_shape, board) in enumerate(pairs(20)):
        values = Values("binary int16", name)
        make = values.extreme_int16 if index % 5 == 4 else values.int16
        a, b = make(*a_shape), make(*b_shape)
        label = f"int16 {name}"
        yield _case("maximum", label, a, b, {}, board)
        yield _case("minimum", label, a, b, {}, board)
        ratio = values.choice([2**31 - 1, 2**30, 2**22])
        factors = {"table": np.array([2**31 - 1, ratio], np.int32)}
        yield _case("less", label, a, b, {}, board, factors)
        few = (a >> 13).astype(np.int16), (b >> 13).astype(np.int16)
        factors = {"table": np.array([2**30, 2**30], np.int32)}
        negated = {"negated": index % 2 == 0}
        yield _case("equal", label, *few, negated, board, factors)
        low, high = values.int16_activation()
        stage = {**INT16_STAGE, "activation_min": low, "activation_max": high}
        for expected in (1000.0, 1.0):
            multiplier, shift = values.factor(expected * 2.0**-30)
            attributes = {"multiplier": multiplier, "shift": shift}
            zeros = {"a_zero_point": 0, "b_zero_point": 0}
            divisors = b if expected == 1000.0 else few[1]
            quotient = f"{label}, {expected}"
            yield _case("div", quotient, a, divisors, {**zeros, **attributes, **stage}, board)
        one = values.choice([1, 40, 127, 508, 2**20])
        multiplier, shift = values.factor(1.0 / one)
        attributes = {
            "input_zero_point": 0,
            "one": one,
            "output_zero_point": 0,
            "multiplier": multiplier,
            "shift": shift,
        }
        constants = {"slope": b}
        yield Case(f"prelu, {label}", "pl::prelu", {"input": a}, constants, attributes, board)


def _case(
    op: str,
    name: str,
    a: AnyArray,
    b: AnyArray,
    attributes: dict[str, Any],
    board: bool,
    constants: dict[str, AnyArray] | None = None,
) -> Case:
    return Case(f"{op}, {name}", f"pl::{op}", {"a": a, "b": b}, constants or {}, attributes, board)


_PAIR = {"a": activation(2, 3), "b": activation(3)}
_TABLE = {"table": constant(range(-128, 128), "int16")}
_WIDE_PAIR = {"a": activation(2, 3, dtype="int16"), "b": activation(3, dtype="int16")}
_WIDE_RESULT = (activation(2, 3, dtype="int16", name="y"),)
_RESULT = (activation(2, 3, name="y"),)
_MASK = (activation(2, 3, dtype="bool", name="y"),)
_FACTOR = {"multiplier": 2**30, "shift": -5}
_DIV = {"a_zero_point": 0, "b_zero_point": 0, **_FACTOR, **STAGE}

CALLS = [
    Valid(
        OpCall("pl::maximum", _PAIR, _RESULT),
        refused=[({"b": activation(2)}, "does not broadcast")],
    ),
    Valid(
        OpCall("pl::minimum", _PAIR, _RESULT),
        refused=[({"a": floats(2, 3)}, "a is float32, not int8")],
    ),
    Valid(
        OpCall("pl::less", _PAIR | _TABLE, _MASK),
        refused=[
            ({"table": constant(range(100), "int16")}, "100 entries, not 256"),
            (_WIDE_PAIR, "table is int16, not int32"),
            (_WIDE_PAIR | {"table": constant([1, 2, 3], "int32")}, "3 entries, not 2 factors"),
        ],
    ),
    Valid(
        OpCall("pl::equal", _PAIR | _TABLE | {"negated": False}, _MASK),
        refused=[({"table": constant(range(100))}, "table is int8, not int16")],
    ),
    Valid(
        OpCall("pl::div", _PAIR | _DIV, _RESULT),
        refused=[
            ({"multiplier": -(2**30)}, "2\\^30"),
            ({"b_zero_point": 200}, "b_zero_point is 200"),
        ],
    ),
    Valid(
        OpCall(
            "pl::prelu",
            {
                "input": activation(2, 3),
                "slope": constant([1, 2, 3]),
                "input_zero_point": 0,
                "one": 127,
                "output_zero_point": 0,
                **_FACTOR,
            },
            _RESULT,
        ),
        refused=[
            ({"input": floats(2, 3)}, "float32, not int8 or int16"),
            ({"one": 2**24}, "one is 16777216"),
            ({"one": 0}, "one is 0"),
        ],
    ),
    Valid(
        OpCall("pl::div", _WIDE_PAIR | _DIV | INT16_STAGE, _WIDE_RESULT),
        refused=[({"shift": 15}, "at most 14"), ({"b": activation(3)}, "b is int8, not int16")],
    ),
]

MUTANTS = [
    Mutant("binary/maximum_s8_scalar.c", "a > b", "a < b"),
    Mutant("binary/less_s8_scalar.c", "a < table", "a <= table"),
    Mutant("binary/equal_s8_scalar.c", "!= params->negated", "!= 0"),
    Mutant("binary/div_s8_scalar.c", "FRACTION_BITS 23", "FRACTION_BITS 22"),
    Mutant("binary/div_s8_scalar.c", "divisor == 0 ? 1", "0 ? 1"),
    Mutant("binary/div_s8_scalar.c", "(divisor < 0)", "0"),
    Mutant("binary/prelu_s8_scalar.c", "x > 0", "a > 0"),
    Mutant("binary/prelu_s8_scalar.c", "2 * params->output_zero_point + 1", "1"),
    Mutant("binary/maximum_s16_scalar.c", "a > b", "a < b"),
    Mutant("binary/minimum_s16_scalar.c", "a < b", "a > b"),
    Mutant("binary/less_s16_scalar.c", "b * factors[1]", "b * factors[0]"),
    Mutant("binary/equal_s16_scalar.c", "!= params->negated", "!= 0"),
    Mutant("binary/div_s16_scalar.c", "n % d << 15", "n % d << 14"),
    Mutant("binary/div_s16_scalar.c", "(a < 0) != (b < 0)", "a < 0"),
    Mutant(
        "binary/prelu_s16_scalar.c",
        "pl_product_64(a, a > 0 ? params->one : b)",
        "a * (a > 0 ? params->one : b)",
    ),
    Mutant("binary/elementwise.h", "output += bytes", "output += 2"),
]


def layers() -> Iterator[Layer]:
    pair = {"a": activation(4096), "b": activation(4096)}
    result = (activation(4096, name="y"),)
    yield Layer("maximum 4096", OpCall("pl::maximum", pair, result))
    mask = (activation(4096, dtype="bool", name="y"),)
    yield Layer("less 4096", OpCall("pl::less", pair | _TABLE, mask))
    yield Layer("div 4096", OpCall("pl::div", pair | _DIV, result))
    prelu = {
        "input": activation(8, 8, 16),
        "slope": constant(np.arange(16), "int8"),
        "input_zero_point": -128,
        "one": 127,
        "output_zero_point": -3,
        "multiplier": 1623821475,
        "shift": -7,
    }
    call = OpCall("pl::prelu", prelu, (activation(8, 8, 16, name="y"),))
    yield Layer("prelu 8x8x16, per channel", call)
