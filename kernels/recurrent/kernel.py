# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::lstm, pl::gru and pl::rnn, declared in kernels/recurrent/recurrent.h."""

from collections.abc import Mapping

import numpy as np

from kernels.common.gemm import fold_zero_point
from kernels.common.kernel import (
    INT32_MAX,
    AnyArray,
    Constant,
    Field,
    Isa,
    KernelCall,
    OpCall,
    Value,
    kernel,
)
from kernels.common.quantization import (
    LIMITS,
    SUFFIXES,
    activation_dtype,
    channel_vector,
    factor,
    factors,
    zero_point,
)

_TABLE_SIZE = 12 * 32 + 1
_HIDDEN_REACH = 2**15
_NO_CELL_LIMIT = 2**15

_FOUR = 4
"""PL_GATE_FOUR."""

_UNITS = 4
"""PL_UNITS."""


@kernel("pl::lstm")
def lstm(call: OpCall, isa: Isa) -> KernelCall:
    cell = _state(call, "cell", call.tensor("hidden").shape)
    last = _last_state(call, 2)
    return _recurrent_call(
        call,
        isa,
        gates=4,
        params={
            "cell_bits": _bits(call, "cell_bits"),
            "cell_limit": call.integer("cell_limit", 0, _NO_CELL_LIMIT),
            "relu": 0,
        },
        data={"cell": cell, "hidden_bias": None, "last_cell": last},
        in_place=((cell.name, last.name),),
    )


@kernel("pl::gru")
def gru(call: OpCall, isa: Isa) -> KernelCall:
    bias = call.constant("hidden_bias", "int32", rank=1)
    size = call.tensor("hidden", rank=2).shape[1]
    call.require(bias.size == size, f"hidden_bias has {bias.size} entries for {size} units")
    return _recurrent_call(
        call,
        isa,
        gates=3,
        params={"cell_bits": 0, "cell_limit": 0, "relu": 0},
        data={"cell": None, "hidden_bias": Constant(bias), "last_cell": None},
        largest_bias=int(np.abs(bias.astype(np.int64)).max()),
    )


@kernel("pl::rnn")
def rnn(call: OpCall, isa: Isa) -> KernelCall:
    return _recurrent_call(
        call,
        isa,
        gates=1,
        params={"cell_bits": 0, "cell_limit": 0, "relu": int(call.flag("relu"))},
        data={"cell": None, "hidden_bias": None, "last_cell": None},
    )


def _recurrent_call(
    call: OpCall,
    isa: Isa,
    gates: int,
    params: Mapping[str, Field],
    data: Mapping[str, Field],
    in_place: tuple[tuple[str, str], ...] = (),
    largest_bias: int = 0,
) -> KernelCall:
    dtype = activation_dtype(call, "input")
    source, hidden = call.tensor("input", dtype, rank=3), call.tensor("hidden", "int16", rank=2)
    batch_first = call.flag("batch_first")
    batches, steps = source.shape[:2] if batch_first else source.shape[1::-1]
    size = hidden.shape[1]
    _state(call, "hidden", (batches, size))
    output = call.output(dtype)
    expected = (*source.shape[:2], size)
    call.require(
        output.shape == expected,
        f"output has shape {list(output.shape)}, it should be {list(expected)}",
    )
    multiplier, shift = factor(call, "output_multiplier", "output_shift")
    table = call.constant("table", "int16", rank=1)
    call.require(table.size == _TABLE_SIZE, f"table has {table.size} entries, not {_TABLE_SIZE}")
    row_step = 1 if batch_first else batches
    reverse = call.flag("reverse")
    return KernelCall(
        function=f"pl_{call.op.removeprefix('pl::')}_{SUFFIXES[dtype]}",
        header="kernels/recurrent/recurrent.h",
        params={
            "hidden_bits": _bits(call, "hidden_bits"),
            **params,
            "output_multiplier": multiplier,
            "output_shift": shift,
            "output_zero_point": zero_point(call, "output_zero_point", dtype),
        },
        dims={
            "steps": steps,
            "batches": batches,
            "input_size": source.shape[2],
            "hidden_size": size,
            "first_row": (steps - 1) * row_step if reverse else 0,
            "row_step": -row_step if reverse else row_step,
            "batch_step": steps if batch_first else 1,
        },
        data={
            "input": source,
            "hidden": hidden,
            **_parts(call, isa, gates, source, size, largest_bias),
            "table": Constant(table),
            "output": output,
            "last_hidden": _last_state(call, 1),
            **data,
        },
        scratch=2 * size if steps > 1 else 0,
        in_place=in_place,
    )


def _parts(
    call: OpCall, isa: Isa, gates: int, source: Value, size: int, largest_bias: int
) -> dict[str, Field]:
    """Return packed constants of both parts of the pre-activations, checked for overflow."""
    rows = gates * size
    weight = _weight(call, "weight", (rows, source.shape[2]))
    hidden_weight = _weight(call, "hidden_weight", (rows, size))
    input_zero_point = zero_point(call, "input_zero_point", source.dtype)
    bias = fold_zero_point(
        call,
        weight,
        channel_vector(call, "bias", rows),
        input_zero_point,
        -LIMITS[source.dtype][0],
    )
    reach = _HIDDEN_REACH * int(np.abs(hidden_weight.astype(np.int64)).sum(axis=1).max())
    call.require(
        reach + largest_bias <= INT32_MAX,
        f"the sums of hidden_weight may reach {reach + largest_bias} and overflow int32",
    )
    multiplier, shift = factors(call, rows)
    hidden_multiplier, hidden_shift = factors(call, rows, "hidden_")

    def packed(array: AnyArray) -> Constant:
        return _pack_factors(array.astype(np.int32), gates, isa)

    return {
        "weight": _pack(weight, gates, isa, source.dtype == "int16"),
        "bias": packed(bias),
        "multiplier": packed(multiplier),
        "shift": packed(shift),
        "hidden_weight": _pack(hidden_weight, gates, isa, True),
        "hidden_multiplier": packed(hidden_multiplier),
        "hidden_shift": packed(hidden_shift),
    }


def _pack(weight: AnyArray, gates: int, isa: Isa, wide: bool) -> Constant:
    """Return weights of units, ordered as gates_scalar.h, gates_dsp.h or recurrent_step_mve.h."""
    of_gates = weight.reshape(gates, -1, weight.shape[1])
    if isa == "mve":
        return _by_four_units(of_gates)
    rows = of_gates.transpose(1, 2, 0)  # [units, inputs, gates]
    if isa == "dsp":
        units, inputs, _ = rows.shape
        whole = inputs // _FOUR * _FOUR
        fours = rows[:, :whole].reshape(units, -1, _FOUR, gates).swapaxes(2, 3)
        fours = fours[..., [0, 2, 1, 3]] if wide else fours
        rows = np.concatenate(
            [fours.reshape(units, -1), rows[:, whole:].reshape(units, -1)], axis=1
        )
    return Constant(np.ascontiguousarray(rows).reshape(-1))


def _pack_factors(factors: AnyArray, gates: int, isa: Isa) -> Constant:
    """Return int32 [gates * units] in the order of recurrent_step.h or recurrent_step_mve.h."""
    of_gates = factors.reshape(gates, -1)
    return _by_four_units(of_gates) if isa == "mve" else Constant(of_gates.T.reshape(-1))


def _by_four_units(of_gates: AnyArray) -> Constant:
    """Return [gates, units, ...] as [units / 4, gates, 4, ...]. The last group may be smaller."""
    fours = range(0, of_gates.shape[1], _UNITS)
    return Constant(np.concatenate([of_gates[:, u : u + _UNITS].reshape(-1) for u in fours]))


def _weight(call: OpCall, name: str, shape: tuple[int, int]) -> AnyArray:
    weight = call.constant(name, "int8", rank=2)
    call.require(
        weight.shape == shape, f"{name} has shape {list(weight.shape)}, it should be {list(shape)}"
    )
    return weight


def _state(call: OpCall, name: str, shape: tuple[int, ...]) -> Value:
    state = call.tensor(name, "int16", rank=2)
    call.require(
        state.shape == shape, f"{name} has shape {list(state.shape)}, it should be {list(shape)}"
    )
    return state


def _last_state(call: OpCall, index: int) -> Value:
    """Return the output with the state after the last step."""
    state, shape = call.output("int16", index=index), call.tensor("hidden").shape
    call.require(
        state.shape == shape,
        f"output {index} has shape {list(state.shape)}, it should be {list(shape)}",
    )
    return state


def _bits(call: OpCall, name: str) -> int:
    return call.integer(name, 0, 15)
