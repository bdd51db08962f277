# SPDX-License-Identifier: Apache-2.0
"""pl::add on kernels/add/add.h."""

from kernels.common.kernel import INT8_MAX, INT8_MIN, INT32_MAX, Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import activation_range, factor, requantize, zero_point
from kernels.common.shapes import Broadcast

_MAX_LEFT_SHIFT = 22
"""A difference of int8 values has 9 bits with its sign."""


@kernel("pl::add")
def add(call: OpCall, isa: Isa) -> KernelCall:
    left_shift = call.integer("left_shift", 0, _MAX_LEFT_SHIFT)
    operands = {name: _operand(call, name) for name in ("a", "b")}
    reach = sum(_reach(operand, left_shift) for operand in operands.values())
    call.require(reach <= INT32_MAX, f"the scaled operands may add up to {reach}: int32 overflows")
    multiplier, shift = factor(call, "output_multiplier", "output_shift")
    broadcast = Broadcast.of(call, call.tensor("a", "int8"), call.tensor("b", "int8"))
    output = call.output("int8")
    down = (
        isa != "scalar"
        and all(_goes_down(operand, left_shift) for operand in operands.values())
        and -20 <= shift < 0
        and reach < 2**30
    )
    return KernelCall(
        function="pl_add_down_s8" if down else "pl_add_s8",
        header="kernels/add/add.h",
        params={
            "a": operands["b" if broadcast.swapped else "a"],
            "b": operands["a" if broadcast.swapped else "b"],
            "left_shift": left_shift,
            "output": {
                "zero_point": zero_point(call, "output_zero_point"),
                "multiplier": multiplier,
                "shift": shift,
            },
            **activation_range(call),
        },
        dims=broadcast.dims(),
        data={"a": broadcast.a, "b": broadcast.b, "output": output},
        in_place=broadcast.in_place(output),
    )


def _operand(call: OpCall, name: str) -> dict[str, int]:
    multiplier, shift = factor(call, f"{name}_multiplier", f"{name}_shift", signed=True)
    return {
        "zero_point": zero_point(call, f"{name}_zero_point"),
        "multiplier": multiplier,
        "shift": shift,
    }


def _goes_down(operand: dict[str, int], left_shift: int) -> bool:
    """Whether the operand is as pl_add_down_s8 takes it."""
    halved = abs(operand["multiplier"]) == 2**30 and operand["shift"] == 0
    return operand["shift"] < 0 or (halved and 1 <= left_shift <= 21)


def _reach(operand: dict[str, int], left_shift: int) -> int:
    """The largest magnitude of a scaled operand."""
    differences = (x - operand["zero_point"] for x in (INT8_MIN, INT8_MAX))
    return max(
        abs(requantize(d << left_shift, operand["multiplier"], operand["shift"]))
        for d in differences
    )
