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
    reach = sum(_reach(operand, left_shift, dtype) for operand in operands.values())
    call.require(reach <= INT32_MAX, f"the scaled operands may add up to {reach}: int32 overflows")
    multiplier, shift = factor(call, "output_multiplier", "output_shift")
    broadcast = Broadcast.of(call, call.tensor("a", dtype), call.tensor("b", dtype))
    output = call.output(dtype)
    down = (
        dtype == "int8"
        and not call.small
        and all(_goes_down(operand, left_shift) for operand in operands.values())
        and -20 <= shift < 0
        and reach < 2**30
    )
    return KernelCall(
        function=_down(isa, broadcast) if down else f"pl_add_{SUFFIXES[dtype]}",
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


def _down(isa: Isa, broadcast: Broadcast) -> str:
    """One row, which is most of what there is, has a function of its own on cores with Helium."""
    return "pl_add_flat_s8" if isa == "mve" and broadcast.is_flat else "pl_add_down_s8"


def _operand(call: OpCall, name: str, dtype: str) -> dict[str, int]:
    multiplier, shift = factor(call, f"{name}_multiplier", f"{name}_shift", signed=True)
    return {
        "zero_point": zero_point(call, f"{name}_zero_point", dtype),
        "multiplier": multiplier,
        "shift": shift,
    }


def _goes_down(operand: dict[str, int], left_shift: int) -> bool:
    """Whether the operand is as pl_add_down_s8 takes it."""
    halved = abs(operand["multiplier"]) == 2**30 and operand["shift"] == 0
    return operand["shift"] < 0 or (halved and 1 <= left_shift <= 21)


def _reach(operand: dict[str, int], left_shift: int, dtype: str) -> int:
    """The largest magnitude of a scaled operand."""
    differences = (x - operand["zero_point"] for x in LIMITS[dtype])
    return max(
        abs(requantize(d << left_shift, operand["multiplier"], operand["shift"]))
        for d in differences
    )
