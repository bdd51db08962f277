# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::add, declared in kernels/add/add.h."""

import math

from kernels.common.kernel import (
    INT32_MAX,
    Isa,
    KernelCall,
    OpCall,
    kernel,
)
from kernels.common.lines import lines
from kernels.common.quantization import (
    LIMITS,
    SUFFIXES,
    activation_dtype,
    activation_range,
    factor,
    requantize,
    zero_point,
)
from kernels.common.rows import ByRows, Taps, broadcast_by_rows, row_count
from kernels.common.shapes import Broadcast, merged

_MAX_LEFT_SHIFT = {"int8": 22, "int16": 15}
"""A difference of int8 values has 9 bits with its sign; int16 has zero point 0."""

_SHORT_ROW, _SHORT_ROW_OF_VALUE = 24, 12
"""Row lengths in elements from which a loop for each row is faster than a gather; the second is for
rows of one value. Estimated by the product of instructions and their cost.
"""


@kernel("pl::add")
def add(call: OpCall, isa: Isa) -> KernelCall:
    dtype = activation_dtype(call, "a")
    left_shift = call.integer("left_shift", 0, _MAX_LEFT_SHIFT[dtype])
    operands = {name: _operand(call, name, dtype) for name in ("a", "b")}
    reaches = [_ends(operand, left_shift, dtype) for operand in operands.values()]
    reach = sum(max(map(abs, ends)) for ends in reaches)
    call.require(reach <= INT32_MAX, f"the scaled operands may add up to {reach}: int32 overflows")
    multiplier, shift = factor(call, "output_multiplier", "output_shift")
    first, second = "a", "b"
    a, b = call.tensor("a", dtype), call.tensor("b", dtype)
    if isa == "mve" and a.size < b.size and b.shape[-1] < _SHORT_ROW:
        a, b = b, a  # the operand that does not repeat first, for pl_add_short_s8
        first, second = second, first
    broadcast = Broadcast.of(call, a, b)
    if broadcast.swapped:
        first, second = second, first
    output = call.output(dtype)
    # For int16 values of one scale the minimum is -2^30.
    fits = reach < 2**30 or (dtype == "int16" and sum(map(max, reaches)) < 2**30 == reach)
    down = (
        not call.small
        and (dtype == "int8" or isa != "mve")
        and all(_goes_down(operand, left_shift) for operand in operands.values())
        and -20 <= shift < 0
        and fits
    )
    if isa == "thumb1" and dtype == "int8" and down and a.size == b.size == output.size:
        by_lines = _by_lines(call, (operands[first], operands[second]), left_shift, broadcast)
        if by_lines is not None:
            return by_lines
    return KernelCall(
        function=_down(dtype, isa, broadcast) if down else f"pl_add_{SUFFIXES[dtype]}",
        header="kernels/add/add.h" if dtype == "int8" else "kernels/add/add_s16.h",
        params={
            "a": operands[first],
            "b": operands[second],
            "left_shift": left_shift,
            "output": {
                "zero_point": zero_point(call, "output_zero_point", dtype),
                "multiplier": multiplier,
                "shift": shift,
            },
            **activation_range(call, dtype),
        },
        dims=broadcast.dims(),
        data={"a": broadcast.a, "b": broadcast.b, "output": output},
        in_place=broadcast.in_place(output),
        rows=broadcast_by_rows(broadcast, output),
    )


def _by_lines(
    call: OpCall,
    operands: tuple[dict[str, int], dict[str, int]],
    left_shift: int,
    broadcast: Broadcast,
) -> KernelCall | None:
    """Return the call of pl_add_lines_s8, None if it is not exact."""
    output = call.output("int8")
    multiplier, shift = factor(call, "output_multiplier", "output_shift")
    result = {
        "zero_point": zero_point(call, "output_zero_point"),
        "multiplier": multiplier,
        "shift": shift,
    }
    limits = activation_range(call)
    found = lines(operands, left_shift, result, *limits.values())
    if found is None:
        return None
    count = row_count(output.shape)
    inputs = {"a": Taps(count), "b": Taps(count)}
    is_by_rows = count > 1 and all(
        v.constant is None and row_count(v.shape) == count for v in (broadcast.a, broadcast.b)
    )
    return KernelCall(
        function="pl_add_lines_s8",
        header="kernels/add/add_lines.h",
        params={**dict(zip(("a_slope", "b_slope", "start"), found, strict=True)), **limits},
        dims={"size": output.size},
        data={"a": broadcast.a, "b": broadcast.b, "output": output},
        in_place=broadcast.in_place(output),
        rows=ByRows(count, inputs, {"size": output.size // count}) if is_by_rows else None,
    )


def _down(dtype: str, isa: Isa, broadcast: Broadcast) -> str:
    """Return the function for dividing factors. On cores with Helium two cases have their own.

    One is a single row, the most frequent case. The other is short rows of an operand that does not
    repeat.
    """
    if isa != "mve":
        return f"pl_add_down_{SUFFIXES[dtype]}"
    if broadcast.is_flat:
        return "pl_add_flat_s8"
    dims = merged(broadcast.each)
    repeats = broadcast.a.size < math.prod(dim.size for dim in broadcast.each)
    short = _SHORT_ROW if dims[-1].strides[1] else _SHORT_ROW_OF_VALUE
    return "pl_add_short_s8" if dims[-1].size < short and not repeats else "pl_add_down_s8"


def _operand(call: OpCall, name: str, dtype: str) -> dict[str, int]:
    multiplier, shift = factor(call, f"{name}_multiplier", f"{name}_shift", signed=True)
    return {
        "zero_point": zero_point(call, f"{name}_zero_point", dtype),
        "multiplier": multiplier,
        "shift": shift,
    }


def _goes_down(operand: dict[str, int], left_shift: int) -> bool:
    """Return True if the operand is valid for pl_add_down_s8 and pl_add_down_s16."""
    halved = abs(operand["multiplier"]) == 2**30 and operand["shift"] == 0
    return operand["shift"] < 0 or (halved and 1 <= left_shift <= 21)


def _ends(operand: dict[str, int], left_shift: int, dtype: str) -> list[int]:
    """Return the scaled minimum and maximum."""
    differences = (x - operand["zero_point"] for x in LIMITS[dtype])
    return [
        requantize(d << left_shift, operand["multiplier"], operand["shift"]) for d in differences
    ]
