# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::linear."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import AFTER_RELU, STAGE, activation, constant, per_channel, weights
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values, spread


def cases() -> Iterator[Case]:
    for name, shape, channels, board in [
        ("one value", (1, 1), 1, True),
        ("one row", (1, 64), 12, True),
        ("one row, odd sizes", (1, 37), 5, True),
        ("vector", (19,), 4, False),
        ("two rows", (2, 16), 8, True),
        ("odd rows", (7, 33), 6, True),
        ("rank 4", (2, 3, 2, 10), 7, False),
        ("depth 3", (5, 3), 9, True),
        ("depth 17", (4, 17), 3, False),
        ("many channels", (3, 16), 67, False),
        ("deep", (1, 2000), 3, False),
    ]:
        yield _case(name, shape, channels, Values("linear", name), board)
    for index in range(150):
        values = Values("linear", index)
        rows, depth = values.integer(1, 9), values.integer(1, 70)
        board = index % 16 == 0
        yield _case(f"random {index}", (rows, depth), values.integer(1, 20), values, board)
    yield from _edges()


def _case(
    name: str,
    shape: tuple[int, ...],
    channels: int,
    values: Values,
    board: bool,
    given: dict[str, AnyArray] | None = None,
) -> Case:
    depth = shape[-1]
    low, high = values.activation()
    constants = {
        "weight": np.maximum(values.int8(channels, depth), -127),  # as the quantizer's
        "bias": values.int32(64 * depth, channels),
        **values.factors(spread(depth), channels),
    }
    changed = given or {}
    return Case(
        name=name,
        op="pl::linear",
        inputs={"input": changed.get("input", values.int8(*shape))},
        constants={key: changed.get(key, value) for key, value in constants.items()},
        attributes={
            "input_zero_point": values.zero_point(),
            "output_zero_point": values.zero_point(),
            "activation_min": low,
            "activation_max": high,
        },
        board=board,
    )


def _edges() -> Iterator[Case]:
    """Sums and factors at the ends of their ranges."""
    for index in range(8):
        values = Values("linear edge", index)
        given = {"input": values.extreme_int8(3, 65), "weight": values.extreme_int8(6, 65)}
        yield _case(f"extreme products {index}", (3, 65), 6, values, index < 2, given)
    for shift in (-31, -30, -20, -2, -1, 0, 1, 2, 7, 15, 30):
        values = Values("linear shift", shift)
        given = {
            "shift": np.full(5, shift, np.int32),
            "bias": np.array([0, 1, -1, 2**30 - 2**20, -(2**30) + 2**20], np.int32),
            "multiplier": np.array([2**30, 3 * 2**29, 0, 2**31 - 1, 2**31 - 1], np.int32),
        }
        for zero_point in (-128, 127):
            name = f"shift {shift}, zero point {zero_point}"
            case = _case(name, (2, 4), 5, values, shift in (-31, -1, 0, 7), given)
            attributes = {**case.attributes, "output_zero_point": zero_point}
            yield replace(case, attributes=attributes)


CALLS = [
    Valid(
        OpCall(
            "pl::linear",
            {
                "input": activation(2, 6),
                "weight": constant(np.ones((3, 6))),
                **per_channel(3),
                "input_zero_point": 0,
                **STAGE,
            },
            (activation(2, 3, name="y"),),
        ),
        refused=[({"input": activation(2, 7)}, "the last sizes differ")],
    ),
]

MUTANTS = [
    Mutant("common/requantize.h", "(h + (h >> 31))", "h"),
    Mutant("common/requantize.h", "+ (1 << 30)", "+ 0"),
    Mutant("common/requantize.c", "x > limit        ? INT32_MAX", "x > limit        ? limit"),
    Mutant("common/requantize.c", "-(1 << 30), 1 << 30", "INT32_MIN, INT32_MAX"),
    Mutant("common/gemm_s8_scalar.c", "s->c3 += x * weight[3]", "s->c3 += x * weight[2]"),
    Mutant("common/gemm_s8_scalar.c", "{ return a < b ? a : b; }", "{ return b; }"),
    Mutant("common/gemm_s8_scalar.c", "store(b, acc1 + i)", "store(a, acc1 + i)"),
    Mutant("common/gemm_s8_scalar.c", "y += 2 * y_stride", "y += y_stride"),
]


def layers() -> Iterator[Layer]:
    for rows, depth, count, peer in (
        (1, 640, 128, "ae/fc1"),
        (1, 128, 128, "ae/fc2"),
        (1, 128, 8, "ae/fc5"),
        (1, 8, 128, "ae/fc6"),
        (1, 128, 640, "ae/fc10"),
        (1, 64, 12, "dscnn/fc"),
        (1, 256, 2, "vww/fc"),
        (1, 64, 10, "resnet8/fc"),
        (9, 50, 21, ""),
    ):
        arguments = {
            "input": activation(rows, depth),
            **weights((count, depth), count, depth),
            "input_zero_point": -128,
            **AFTER_RELU,
        }
        call = OpCall("pl::linear", arguments, (activation(rows, count, name="y"),))
        name = f"linear {depth} to {count}" + (f", {rows} rows" if rows > 1 else "")
        yield Layer(name, call, peer)
