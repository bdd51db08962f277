# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::roll, declared in kernels/roll/roll.h."""

import math

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel


@kernel("pl::roll")
def roll(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input", "int8"), call.output("int8")
    call.require(
        source.shape == output.shape,
        f"output has shape {list(output.shape)}, it should be {list(source.shape)}",
    )
    dim = call.integer("dim", 0, len(source.shape) - 1)
    shift = call.integer("shift", 0, source.shape[dim] - 1)
    inner = math.prod(source.shape[dim + 1 :])
    return KernelCall(
        function="pl_roll_s8",
        header="kernels/roll/roll.h",
        params={},
        dims={
            "outer": math.prod(source.shape[:dim]),
            "size": source.shape[dim] * inner,
            "shift": shift * inner,
        },
        data={"input": source, "output": output},
    )
