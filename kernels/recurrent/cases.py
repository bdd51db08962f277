# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::lstm, pl::gru and pl::rnn."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray, OpCall, Value
from kernels.testing.calls import activation, constant
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_GATES = {"lstm": 4, "gru": 3, "rnn": 1}

_TABLE = np.array(
    [min(32767, round(65536 / (1 + math.exp(-k / 32))) - 32768) for k in range(385)], np.int16
)

_FORWARD = (False, False)
"""Neither reverse nor batch_first."""

# name, (steps, batches, input size, hidden size), (reverse, batch first), on boards
_SHAPES = (
    ("one unit", (1, 1, 1, 1), (False, False), True),
    ("one step", (1, 1, 5, 4), (False, True), True),
    ("one step, batch", (1, 3, 2, 3), (False, False), False),
    ("two steps", (2, 1, 3, 5), (False, False), True),
    ("three steps, back", (3, 1, 4, 2), (True, False), True),
    ("batch", (3, 2, 4, 3), (False, False), True),
    ("batch, back", (4, 3, 3, 2), (True, False), False),
    ("batch first", (3, 2, 4, 3), (False, True), True),
    ("batch first, back", (4, 3, 3, 2), (True, True), False),
    ("many steps", (20, 1, 6, 8), (False, False), False),
    ("many units", (2, 1, 3, 33), (False, False), True),
    ("wide input", (2, 1, 70, 3), (True, True), True),
)


def cases() -> Iterator[Case]:
    for op in _GATES:
        for name, shape, order, board in _SHAPES:
            yield _case(op, f"{op} {name}", shape, order, Values(op, name), board)
        for index in range(60):
            values = Values(op, index)
            rows = values.integer(1, 6), values.integer(1, 3)
            shape = *rows, values.integer(1, 12), values.integer(1, 12)
            order = values.integer(0, 1) > 0, values.integer(0, 1) > 0
            yield _case(op, f"{op} random {index}", shape, order, values, False)
        for spread in (0.01, 3.0, 1e3, 1e6):
            # Gates open or shut, and parts beyond their limit.
            values = Values(op, "spread", str(spread))
            name = f"{op} factors of {spread}"
            yield _case(op, name, (4, 1, 3, 4), _FORWARD, values, spread in (3.0, 1e6), spread)
        for index in range(12):
            values = Values(op, "int16", index)
            rows = values.integer(1, 6), values.integer(1, 3)
            shape = *rows, values.integer(1, 12), values.integer(1, 12)
            order = values.integer(0, 1) > 0, values.integer(0, 1) > 0
            yield _case(op, f"{op} int16 {index}", shape, order, values, index < 2, wide=True)
        values = Values(op, "outputs")
        name = f"{op} outputs beyond int32"
        yield _case(op, name, (2, 1, 3, 5), _FORWARD, values, True, to_output=2.0**20)
        for bits in (0, 7, 14, 15):
            values = Values(op, "bits", bits)
            name = f"{op} {bits} bits"
            yield _case(op, name, (3, 1, 3, 4), _FORWARD, values, bits == 14, bits=bits)


def _case(
    op: str,
    name: str,
    shape: tuple[int, int, int, int],
    order: tuple[bool, bool],
    values: Values,
    board: bool,
    spread: float = 1.0,
    bits: int | None = None,
    wide: bool = False,
    to_output: float = 2.0**-8,
) -> Case:
    (steps, batches, input_size, size), (reverse, batch_first) = shape, order
    gates = _GATES[op]
    rows = gates * size
    leading = (batches, steps) if batch_first else (steps, batches)
    state = values.choice([2**15 - 1, 2**13, 0])
    inputs = {
        "input": (values.int16 if wide else values.int8)(*leading, input_size),
        "hidden": _int16(values, state, batches, size),
    }
    if op == "lstm":
        inputs["cell"] = _int16(values, state, batches, size)
    # Pre-activations of about +-2 * spread.
    from_input = spread * 2**15 / (5000 * math.sqrt(input_size)) / (256 if wide else 1)
    from_hidden = spread * 2**15 / (75 * max(state, 2**13) * math.sqrt(size))
    constants = {
        "weight": values.int8(rows, input_size),
        "bias": values.int32(1000 * input_size, rows),
        **values.factors(from_input, rows),
        "hidden_weight": values.int8(rows, size),
        **{f"hidden_{k}": v for k, v in values.factors(from_hidden, rows).items()},
        "table": _TABLE,
    }
    if op == "gru":
        constants["hidden_bias"] = values.int32(30 * 2**13, size)
    hidden_bits = values.choice([15, 15, 14, 12]) if bits is None else bits
    multiplier, shift = values.factor(1.0 if wide else to_output)
    attributes: dict[str, Any] = {
        "input_zero_point": 0 if wide else values.zero_point(),
        "hidden_bits": hidden_bits,
        "output_multiplier": multiplier,
        "output_shift": shift,
        "output_zero_point": 0 if wide else values.choice([0, 0, values.zero_point()]),
        "reverse": reverse,
        "batch_first": batch_first,
    }
    if op == "lstm":
        attributes["cell_bits"] = values.choice([15, 13, 12, 11]) if bits is None else bits
        attributes["cell_limit"] = values.choice([2**15, 2**15, 20480, 100])
    if op == "rnn":
        attributes["relu"] = values.integer(0, 1) > 0
    return Case(name, f"pl::{op}", inputs, constants, attributes, board)


def _int16(values: Values, magnitude: int, *shape: int) -> AnyArray:
    return values.int32(magnitude, *shape).astype(np.int16)


def _call(op: str, steps: int, input_size: int, size: int, values: Values) -> OpCall:
    """Return the call of a case as the plan compiler sees it: [steps, 1, input_size]."""
    case = _case(op, op, (steps, 1, input_size, size), _FORWARD, values, False)
    arguments: dict[str, Any] = {
        name: activation(*array.shape, dtype=array.dtype.name, name=name)
        for name, array in case.inputs.items()
        if isinstance(array, np.ndarray)
    }
    arguments |= {
        name: constant(array, array.dtype.name)
        for name, array in case.constants.items()
        if isinstance(array, np.ndarray)
    }
    arguments |= case.attributes
    states = 2 if op == "lstm" else 1
    outputs = [activation(1, size, dtype="int16", name=f"state{i}") for i in range(states)]
    return OpCall(f"pl::{op}", arguments, (activation(steps, 1, size, name="y"), *outputs))


def _valid(op: str) -> OpCall:
    return _call(op, 2, 3, 4, Values("valid", op))


def _large(value: int, dtype: str, *shape: int) -> Value:
    return constant(np.full(shape, value), dtype)


CALLS = [
    Valid(
        _valid("lstm"),
        refused=[
            ({"cell": activation(1, 3, dtype="int16")}, "cell has shape \\[1, 3\\]"),
            ({"hidden": activation(1, 4)}, "hidden is int8, not int16"),
            ({"cell_bits": 16}, "cell_bits is 16, not in \\[0, 15\\]"),
            ({"cell_limit": 2**15 + 1}, "cell_limit is 32769, not in \\[0, 32768\\]"),
            ({"table": _large(0, "int16", 384)}, "table has 384 entries, not 385"),
            ({"input": activation(2, 1, 3, dtype="int16")}, "output 0 is int8, not int16"),
            ({"weight": _large(1, "int8", 16, 4)}, "weight has shape \\[16, 4\\]"),
            ({"hidden_shift": _large(31, "int32", 16)}, "shift of hidden_multiplier\\[0\\] is 31"),
            ({"batch_first": True}, "hidden has shape \\[1, 4\\], it should be \\[2, 4\\]"),
        ],
    ),
    Valid(
        _valid("gru"),
        refused=[
            ({"hidden_bias": _large(0, "int32", 5)}, "hidden_bias has 5 entries for 4 units"),
            ({"hidden_bias": _large(2**31 - 1, "int32", 4)}, "overflow int32"),
            ({"input": activation(2, 1, 4)}, "weight has shape \\[12, 3\\]"),
        ],
    ),
    Valid(
        _valid("rnn"),
        refused=[
            ({"hidden": activation(1, 5, dtype="int16")}, "should be \\[2, 1, 5\\]"),
            ({"bias": _large(2**31 - 1, "int32", 4)}, "overflow int32"),
        ],
    ),
]

_SEQUENCE = "recurrent/sequence.h"
_STEP = "recurrent/recurrent_step.h"
MUTANTS = [
    Mutant(_STEP, "rise + (1 << (PL_STEP_BITS - 1))", "rise"),
    Mutant(_STEP, "(PL_TABLE_REACH << PL_FRACTION_BITS) - 1;", "PL_TABLE_REACH;"),
    Mutant(_STEP, "-PL_PART_REACH, PL_PART_REACH", "INT32_MIN, INT32_MAX"),
    Mutant(_SEQUENCE, "left % 2 == 0", "left % 2 != 0"),
    Mutant(_STEP, "= pl_saturate_s16(y)", "= (int16_t)y"),
    Mutant(_STEP, "(wide ? 2 : 1)", "1"),
    Mutant(_SEQUENCE, "at.cell = at.new_cell", ""),
    Mutant(_SEQUENCE, "at.row += dims->row_step", "++at.row"),
    Mutant(_SEQUENCE, "batch * dims->batch_step", "batch"),
    Mutant(_SEQUENCE, "dims->steps > 1 && ctx", "dims->steps > 2 && ctx"),
    Mutant("recurrent/lstm_cell.h", "(16 - params->cell_bits)", "1"),
    Mutant("recurrent/lstm_cell.h", "pl_clamp(sum, -limit, limit)", "sum"),
    Mutant("recurrent/lstm_cell.h", "31 - params->hidden_bits", "16"),
    Mutant("recurrent/gru_cell.h", "+ (1 << 15)", "+ 0"),
    Mutant("recurrent/gru_cell.h", "pl_scale_q16(unit->b[2], r)", "unit->b[2]"),
    Mutant("recurrent/rnn_cell.h", "2 * positive", "positive"),
]


def layers() -> Iterator[Layer]:
    for op in _GATES:
        yield Layer(f"{op} 16 to 32, 16 steps", _call(op, 16, 16, 32, Values("bench", op)))
