# SPDX-License-Identifier: Apache-2.0
"""pl::integer_add and its kin on kernels/integer/integer.h."""

from functools import partial

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import factor, zero_point
from kernels.common.shapes import BROADCAST_DIMS, Broadcast

_HEADER = "kernels/integer/integer.h"
_RESULTS = {
    **dict.fromkeys(("add", "sub", "mul", "minimum", "maximum", "divide", "modulo"), "int32"),
    **dict.fromkeys(("less", "equal"), "bool"),
}


def _binary(call: OpCall, isa: Isa, name: str) -> KernelCall:
    del isa
    output = call.output(_RESULTS[name])
    a, b = call.tensor("a", "int32"), call.tensor("b", "int32")
    broadcast = Broadcast.of(call, a, b, may_swap=False)
    return KernelCall(
        function=f"pl_integer_{name}",
        header=_HEADER,
        params={},
        dims=broadcast.dims(),
        data={"a": a, "b": b, "output": output},
        in_place=broadcast.in_place(output) if output.dtype == "int32" else (),
    )


for _name in _RESULTS:
    kernel(f"pl::integer_{_name}")(partial(_binary, name=_name))


@kernel("pl::integer_quantize")
def integer_quantize(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input", "int32"), call.output("int8")
    call.require(
        source.size == output.size, f"{source.size} inputs do not give {output.size} outputs"
    )
    multiplier, shift = factor(call, "multiplier", "shift")
    ones = (1,) * (BROADCAST_DIMS - 1)
    return KernelCall(
        function="pl_integer_quantize",
        header=_HEADER,
        params={
            "output_zero_point": zero_point(call, "output_zero_point"),
            "multiplier": multiplier,
            "shift": shift,
        },
        dims={
            "size": (*ones, output.size),
            "a_stride": (0,) * (BROADCAST_DIMS - 1) + (1,),
            "b_stride": (0,) * BROADCAST_DIMS,
        },
        data={"a": source, "b": None, "output": output},
    )
