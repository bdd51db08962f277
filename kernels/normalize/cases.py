# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::normalize."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray, OpCall, Value
from kernels.testing.calls import INT16_STAGE, STAGE, activation, constant
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

MAX_BIAS = 3 * 2**28

# name, input, parts, shape of weight and bias, on boards too
_SHAPES: list[tuple[str, tuple[int, ...], list[int], tuple[int, ...], bool]] = [
    ("layer norm", (3, 12), [3, 1], (12,), True),
    ("layer norm, two dimensions", (2, 3, 8), [2, 1, 1], (3, 8), False),
    ("layer norm, not affine", (2, 3, 8), [2, 3, 1], (1,), True),
    ("layer norm, everything", (5, 7), [1, 1], (5, 7), False),
    ("layer norm of channels, NCHW", (2, 6, 3, 4), [2, 1, 3, 4], (6, 1, 1), True),
    ("layer norm, long", (1, 5000), [1, 1], (5000,), False),
    ("group norm, NHWC", (2, 3, 3, 8), [2, 1, 1, 4], (8,), True),
    ("group norm, NCHW", (2, 6, 3, 3), [2, 3, 1, 1], (6, 1, 1), True),
    ("group norm, one group", (2, 4, 4, 6), [2, 1, 1, 1], (6,), False),
    ("group norm, not affine", (1, 4, 4, 6), [1, 1, 1, 2], (1,), False),
    ("group norm, NDHWC", (2, 2, 3, 2, 6), [2, 1, 1, 1, 3], (6,), False),
    ("instance norm, NHWC", (2, 4, 3, 5), [2, 1, 1, 5], (5,), True),
    ("instance norm, NCL", (2, 5, 9), [2, 5, 1], (5, 1), False),
    ("three dimensions of parts", (2, 2, 3, 2, 3, 4), [2, 1, 3, 1, 3, 1], (3, 4), False),
    ("one value", (4, 1), [4, 1], (1,), True),
    ("two values", (50, 2), [50, 1], (2,), False),
    ("vector", (33,), [1], (33,), False),
]


def cases() -> Iterator[Case]:
    for name, shape, parts, affine, board in _SHAPES:
        for centered in (True, False):
            values = Values("normalize", name, int(centered))
            kind = "centered" if centered else "not centered"
            for what, given in _inputs(values, shape):
                yield _case(
                    f"{name}, {kind}, {what}", values, given, parts, affine, centered, board
                )
    for index in range(60):
        values = Values("normalize", index)
        shape = tuple(values.integer(1, 7) for _ in range(values.integer(1, 4)))
        parts = [values.choice([1, size]) for size in shape]
        affine = tuple(values.choice([1, size]) for size in shape)
        given = values.int8(*shape)
        yield _case(f"random {index}", values, given, parts, affine, bool(index % 2), False)
    yield from _int16()
    # The last one is far above any variance.
    for epsilon, shift, bits in ((0, 0, 28), (1, 2, 28), (2**40, 30, 28), (2**61, -20, 59)):
        values = Values("normalize", epsilon, shift)
        given = values.int8(2, 10)
        more = {"epsilon": epsilon, "radicand_shift": shift, "normalized_bits": bits}
        name = f"epsilon {epsilon}, radicand_shift {shift}"
        yield _case(name, values, given, [2, 1], (10,), True, True, **more)
    yield from _bounded()
    # The root mean square of equal values is their magnitude. The bias cancels the normalized value
    # except for its last bits.
    values = Values("normalize", "last bits")
    equal = np.repeat(np.arange(-120, 121, 16, dtype=np.int8).reshape(-1, 1), 10, axis=1)
    parts = [len(equal), 1]
    numbers = {"output_bits": 1, "normalized_bits": 28, "epsilon": 0, "input_zero_point": -128}
    exact = _case("last bits", values, equal, parts, (1,), False, True, **numbers, **STAGE)
    constants = {"weight": np.array([2**31 - 1], np.int32), "bias": np.array([-(2**27)], np.int32)}
    yield replace(exact, constants=constants)


def _bounded() -> Iterator[Case]:
    """Yield roots with a floor, with an addend, and with both, and rows on either side of them."""
    rows = np.array([[0, 1], [1, 0], [3, 9], [-40, 40], [-128, 127]])
    rows = np.tile(rows, 6)
    for index, (floor, addend) in enumerate(
        ((2**40, 0), (2**60, 0), (2**62 - 1, 0), (0, 1), (0, 2**20), (0, 2**30), (2**50, 2**26))
    ):
        for wide in (False, True):
            values = Values("normalize bounded", index, int(wide))
            given = (rows * 256).astype(np.int16) if wide else rows.astype(np.int8)
            more = {"floor": floor, "addend": addend, "epsilon": 0}
            name = f"{'int16 ' if wide else ''}floor {floor}, addend {addend}"
            yield _case(name, values, given, [len(rows), 1], (12,), bool(index % 2), True, **more)


def _int16() -> Iterator[Case]:
    for name, shape, parts, affine, board in _SHAPES:
        for centered in (True, False):
            values = Values("normalize int16", name, int(centered))
            kind = "centered" if centered else "not centered"
            small = (values.int16(*shape) % 5 + values.integer(-32760, 32760)).astype(np.int16)
            for what, given in (
                ("all values", values.int16(*shape)),
                ("ends", values.extreme_int16(*shape)),
                ("close together", small),
            ):
                full = f"int16 {name}, {kind}, {what}"
                if given.size <= 2000:  # because of the test's memory
                    yield _case(full, values, given, parts, affine, centered, board)


def _inputs(values: Values, shape: tuple[int, ...]) -> Iterator[tuple[str, AnyArray]]:
    yield "all values", values.int8(*shape)
    yield "ends", values.extreme_int8(*shape)
    offset, size = values.integer(-120, 120), values.integer(1, 5)
    yield "close together", (values.int8(*shape) % size + offset).astype(np.int8)
    outlier = np.full(shape, -128, np.int8)
    outlier.reshape(-1)[0] = 127
    yield "one outlier, the rest constant", outlier


def _case(
    name: str,
    values: Values,
    given: AnyArray,
    parts: Sequence[int],
    affine: tuple[int, ...],
    centered: bool,
    board: bool,
    **more: Any,
) -> Case:
    count = given.size // math.prod(parts)
    bits = values.integer(1, 20)
    # Bits as chosen by kernels/normalize/op.py, and often bits with which a few values saturate.
    wide = given.dtype == np.int16
    shift = math.floor(((29 if wide else 45) - 2 * math.log2(count)) / 2) * 2
    normalized = 30 - math.ceil(math.log2(count) / 2)
    gain = 2.0 ** (values.integer(3, 6) + 32 + bits - normalized)
    weight = np.clip(values.float32(*affine) * gain, -(2.0**31) + 128, 2.0**31 - 128)
    bias = np.clip(values.float32(*affine) * 60 * 2.0**bits, -MAX_BIAS, MAX_BIAS)
    low, high = values.int16_activation() if wide else values.activation()
    attributes = {
        "parts": list(parts),
        "centered": centered,
        "epsilon": values.choice([0, 1, 2**30, 2**45, 2**61]),
        "floor": 0,
        "addend": 0,
        "radicand_shift": shift,
        "normalized_bits": normalized,
        "output_bits": bits,
        "input_zero_point": 0 if wide else values.zero_point(),
        "output_zero_point": 0 if wide else values.zero_point(),
        "activation_min": low,
        "activation_max": high,
        **more,
    }
    constants = {"weight": weight.astype(np.int32), "bias": bias.astype(np.int32)}
    return Case(name, "pl::normalize", {"input": given}, constants, attributes, board)


def _affine(zeros: AnyArray) -> dict[str, Value]:
    return {name: constant(zeros, "int32") for name in ("weight", "bias")}


_SHAPE = (2,) * 6
_ARGUMENTS = {
    "input": activation(*_SHAPE),
    "weight": constant([2**30], "int32"),
    "bias": constant([0], "int32"),
    "parts": [2, 2, 2, 2, 1, 1],
    "centered": True,
    "epsilon": 2**30,
    "floor": 0,
    "addend": 0,
    "radicand_shift": 38,
    "normalized_bits": 29,
    "output_bits": 20,
    "input_zero_point": 0,
    **STAGE,
}

CALLS = [
    Valid(
        OpCall("pl::normalize", _ARGUMENTS, (activation(*_SHAPE, name="y"),)),
        refused=[
            ({"parts": [1]}, "1 items, not 6"),
            ({"parts": [2, 2, 2, 2, 3, 1]}, "cannot be cut in \\[2, 2, 2, 2, 3, 1\\] parts"),
            ({"input": activation(4, 8)}, "it should be \\[4, 8\\]"),
            ({"radicand_shift": 41}, "must be even"),
            ({"radicand_shift": 44}, "reach 2\\^62"),
            ({"epsilon": -1}, "epsilon is -1"),
            ({"floor": -1}, "floor is -1"),
            ({"addend": 2**31}, "addend is 2147483648"),
            ({"addend": 2**31 - 1}, "reach 2\\^31"),
            ({"normalized_bits": 0, "radicand_shift": 0}, "shifted by 61 bits"),
            ({"normalized_bits": 30}, "with 30 fraction bits they overflow int32"),
            ({"output_bits": 0}, "output_bits is 0"),
            ({"bias": constant([0, 0], "int32")}, "weight has shape \\[1\\], bias \\[2\\]"),
            ({"bias": constant([2**30], "int32")}, "a bias is beyond"),
            (_affine(np.zeros(4)), "does not broadcast"),
            (_affine(np.zeros((2, 1, 2, 1, 1, 1))), "the parts take 4 nested loops"),
        ],
    ),
    Valid(
        OpCall(
            "pl::normalize",
            {
                **_ARGUMENTS,
                **INT16_STAGE,
                "input": activation(*_SHAPE, dtype="int16"),
                "input_zero_point": 0,
                "radicand_shift": 16,
            },
            (activation(*_SHAPE, dtype="int16", name="y"),),
        ),
        refused=[
            ({"input_zero_point": 1}, "input_zero_point is 1"),
            ({"radicand_shift": 40}, "reach 2\\^62"),
            ({"input": activation(*_SHAPE)}, "output 0 is int16, not int8"),
        ],
    ),
]

_SOURCE = "normalize/normalize_s8_scalar.c"
_INT16_SOURCE = "normalize/normalize_s16_scalar.c"
MUTANTS = [
    Mutant("normalize/rsqrt.h", "#define ROOT_ITERATIONS 3", "#define ROOT_ITERATIONS 2"),
    Mutant(_INT16_SOURCE, "f.rest = m.sum - count * f.center", "f.rest = 0"),
    Mutant(_INT16_SOURCE, "- (int64_t)f.rest * f.rest", ""),
    Mutant(_INT16_SOURCE, "(x[at] - f.center) - f.rest", "(x[at] - f.center)"),
    Mutant(_INT16_SOURCE, "+ j * dims->value_channels[1]", ""),
    Mutant("normalize/factors.h", "rest = m.sum - count * center", "rest = m.sum + count * center"),
    Mutant("normalize/factors.h", "- (int64_t)rest * rest", ""),
    Mutant("normalize/root.h", "up >= 0 ? spread << up : spread >> -up", "spread << (up & 63)"),
    Mutant("normalize/root.h", "if (radicand < floor) radicand = floor;", ""),
    Mutant("normalize/root.h", "(30 + *shift)", "(31 + *shift)"),
    Mutant("normalize/root.h", "whole + (uint32_t)params->addend", "whole"),
    Mutant(
        "normalize/factors.h",
        "params->given_bits - shift > 1 ?",
        "params->given_bits - shift > 9 ?",
    ),
    Mutant("normalize/factors.h", "params->count_bits + 8", "params->count_bits + 7"),
    Mutant("normalize/rsqrt.h", "(bits - 1)) + 1) >> 1", "(bits - 1))) >> 1"),
    Mutant(_SOURCE, "+ j * dims->value_channels[1]", ""),
    Mutant("normalize/factors.h", "k * dims->part_channels[2]", "k * dims->part_channels[1]"),
]


def layers() -> Iterator[Layer]:
    shapes: list[tuple[str, tuple[int, ...], list[int], tuple[int, ...]]] = [
        ("layer norm 16x64", (16, 64), [16, 1], (64,)),
        ("group norm 8x8x32, 4 groups", (1, 8, 8, 32), [1, 1, 1, 4], (32,)),
        ("instance norm 16x16x8", (1, 16, 16, 8), [1, 1, 1, 8], (8,)),
    ]
    for name, shape, parts, affine in shapes:
        count = math.prod(shape) // math.prod(parts)
        arguments = {
            **_ARGUMENTS,
            "input": activation(*shape),
            "weight": constant(np.full(affine, 2**29), "int32"),
            "bias": constant(np.zeros(affine), "int32"),
            "parts": parts,
            "radicand_shift": math.floor((45 - 2 * math.log2(count)) / 2) * 2,
            "normalized_bits": 30 - math.ceil(math.log2(count) / 2),
            "output_bits": 18,
        }
        yield Layer(name, OpCall("pl::normalize", arguments, (activation(*shape, name="y"),)))
