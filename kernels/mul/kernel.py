# SPDX-License-Identifier: Apache-2.0
"""pl::mul on kernels/mul/mul.h."""

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import activation_range, factor, zero_point
from kernels.common.shapes import Broadcast


@kernel("pl::mul")
def mul(call: OpCall, isa: Isa) -> KernelCall:
    multiplier, shift = factor(call, "multiplier", "shift")
    zero_points = [zero_point(call, "a_zero_point"), zero_point(call, "b_zero_point")]
    broadcast = Broadcast.of(call, call.tensor("a", "int8"), call.tensor("b", "int8"))
    if broadcast.swapped:
        zero_points.reverse()
    output = call.output("int8")
    return KernelCall(
        function="pl_mul_down_s8" if isa == "mve" and shift < 0 else "pl_mul_s8",
        header="kernels/mul/mul.h",
        params={
            "a_zero_point": zero_points[0],
            "b_zero_point": zero_points[1],
            "output_zero_point": zero_point(call, "output_zero_point"),
            "multiplier": multiplier,
            "shift": shift,
            **activation_range(call),
        },
        dims=broadcast.dims(),
        data={"a": broadcast.a, "b": broadcast.b, "output": output},
        in_place=broadcast.in_place(output),
    )
