# SPDX-License-Identifier: Apache-2.0
"""pl::softmax on kernels/softmax/softmax.h."""

from kernels.common.exponentials import exp_table
from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.shapes import axis_dims, axis_size


@kernel("pl::softmax")
def softmax(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input", "int8"), call.output("int8")
    call.require(
        source.shape == output.shape,
        f"output has shape {list(output.shape)}, it should be {list(source.shape)}",
    )
    steps = call.integer("steps")
    call.require(steps >= 1, f"steps is {steps}, not positive")
    usual = steps == 256
    return KernelCall(
        function="pl_softmax_s8" if usual else "pl_softmax_steps_s8",
        header="kernels/softmax/softmax.h",
        params={} if usual else {"steps": steps},
        dims=axis_dims(call, source.shape),
        data={
            "input": source,
            "exp_table": exp_table(call, axis_size(call, source.shape), steps),
            "output": output,
        },
        in_place=((source.name, output.name),),
    )
