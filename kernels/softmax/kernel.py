# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::softmax, declared in kernels/softmax/softmax.h."""

from kernels.common.exponentials import exp_table, wide_shares_table
from kernels.common.kernel import PLAIN, Field, Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import activation_dtype
from kernels.common.rows import outer_by_rows
from kernels.common.shapes import axis_dims, axis_size

_FEW = 64
"""Number of values below which a few hundred bytes of code are worth more than their savings."""


@kernel("pl::softmax")
def softmax(call: OpCall, isa: Isa) -> KernelCall:
    dtype = activation_dtype(call, "input")
    source, output = call.tensor("input", dtype), call.output(dtype)
    call.require(
        source.shape == output.shape,
        f"output has shape {list(output.shape)}, it should be {list(source.shape)}",
    )
    size, steps = axis_size(call, source.shape), call.integer("steps")
    call.require(steps >= 1, f"steps is {steps}, not positive")
    params: dict[str, Field] = {}
    if dtype == "int16":
        function, table = "pl_softmax_s16", wide_shares_table(call, size)
    else:
        fast = isa not in PLAIN and not call.small and source.size > _FEW
        function = f"pl_softmax_{'steps_' * (steps != 256)}{'rows_' * fast}s8"
        table = exp_table(call, size, steps)
        if steps != 256:
            params = {"steps": steps}
    dims = axis_dims(call, source.shape)
    return KernelCall(
        function=function,
        header=f"kernels/softmax/softmax{'_s16' if dtype == 'int16' else ''}.h",
        params=params,
        dims=dims,
        data={
            "input": source,
            "exp_table": table,
            "output": output,
        },
        in_place=((source.name, output.name),),
        rows=outer_by_rows(source, output, dims),
    )
