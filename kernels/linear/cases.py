# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::linear and pl::linear_w4."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import (
    AFTER_RELU,
    INT16_STAGE,
    STAGE,
    activation,
    constant,
    per_channel,
    weights,
)
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
        ("deep", (1, 2000), 3, True),
        ("deep, few values left over", (1, 514), 2, True),
        ("one channel, many rows", (9, 23), 1, True),
        ("one channel, whole blocks", (2, 48), 1, True),
        ("many rows", (13, 24), 20, True),
        ("odd channels, deep", (2, 139), 7, True),
        ("odd channels, few values", (3, 6), 65, True),
        ("two channels, even rows", (4, 32), 2, True),
        ("two channels, odd rows", (7, 39), 2, True),
        ("two channels, few values", (5, 3), 2, True),
    ]:
        yield _case(name, shape, channels, Values("linear", name), board)
    for index in range(150):
        values = Values("linear", index)
        rows, depth = values.integer(1, 9), values.integer(1, 70)
        board = index % 16 == 0
        yield _case(f"random {index}", (rows, depth), values.integer(1, 20), values, board)
    yield from _edges()
    yield from _int16()
    yield from _four_bits()


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
        "weight": np.maximum(values.int8(channels, depth), -127),  # same as the quantizer
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
    """Yield sums and factors at the ends of their ranges."""
    for index in range(8):
        values = Values("linear edge", index)
        given = {"input": values.extreme_int8(3, 65), "weight": values.extreme_int8(6, 65)}
        yield _case(f"extreme products {index}", (3, 65), 6, values, index < 2, given)
        odd = {"input": values.extreme_int8(1, 90), "weight": values.extreme_int8(5, 90)}
        yield _case(f"extreme products, odd {index}", (1, 90), 5, values, index < 2, odd)
        two = {"input": values.extreme_int8(5, 21), "weight": values.extreme_int8(2, 21)}
        yield _case(f"extreme products of two {index}", (5, 21), 2, values, index < 2, two)
        few = {"input": values.extreme_int8(2, 21), "weight": values.extreme_int8(3, 21)}
        yield _case(f"extreme products of few {index}", (2, 21), 3, values, index < 2, few)
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


def _int16() -> Iterator[Case]:
    """Yield depths near the loops' own, sums beyond int32, factors at the ends of their range."""
    for index, (rows, depth, channels) in enumerate(
        [(1, 1, 1), (2, 3, 5), (1, 37, 4), (3, 255, 2), (1, 256, 3), (1, 257, 2), (1, 1100, 2)]
    ):
        values = Values("linear int16", index)
        yield _wide_case(f"int16 {depth} to {channels}", values, (rows, depth), channels, index < 5)
        given = {
            "input": values.extreme_int16(rows, depth),
            "weight": values.extreme_int8(channels, depth),
        }
        name = f"int16 extreme {depth} to {channels}"
        yield _wide_case(name, values, (rows, depth), channels, index > 2, given)
    values = Values("linear int16 largest")
    given = {
        "input": np.full((1, 1100), -(2**15), np.int16),
        "weight": np.full((2, 1100), -128, np.int8),
    }
    yield _wide_case("int16 largest sums", values, (1, 1100), 2, True, given)
    for depth in (511, 512):  # all of int32, and the first sum beyond it
        values = Values("linear int16 at the end of int32", depth)
        given = {
            "input": np.full((1, depth), -(2**15), np.int16),
            "weight": np.full((3, depth), -128, np.int8),
            "bias": np.array([2**22 - 1, 0, 1], np.int32),
            "shift": np.full(3, -16, np.int32),
        }
        yield _wide_case(f"int16 largest of {depth}", values, (1, depth), 3, True, given)
    for shift in (-31, -30, -16, -15, -1, 0, 1, 13, 14):
        values = Values("linear int16 shift", shift)
        given = {
            "shift": np.full(5, shift, np.int32),
            "bias": np.array([0, 1, -1, 2**31 - 1, -(2**31)], np.int32),
            "multiplier": np.array([2**30, 3 * 2**29, 0, 2**31 - 1, 2**31 - 1], np.int32),
        }
        for name, small in ("small", values.int8(2, 4).astype(np.int16)), ("large", None):
            more = given if small is None else {**given, "input": small}
            yield _wide_case(f"int16 {name}, shift {shift}", values, (2, 4), 5, shift != 1, more)


def _wide_case(
    name: str,
    values: Values,
    shape: tuple[int, ...],
    channels: int,
    board: bool,
    given: dict[str, AnyArray] | None = None,
) -> Case:
    depth = shape[-1]
    constants = {
        "weight": values.int8(channels, depth),
        "bias": values.int32(2**14 * depth, channels),
        **values.factors(spread(depth), channels),
        **(given or {}),
    }
    source = constants.pop("input", values.int16(*shape))
    low, high = values.int16_activation()
    attributes = {**NO_ZERO_POINTS, "activation_min": low, "activation_max": high}
    return Case(name, "pl::linear", {"input": source}, constants, attributes, board)


def _four_bits() -> Iterator[Case]:
    """Yield one group, whole groups and partial groups, with odd and even depths."""
    for index, (shape, channels, group) in enumerate(
        [
            ((1, 1), 1, 1),
            ((2, 2), 3, 2),
            ((3, 37), 5, 37),
            ((2, 64), 4, 32),
            ((1, 70), 3, 32),
            ((2, 33), 2, 32),
            ((1, 9), 4, 2),
            ((1, 5), 2, 40),
            ((1, 1000), 2, 32),
            ((2, 3, 4), 5, 2),
            # Rows and channels in fours, and the tail.
            ((5, 3), 1, 3),
            ((7, 45), 6, 45),
            ((4, 40), 7, 8),
            ((6, 32), 4, 32),
            ((9, 127), 9, 32),
            # Groups computed in parts, and alone.
            ((1, 600), 3, 600),
            ((3, 505), 2, 505),
            ((1, 1100), 2, 1008),
            ((3, 200), 5, 64),
            ((2, 100), 3, 64),
            ((5, 63), 5, 24),
        ]
    ):
        for kind in ("random", "extreme", "signed"):
            values = Values("linear_w4", kind, index)
            depth = shape[-1]
            groups = -(-depth // group)
            scale = np.full((channels, groups), 127, np.int8)
            if kind == "random":
                scale = (np.abs(values.int32(126, channels, groups)) + 1).astype(np.int8)
            if kind == "signed":
                scale = values.extreme_int8(channels, groups)
            given = {"group_scale": scale}
            board = index < 7 or index > 9
            yield _four_bits_case(kind, shape, channels, group, values, board, given)
    for shift in (-31, -21, -20, -2, -1, 0, 1, 7):
        values = Values("linear_w4 shift", shift)
        given = {
            "shift": np.full(5, shift, np.int32),
            "bias": np.array([0, 1, -1, 2**30 - 2**20, -(2**30) + 2**20], np.int32),
            "multiplier": np.array([2**30, 3 * 2**29, 0, 2**31 - 1, 2**31 - 1], np.int32),
            "group_scale": np.array([[1, 2]] * 5, np.int8),
        }
        for rows in (1, 4):
            kind = f"{rows} rows, shift {shift},"
            board = shift in (-31, -20, -1, 0)
            yield _four_bits_case(kind, (rows, 40), 5, 32, values, board, given)


def _four_bits_case(
    kind: str,
    shape: tuple[int, ...],
    channels: int,
    group: int,
    values: Values,
    board: bool,
    given: dict[str, AnyArray],
) -> Case:
    low, high = values.activation()
    depth = shape[-1]
    constants = {
        # -8 in every half of a byte, too.
        "weight": values.int8(channels, -(-depth // 2)),
        "bias": values.int32(640 * depth, channels),
        **values.factors(spread(depth) / 8, channels),
        **given,
    }
    make = values.extreme_int8 if kind == "extreme" else values.int8
    attributes = {
        "group": group,
        "input_zero_point": values.zero_point(),
        "output_zero_point": values.zero_point(),
        "activation_min": low,
        "activation_max": high,
    }
    name = f"four bits {kind} {depth} to {channels} by {group}"
    return Case(name, "pl::linear_w4", {"input": make(*shape)}, constants, attributes, board)


NO_ZERO_POINTS = {"input_zero_point": 0, "output_zero_point": 0}

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
        refused=[
            ({"input": activation(2, 7)}, "the last sizes differ"),
            ({"input": activation(2, 6, dtype="int16")}, "output 0 is int8, not int16"),
        ],
    ),
    Valid(
        OpCall(
            "pl::linear",
            {
                "input": activation(2, 6, dtype="int16"),
                "weight": constant(np.ones((3, 6))),
                **per_channel(3),
                "input_zero_point": 0,
                **INT16_STAGE,
            },
            (activation(2, 3, dtype="int16", name="y"),),
        ),
        refused=[
            ({"input": activation(2, 6, dtype="int32")}, "int32, not int8 or int16"),
            ({"input_zero_point": 1}, "input_zero_point is 1"),
            ({"output_zero_point": -1}, "output_zero_point is -1"),
            ({"shift": constant([15] * 3, "int32")}, "shift is 15"),
            ({"activation_max": 2**15}, "activation_max is 32768"),
        ],
    ),
    Valid(
        OpCall(
            "pl::linear_w4",
            {
                "input": activation(2, 7),
                "weight": constant(np.ones((3, 4))),
                "group_scale": constant(np.ones((3, 2))),
                **per_channel(3),
                "group": 4,
                "input_zero_point": 0,
                **STAGE,
            },
            (activation(2, 3, name="y"),),
        ),
        refused=[
            ({"input": activation(2, 9)}, r"weight has shape \[3, 4\], it should be \[3, 5\]"),
            ({"group": 3}, "group is 3: it must be even"),
            ({"group": 2}, r"group_scale has shape \[3, 2\], it should be \[3, 4\]"),
            ({"input": activation(2, 7, dtype="int16")}, "input is int16, not int8"),
            ({"bias": constant([2**31 - 1] * 3, "int32")}, "overflow int32"),
        ],
    ),
]

MUTANTS = [
    Mutant("common/requantize.h", " + (sum >> 31)", ""),
    Mutant("common/product_high.h", " | 1U << 31", ""),
    Mutant("common/requantize.c", "x > limit        ? INT32_MAX", "x > limit        ? limit"),
    Mutant("common/requantize.c", "-(1 << 30), 1 << 30", "INT32_MIN, INT32_MAX"),
    Mutant("common/gemm_s8_scalar.c", "x[2] * weight[2 * CHANNELS]", "x[2] * weight[CHANNELS]"),
    Mutant("common/gemm_s8_scalar.c", "layer->depth, weight + c,", "layer->depth, weight,"),
    Mutant("common/gemm_s8_scalar.c", "s->c3 += x * weight[3]", "s->c3 += x * weight[2]"),
    Mutant("common/gemm_s8_scalar.c", "{ return a < b ? a : b; }", "{ return b; }"),
    Mutant("common/gemm_s8_scalar.c", "store(b, acc1 + i)", "store(a, acc1 + i)"),
    Mutant("common/gemm_s8_scalar.c", "y += 2 * y_stride", "y += y_stride"),
    Mutant("common/gemm_s8_scalar.c", "acc[2] = sum2", "acc[2] = sum1"),
    Mutant("common/gemm_s8_scalar.c", "sum1 += value * weight[1]", "sum1 += value * weight[0]"),
    Mutant("linear/linear_w4_s8_scalar.c", "(int32_t)((uint32_t)byte << 28) >> 28", "byte & 15"),
    Mutant("linear/linear_w4_s8_scalar.c", "byte >> 4", "(byte >> 4) & 15"),
    Mutant("linear/linear_w4_s8_scalar.c", "if (count & 1)", "if (0)"),
    Mutant("linear/linear_w4_s8_scalar.c", "*scale++ *", "*scale *"),
    Mutant("common/wide_scalar.c", "#define RUN 256", "#define RUN 512"),
    Mutant("common/wide_scalar.c", "x[2] * weight[2]", "x[2] * weight[3]"),
    Mutant("common/wide.h", "(low >> 16)", "0"),
    Mutant("common/wide.h", "(sum & 0xFFFF)", "(sum & 0x7FFF)"),
    Mutant("common/wide.h", "(int64_t)1 << (right - 1)", "(int64_t)1 << (right - 2)"),
    Mutant("linear/linear_blocks_s16_scalar.c", "output += dims->output_channels", "output += 1"),
    Mutant("common/dots_by_runs.h", "weight[steps.third]", "weight[steps.second]"),
    Mutant("linear/linear_s16_scalar.c", "--left, row += depth", "--left"),
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
        (1, 100, 1, ""),
        (1, 20, 3, ""),
        (1, 1000, 5, ""),
        (144, 192, 2, ""),
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
    arguments = {
        "input": activation(4, 96, dtype="int16"),
        **weights((32, 96), 32, 96),
        "input_zero_point": 0,
        **INT16_STAGE,
    }
    output = activation(4, 32, dtype="int16", name="y")
    yield Layer("linear int16 96 to 32, 4 rows", OpCall("pl::linear", arguments, (output,)))
    for rows, depth, count, group in ((1, 128, 128, 128), (1, 128, 128, 32), (16, 64, 32, 32)):
        arguments = {
            "input": activation(rows, depth),
            **weights((count, depth // 2), count, depth),
            "group_scale": constant(np.ones((count, depth // group))),
            "group": group,
            "input_zero_point": -128,
            **AFTER_RELU,
        }
        call = OpCall("pl::linear_w4", arguments, (activation(rows, count, name="y"),))
        by = f" by {group}" if group < depth else ""
        name = f"linear w4 {depth} to {count}{by}" + (f", {rows} rows" if rows > 1 else "")
        yield Layer(name, call)
