# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::pad."""

from collections.abc import Iterator

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_NAMED: list[tuple[str, tuple[int, ...], list[int], int, bool]] = [
    ("spatial", (1, 3, 4, 5), [0, 0, 1, 1, 1, 1, 0, 0], -128, True),
    ("uneven", (1, 3, 4, 2), [0, 0, 0, 2, 3, 0, 0, 0], 7, True),
    ("channels", (1, 2, 3, 3), [0, 0, 0, 0, 0, 0, 1, 2], 0, True),
    ("vector", (5,), [2, 3], 127, True),
    ("nothing", (2, 3), [0, 0, 0, 0], 1, False),
    ("everything", (2, 3, 2), [1, 2, 3, 1, 2, 2], -1, True),
    ("rank 6", (2, 1, 2, 3, 1, 2), [1, 0, 0, 1, 1, 1, 0, 0, 2, 0, 0, 1], 9, False),
    ("batch", (2, 3, 4, 2), [1, 1, 0, 0, 0, 0, 0, 0], 3, False),
    ("wide", (1, 1, 50), [0, 0, 2, 2, 40, 33], -7, False),
]


def cases() -> Iterator[Case]:
    for name, shape, padding, value, board in _NAMED:
        yield _case(name, shape, padding, value, board)
    yield from _int16()
    for index in range(120):
        values = Values("pad", index)
        rank = values.integer(1, 6)
        shape = tuple(values.integer(1, 8 - rank) for _ in range(rank))
        padding = [values.choice([0, 0, 1, 2, 3][: 9 - rank]) for _ in range(2 * rank)]
        yield _case(f"random {index}", shape, padding, values.zero_point(), False)


def _int16() -> Iterator[Case]:
    for name, shape, padding, _, board in _NAMED:
        if len(shape) < 6:  # an element's bytes take a loop
            inputs = {"input": Values("pad int16", name).int16(*shape)}
            attributes = {"padding": padding, "value": 0}
            yield Case(f"int16 {name}", "pl::pad", inputs, attributes=attributes, board=board)


def _case(name: str, shape: tuple[int, ...], padding: list[int], value: int, board: bool) -> Case:
    inputs = {"input": Values("pad", name).int8(*shape)}
    attributes = {"padding": padding, "value": value}
    return Case(name, "pl::pad", inputs, attributes=attributes, board=board)


CALLS = [
    Valid(
        OpCall(
            "pl::pad",
            {"input": activation(2, 3), "padding": [0, 0, 1, 2], "value": 0},
            (activation(2, 6, name="y"),),
        ),
        refused=[
            ({"padding": [0, 0, 1]}, "padding has 3 items, not 4"),
            ({"padding": [0, 0, -1, 4]}, "at least 0"),
            ({"value": 128}, "value is 128"),
        ],
    ),
    Valid(
        OpCall(
            "pl::pad",
            {"input": activation(2, 3, dtype="int16"), "padding": [0, 0, 1, 2], "value": 0},
            (activation(2, 6, dtype="int16", name="y"),),
        ),
        refused=[
            ({"value": 1}, "value is 1, not in \\[0, 0\\]"),
            ({"input": activation(2, 3)}, "output 0 is int16, not int8"),
        ],
    ),
]

MUTANTS = [
    Mutant("common/copy_scalar.c", "(uint8_t)value * 0x01010101u", "(uint8_t)value"),
    Mutant("pad/pad_s8.c", "dims->output_size", "dims->output_size - 1"),
    Mutant("pad/pad_s8.c", "params->row != 0", "params->row < 0"),
]


def layers() -> Iterator[Layer]:
    arguments = {
        "input": activation(1, 16, 16, 8),
        "padding": [0, 0, 1, 1, 1, 1, 0, 0],
        "value": -128,
    }
    call = OpCall("pl::pad", arguments, (activation(1, 18, 18, 8, name="y"),))
    yield Layer("pad 16x16x8 by 1", call)
