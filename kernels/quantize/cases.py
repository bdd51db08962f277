# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::quantize and pl::requantize."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import activation, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_SPECIAL = np.array(
    [0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-40, -1e-40, 3.4e38, -3.4e38]
    + [511.9, 512.0, 512.1, -511.9, -512.0, -512.1, 4194304.0, -8388609.0, 2.2e9, -2.2e9],
    np.float32,
)


def cases() -> Iterator[Case]:
    ties = np.arange(-300, 300, dtype=np.float32) / 2
    neighbours = np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(-np.inf))
    for zero_point in (-128, -1, 0, 1, 127):
        board = zero_point in (-128, 1)
        yield _case(f"ties, {zero_point}", ties, 1.0, zero_point, board)
        yield _case(f"above ties, {zero_point}", neighbours[0], 1.0, zero_point, False)
        yield _case(f"below ties, {zero_point}", neighbours[1], 1.0, zero_point, False)
        for scale in (1.0, 0.1, 3e-5, 1e4, 1e-30):
            name = f"special, {scale}, {zero_point}"
            yield _case(name, _SPECIAL, scale, zero_point, board and scale in (1.0, 3e-5))
    # Nonzero denormal inputs, and denormal factors.
    tiny = np.array([(i - 20) * 2.0**-131 for i in range(41)] + [2.0**-149, 2.0**-126], np.float32)
    for bits in (8, 16):
        for exponent in (-127, -126, -125, -124):
            name = f"int{bits}, denormal, 2^{exponent}"
            yield _case(name, tiny, 2.0**exponent, 1 if bits == 8 else 0, True, bits)
        for exponent in (125, 126, 127):
            name = f"int{bits}, huge, 2^{exponent}"
            yield _case(name, _SPECIAL, 1.01 * 2.0**exponent, 0, True, bits)
    for index in range(60):
        values = Values("quantize", index)
        shape = [values.integer(1, 6) for _ in range(values.integer(1, 4))]
        scale = values.choice([0.1, 0.007843137718737125, 0.5, 1.7, 1e-3])
        given = values.float32(*shape, scale=80 * scale)
        yield _case(f"random {index}", given, scale, values.zero_point(), index < 3)
    for scale in (1.0, 3e-5, 1e-30):
        for name, given in ("special", _SPECIAL), ("ties", ties * 300 + np.float32(0.5)):
            yield _case(f"int16 {name}, {scale}", given, scale, 0, True, bits=16)
    for index in range(10):
        given = Values("quantize int16", index).float32(3, 7, scale=1000.0)
        yield _case(f"int16 random {index}", given, 0.1, 0, index < 2, bits=16)
    yield from _requantize()


def _requantize() -> Iterator[Case]:
    every_value = np.arange(-128, 128, dtype=np.int8)
    for index in range(24):
        values = Values("requantize", index)
        board = index < 6
        wide = (values.extreme_int16 if index % 4 == 3 else values.int16)(3, 4, 5)
        for name, given, bits, factor in (
            ("int8 to int16", every_value, 16, values.factor(2.0**7)),
            ("int16 to int8", wide, 8, values.factor(2.0**-8)),
            ("int16 to int16", wide, 16, values.factor(1.0)),
        ):
            attributes = {
                "bits": bits,
                "input_zero_point": values.zero_point() if given is every_value else 0,
                "output_zero_point": values.zero_point() if bits == 8 else 0,
                "multiplier": factor[0],
                "shift": factor[1],
            }
            inputs = {"input": given}
            yield Case(f"{name} {index}", "pl::requantize", inputs, {}, attributes, board)


def _case(
    name: str, given: AnyArray, scale: float, zero_point: int, board: bool, bits: int = 8
) -> Case:
    attributes = {"scale": scale, "zero_point": zero_point, "bits": bits}
    return Case(name, "pl::quantize", {"input": given}, attributes=attributes, board=board)


CALLS = [
    Valid(
        OpCall(
            "pl::quantize",
            {"input": floats(4), "scale": 0.1, "zero_point": 0, "bits": 8},
            (activation(4, name="y"),),
        ),
        refused=[
            ({"scale": 0.0}, "not a positive float32"),
            ({"scale": float("nan")}, "not a positive float32"),
            ({"bits": 32}, "bits is 32, not 8 or 16"),
            ({"bits": 16}, "output 0 is int8, not int16"),
        ],
    ),
    Valid(
        OpCall(
            "pl::requantize",
            {
                "input": activation(4, dtype="int16"),
                "bits": 8,
                "input_zero_point": 0,
                "output_zero_point": 3,
                "multiplier": 2**30,
                "shift": -7,
            },
            (activation(4, name="y"),),
        ),
        refused=[
            ({"input": activation(4)}, "int8 to int8: one must be int16"),
            ({"bits": 32}, "int16 to int32: one must be int16"),
            ({"bits": 16}, "output 0 is int8, not int16"),
            ({"input_zero_point": 1}, "input_zero_point is 1"),
            ({"input": activation(5, dtype="int16")}, "5 inputs do not give 4"),
        ],
    ),
]

MUTANTS = [
    Mutant(
        "quantize/quantize_f32_s8_scalar.c",
        "*output++ = pl_quantize_value_s8(*input++,",
        "output[left - 1] = pl_quantize_value_s8(input[left - 1],",
    ),
    Mutant("quantize/quantize_f32.h", "return (int8_t)zero_point", "return 0"),
    Mutant("quantize/rint.h", "12582912.0f", "12582913.0f"),
    Mutant("quantize/quantize_f32.h", "0x48000000u", "0x46000000u"),
    Mutant("quantize/quantize_f32.h", "return 0;", "return 1;"),
    Mutant(
        "quantize/quantize_f32_s16_scalar.c",
        "*output++ = pl_quantize_value_s16(*input++,",
        "output[left - 1] = pl_quantize_value_s16(input[left - 1],",
    ),
    Mutant("quantize/requantize_s8_s16_scalar.c", "*input++ - p.input_zero_point", "*input++"),
    Mutant("quantize/requantize_s16_s8_scalar.c", "p.output_zero_point", "0"),
    Mutant("quantize/requantize_s16_scalar.c", "INT16_MIN", "INT32_MIN"),
]


def layers() -> Iterator[Layer]:
    for size in (1024, 5, 1):
        arguments = {"input": floats(size), "scale": 0.1, "zero_point": -3, "bits": 8}
        call = OpCall("pl::quantize", arguments, (activation(size, name="y"),))
        yield Layer(f"quantize {size}", call)
