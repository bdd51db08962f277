# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::resize_bilinear."""

from collections.abc import Iterator

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import activation
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_TWICE = {"step": [2, 2], "offset": [-1, -1], "unit": [4, 4]}

# name, input NHWC, output size, and where its pixels are
_NAMED: list[tuple[str, tuple[int, ...], list[int], dict[str, list[int]], bool]] = [
    ("twice", (1, 4, 5, 6), [8, 10], _TWICE, True),
    ("twice, batch", (2, 3, 2, 5), [6, 4], _TWICE, True),
    (
        "corners meet",
        (1, 3, 4, 3),
        [6, 7],
        {"step": [2, 1], "offset": [0, 0], "unit": [5, 2]},
        True,
    ),
    ("down", (1, 9, 8, 4), [3, 3], {"step": [6, 16], "offset": [2, 5], "unit": [2, 6]}, True),
    (
        "columns only",
        (1, 1, 7, 4),
        [1, 9],
        {"step": [0, 14], "offset": [0, -2], "unit": [1, 18]},
        True,
    ),
    ("one channel", (2, 3, 5, 1), [6, 10], _TWICE, True),
    (
        "one channel, beyond both ends",
        (1, 3, 3, 1),
        [5, 5],
        {"step": [3, 5], "offset": [-4, -9], "unit": [2, 3]},
        True,
    ),
    ("as many images as rows", (2, 2, 3, 2), [2, 6], _TWICE, False),
    ("one pixel", (1, 1, 1, 3), [3, 4], _TWICE, False),
    ("the same", (1, 3, 4, 3), [3, 4], {"step": [1, 1], "offset": [0, 0], "unit": [1, 1]}, False),
    (
        "beyond both ends",
        (1, 3, 3, 2),
        [5, 5],
        {"step": [3, 5], "offset": [-4, -9], "unit": [2, 3]},
        False,
    ),
    (
        "large units",
        (1, 4, 3, 2),
        [9, 7],
        {"step": [777, 901], "offset": [-100, 3], "unit": [2048, 2047]},
        False,
    ),
]


def cases() -> Iterator[Case]:
    for name, shape, size, places, board in _NAMED:
        given = Values("resize_bilinear", name).int8(*shape)
        yield _case(name, given, size, places, board)
    for index in range(60):
        values = Values("resize_bilinear", index)
        shape = (values.choice([1, 1, 2]), *(values.integer(1, 6) for _ in range(3)))
        places = {
            "step": [values.integer(0, 9), values.integer(0, 9)],
            "offset": [values.integer(-9, 9), values.integer(-9, 9)],
            "unit": [values.integer(1, 9), values.integer(1, 9)],
        }
        size = [values.integer(1, 8), values.integer(1, 8)]
        yield _case(f"random {index}", values.int8(*shape), size, places, False)
    for index in range(4):
        given = Values("resize_bilinear extreme", index).extreme_int8(1, 4, 4, 5)
        yield _case(f"extreme values {index}", given, [8, 8], _TWICE, index == 0)
    for name, unit in (("two", [2, 1]), ("256", [16, 16]), ("512", [32, 16])):
        given = Values("resize_bilinear weights", name).extreme_int8(1, 4, 3, 11)
        places = {"step": [unit[0] // 2, 3], "offset": [-1, 1 - unit[1]], "unit": unit}
        yield _case(f"weights of {name}", given, [7, 9], places, True)

    for name, shape, size, places, board in _NAMED:
        given = Values("resize_bilinear int16", name).extreme_int16(*shape)
        yield _case(f"int16 {name}", given, size, places, board)
    for index in range(10):
        values = Values("resize_bilinear int16", index)
        places = {
            "step": [values.integer(0, 999), values.integer(0, 9)],
            "offset": [values.integer(-9, 9), values.integer(-9, 9)],
            "unit": [values.integer(1, 999), values.integer(1, 99)],
        }
        yield _case(f"int16 random {index}", values.int16(1, 4, 3, 5), [7, 8], places, index < 2)


def _case(
    name: str, given: AnyArray, size: list[int], places: dict[str, list[int]], board: bool
) -> Case:
    attributes = {"output_size": size, **places}
    return Case(name, "pl::resize_bilinear", {"input": given}, {}, attributes, board)


CALLS = [
    Valid(
        OpCall(
            "pl::resize_bilinear",
            {"input": activation(1, 4, 5, 6), "output_size": [8, 10], **_TWICE},
            (activation(1, 8, 10, 6, name="y"),),
        ),
        refused=[
            ({"output_size": [8, 9]}, "output has shape .* it should be"),
            ({"input": activation(1, 4, 5, 6, dtype="float32")}, "float32, not int8 or int16"),
            ({"step": [-1, 2]}, "step is .* at least 0"),
            ({"unit": [4, 0]}, "unit is .* at least 1"),
            ({"unit": [1 << 12, 1 << 12]}, "may overflow int32"),
            ({"step": [1 << 30, 1]}, "in steps of 1073741824 overflow int32"),
        ],
    ),
]

_SOURCE = "resize_bilinear/resize_bilinear_s8_scalar.c"
_WIDE = "resize_bilinear/resize_bilinear_s16_scalar.c"
_TAPS = "resize_bilinear/taps.h"

MUTANTS = [
    Mutant(_TAPS, "if (place < 0) place = 0", "if (place < 0) place = -place"),
    Mutant(_TAPS, "if (place > last) place = last;", ""),
    Mutant(_WIDE, "sum < 0 ? sum - divisor", "sum < 0 ? sum + divisor"),
    Mutant(_WIDE, "divisor <= UINT16_MAX ?", "1 ?"),
    Mutant(_SOURCE, "sum < 0 ? sum - r->half", "sum < 0 ? sum + r->half"),
    Mutant(_SOURCE, "w10 = r.below_weight * x.first_weight", "w10 = w01"),
    Mutant(_SOURCE, "above * r.above_weight + below", "above + below"),
    Mutant(_SOURCE, "image += dims->input_h * row_step", "image += row_step"),
]


def layers() -> Iterator[Layer]:
    thrice = {"step": [2, 2], "offset": [-2, -2], "unit": [6, 6]}
    for size, c, scale, places in ((16, 16, 2, _TWICE), (16, 1, 2, _TWICE), (8, 16, 3, thrice)):
        larger = scale * size
        arguments = {"input": activation(1, size, size, c), "output_size": [larger, larger]}
        output = activation(1, larger, larger, c, name="y")
        call = OpCall("pl::resize_bilinear", {**arguments, **places}, (output,))
        yield Layer(f"bilinear {size}x{size}x{c} to {larger}x{larger}", call)
