# SPDX-License-Identifier: Apache-2.0
"""pl::add on kernels/add/add.h."""

from kernels.common.kernel import (
    INT32_MAX,
    Isa,
    KernelCall,
    OpCall,
    kernel,
)
from kernels.common.quantization import (
    LIMITS,
    SUFFIXES,
    activation_dtype,
    activation_range,
    factor,
    requantize,
    zero_point,
)
from kernels.common.rows import broadcast_by_rows
from kernels.common.shapes import Broadcast

_MAX_LEFT_SHIFT = {"int8": 22, "int16": 15}
"""A difference of int8 values has 9 bits with its sign; int16 has zero point 0."""


@kernel("pl::add")
def add(call: OpCall, isa: Isa) -> KernelCall:
    dtype = activation_dtype(call, "a")
    left_shift = call.integer("left_shift", 0, _MAX_LEFT_SHIFT[dtype])
    operands = {name: _operand(call, name, dtype) for name in ("a", "b")}
    reaches = [_ends(operand, left_shift, dtype) for operand in operands.values()]
    reach = sum(max(map(abs, ends)) for ends in reaches)
    call.require(reach <= INT32_MAX, f"the scaled operands may add up to {reach}: int32 overflows")
    multiplier, shift = factor(call, "output_multiplier", "output_shift")
    broadcast = Broadcast.of(call, call.tensor("a", dtype), call.tensor("b", dtype))
    output = call.output(dtype)
    # Of int16 values of one scale the least is -2^30.
    fits = reach < 2**30 or (dtype == "int16" and sum(map(max, reaches)) < 2**30 == reach)
    down = (
        not call.small
        and (dtype == "int8" or isa != "mve")
        and all(_goes_down(operand, left_shift) for operand in operands.values())
        and -20 <= shift < 0
        and fits
    )
    return KernelCall(
        function=_down(dtype, isa, broadcast) if down else f"pl_add_{SUFFIXES[dtype]}",
        header="kernels/add/add.h" if dtype == "int8" else "kernels/add/add_s16.h",
        params={
            "a": operands["b" if broadcast.swapped else "a"],
            "b": operands["a" if broadcast.swapped else "b"],
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


def _down(dtype: str, isa: Isa, broadcast: Broadcast) -> str:
    """One row, which is most of what there is, has a function of its own on cores with Helium."""
    is_flat = isa == "mve" and broadcast.is_flat
    return f"pl_add_{'flat' if is_flat else 'down'}_{SUFFIXES[dtype]}"


def _operand(call: OpCall, name: str, dtype: str) -> dict[str, int]:
    multiplier, shift = factor(call, f"{name}_multiplier", f"{name}_shift", signed=True)
    return {
        "zero_point": zero_point(call, f"{name}_zero_point", dtype),
        "multiplier": multiplier,
        "shift": shift,
    }


def _goes_down(operand: dict[str, int], left_shift: int) -> bool:
    """Whether the operand is as pl_add_down_s8 and pl_add_down_s16 take it."""
    halved = abs(operand["multiplier"]) == 2**30 and operand["shift"] == 0
    return operand["shift"] < 0 or (halved and 1 <= left_shift <= 21)


def _ends(operand: dict[str, int], left_shift: int, dtype: str) -> list[int]:
    """What the least and the greatest value become, scaled."""
    differences = (x - operand["zero_point"] for x in LIMITS[dtype])
    return [
        requantize(d << left_shift, operand["multiplier"], operand["shift"]) for d in differences
    ]
