# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::bmm."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray, OpCall
from kernels.testing.calls import INT16_STAGE, STAGE, activation, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values, spread

_NAMED = [
    ("one value", (1, 1), (1, 1), True),
    ("one row", (1, 9), (9, 7), True),
    ("two rows", (2, 5), (5, 4), True),
    ("odd rows", (3, 6), (6, 5), True),
    ("batches", (3, 4, 5), (3, 5, 6), True),
    ("rank 4", (2, 3, 2, 7), (2, 3, 7, 3), True),
    ("one b for all", (2, 3, 4, 5), (5, 6), False),
    ("one a for all", (4, 5), (3, 5, 6), True),
    ("broadcast from both sides", (2, 1, 3, 4), (1, 3, 4, 2), True),
    ("rank 6", (2, 1, 2, 1, 3, 4), (1, 2, 2, 1, 4, 5), False),
    ("deep", (2, 500), (500, 3), False),
    ("wide", (2, 3), (3, 67), False),
]


def cases() -> Iterator[Case]:
    for name, a, b, board in _NAMED:
        for transposed in (False, True):
            yield _case(f"{name}, {transposed}", a, b, transposed, board)
    for index in range(120):
        values = Values("bmm", index)
        rows, depth, columns = (values.integer(1, 20) for _ in range(3))
        batch = tuple(values.integer(1, 3) for _ in range(values.integer(0, 2)))
        own = tuple(values.choice([1, size]) for size in batch)
        pair = [(*batch, rows, depth), (*own, depth, columns)]
        yield _case(f"random {index}", pair[0], pair[1], index % 2 == 0, False)
    for index in range(8):
        case = _case(f"extreme {index}", (3, 65), (65, 6), index % 2 == 0, index < 2)
        values = Values("bmm extreme", index)
        inputs = {n: values.extreme_int8(*x.shape) for n, x in case.inputs.items()}  # type: ignore[union-attr]
        ends = {name: values.choice([-128, 127]) for name in ("a_zero_point", "b_zero_point")}
        yield replace(case, inputs=inputs, attributes={**case.attributes, **ends})

    yield from _by_pairs()
    for shift in (-31, -21, -20, -1, 0, 1, 3):
        case = _case(f"shift {shift}", (3, 6), (6, 5), False, shift in (-21, 0, 3))
        yield replace(case, attributes={**case.attributes, "shift": shift})
    yield from _int16()
    yield from _ordered()


def _by_pairs() -> Iterator[Case]:
    """Yield cases with enough rows and values to multiply two values at once, with all of them -128
    among them.
    """
    for name, a, b in (
        ("even rows", (4, 8), (8, 5)),
        ("odd rows", (7, 11), (11, 3)),
        ("a rest of two", (5, 18), (18, 6)),
        ("batches", (2, 5, 13), (2, 13, 4)),
        ("several sums of a row", (4, 530), (530, 3)),
        ("several blocks", (4, 100), (100, 40)),
    ):
        for kind in ("any", "extreme", "lowest"):
            case = _case(f"pairs, {name}, {kind}", a, b, kind == "extreme", True)
            values, inputs = Values("bmm pairs", name + kind), dict(case.inputs)
            if kind != "any":
                make = values.extreme_int8 if kind == "extreme" else _lowest
                inputs = {side: make(*x.shape) for side, x in inputs.items()}  # type: ignore[union-attr]
            yield replace(case, inputs=inputs)


def _lowest(*shape: int) -> AnyArray:
    return np.full(shape, -128, np.int8)


def _ordered() -> Iterator[Case]:
    """Yield cases with operands whose dimensions have another memory order, such as the heads of
    attention.
    """
    for name, a_order, b_order in (
        ("heads", [0, 2, 1, 3], [0, 2, 1, 3]),
        ("heads of b", [], [0, 2, 3, 1]),
        ("b from its end", [1, 0, 2, 3], [3, 2, 1, 0]),
        ("a in another order", [2, 0, 1, 3], []),
    ):
        for transposed in (False, True):
            case = _case(f"{name}, {transposed}", (2, 3, 5, 4), (2, 3, 4, 6), transposed, True)
            inputs = dict(case.inputs)
            for side, order in (("a", a_order), ("b", b_order)):
                if order:  # permutes the shape the case would have without it
                    moved = inputs[side].transpose(np.argsort(order))  # type: ignore[union-attr]
                    inputs[side] = np.ascontiguousarray(moved)
            orders = {"a_order": a_order, "b_order": b_order}
            yield replace(case, inputs=inputs, attributes={**case.attributes, **orders})


def _int16() -> Iterator[Case]:
    shapes = [*_NAMED[:9], ("deep", (2, 500), (500, 3), True)]
    for name, a, b, board in shapes:
        for transposed in (False, True):
            values = Values("bmm int16", name)
            make = values.extreme_int16 if name == "deep" else values.int16
            right: AnyArray = make(*b)
            if transposed:
                right = np.ascontiguousarray(right.swapaxes(-1, -2))
            low, high = values.int16_activation()
            multiplier, shift = values.factor(2.0**-8 * spread(a[-1]))
            attributes: dict[str, Any] = {
                "transpose_b": transposed,
                "a_order": [],
                "b_order": [],
                "a_zero_point": 0,
                "b_zero_point": 0,
                "multiplier": multiplier,
                "shift": shift,
                **INT16_STAGE,
                "activation_min": low,
                "activation_max": high,
            }
            inputs = {"a": make(*a), "b": right}
            yield Case(f"int16 {name}, {transposed}", "pl::bmm", inputs, {}, attributes, board)


def _case(
    name: str, a: tuple[int, ...], b: tuple[int, ...], transpose_b: bool, board: bool
) -> Case:
    values = Values("bmm", name)
    right: AnyArray = values.int8(*b)
    if transpose_b:
        right = np.ascontiguousarray(right.swapaxes(-1, -2))
    low, high = values.activation()
    multiplier, shift = values.factor(spread(a[-1]))
    attributes = {
        "transpose_b": transpose_b,
        "a_order": [],
        "b_order": [],
        "a_zero_point": values.zero_point(),
        "b_zero_point": values.zero_point(),
        "output_zero_point": values.zero_point(),
        "multiplier": multiplier,
        "shift": shift,
        "activation_min": low,
        "activation_max": high,
    }
    inputs = {"a": values.int8(*a), "b": right}
    return Case(name, "pl::bmm", inputs, attributes=attributes, board=board)


_ARGUMENTS = {
    "a": activation(2, 3, 4),
    "b": activation(2, 4, 5, name="b"),
    "transpose_b": False,
    "a_order": [],
    "b_order": [],
    "a_zero_point": 3,
    "b_zero_point": 0,
    "multiplier": 2**30,
    "shift": -7,
    **STAGE,
}

CALLS = [
    Valid(
        OpCall("pl::bmm", _ARGUMENTS, (activation(2, 3, 5, name="y"),)),
        refused=[
            ({"b": activation(2, 5, 4)}, "does not give"),
            ({"transpose_b": True}, "transposed does not give"),
            ({"b": activation(3, 4, 5)}, "does not broadcast"),
            ({"b": floats(2, 4, 5)}, "b is float32, not int8"),
            ({"a": activation(4)}, "of matrices"),
            ({"a": activation(2, 3, 40000), "b": activation(2, 40000, 5)}, "overflow int32"),
            ({"multiplier": 5}, "2\\^30"),
            ({"a_order": [0, 1]}, "a_order is \\[0, 1\\] of 3 dimensions"),
            ({"a_order": [0, 2, 1]}, "rows of a do not lie together"),
        ],
    ),
    Valid(
        OpCall(
            "pl::bmm",
            {
                **_ARGUMENTS,
                "a": activation(2, 3, 4, dtype="int16"),
                "b": activation(2, 4, 5, dtype="int16", name="b"),
                "a_zero_point": 0,
                **INT16_STAGE,
            },
            (activation(2, 3, 5, dtype="int16", name="y"),),
        ),
        refused=[
            ({"b": activation(2, 4, 5)}, "b is int8, not int16"),
            ({"shift": 15}, "at most 14"),
            ({"a_zero_point": 1}, "a_zero_point is 1"),
        ],
    ),
]

_SOURCE = "bmm/bmm_s8_scalar.c"
MUTANTS = [
    Mutant(_SOURCE, "s->c3 += x * column[3]", "s->c3 += x * column[2]"),
    Mutant(_SOURCE, "total[n] += value", "total[n] += column[k]"),
    Mutant(_SOURCE, "a += 2 * dims->a_row_stride", "a += 2 * dims->depth"),
    Mutant(_SOURCE, "output += 2 * dims->columns", "output += dims->columns"),
    Mutant(
        "bmm/bmm_s16_scalar.c",
        "(int64_t)*a * *b",
        "(int32_t)((uint32_t)sum + (uint32_t)(*a * *b)) - sum",
    ),
    Mutant("bmm/bmm_s16_scalar.c", "b += step", "++b"),
    Mutant("bmm/bmm_s16_scalar.c", "p.activation_max", "INT16_MAX"),
    Mutant("bmm/columns_s8.h", "left < PL_BMM_COLUMNS ? left", "left < 3 ? left"),
    Mutant("bmm/columns_s8.h", "if (count < 3) return;", "if (count < 4) return;"),
    Mutant(
        "bmm/columns_s8.h", "2 * params->output_zero_point + 1", "2 * params->output_zero_point"
    ),
]


def layers() -> Iterator[Layer]:
    """Yield keys and values of attention, 2 heads of 16 over 32 steps."""
    wide = {
        **_ARGUMENTS,
        "a": activation(2, 32, 16, dtype="int16"),
        "a_zero_point": 0,
        **INT16_STAGE,
    }
    for name, shape, transposed in (("keys", (2, 32, 16), True), ("values", (2, 16, 32), False)):
        right = activation(*shape, dtype="int16", name="b")
        arguments = {**wide, "b": right, "transpose_b": transposed}
        result = activation(2, 32, 32, dtype="int16", name="y")
        yield Layer(f"bmm int16 {name}", OpCall("pl::bmm", arguments, (result,)))
    keys = {"b": activation(2, 32, 16, name="b"), "transpose_b": True}
    for name, a, b, output in (
        ("queries times keys", (2, 32, 16), keys, (2, 32, 32)),
        ("weights times values", (2, 32, 32), {"b": activation(2, 32, 16, name="b")}, (2, 32, 16)),
    ):
        arguments = {**_ARGUMENTS, "a": activation(*a), **b}
        yield Layer(f"bmm {name}", OpCall("pl::bmm", arguments, (activation(*output, name="y"),)))
