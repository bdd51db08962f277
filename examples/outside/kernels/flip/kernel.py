# SPDX-License-Identifier: Apache-2.0
"""pl::flip on kernels/flip/flip.h."""

import math

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel


@kernel("pl::flip")
def flip(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input", "int8"), call.output("int8")
    call.require(source.shape == output.shape, f"{source.shape} does not give {output.shape}")
    dim = call.integer("dim", 0, len(source.shape) - 1)
    return KernelCall(
        function="pl_flip_x8",
        header="kernels/flip/flip.h",
        params={},
        dims={
            "outer": math.prod(source.shape[:dim]),
            "size": source.shape[dim],
            "inner": math.prod(source.shape[dim + 1 :]),
        },
        data={"input": source, "output": output},
    )
