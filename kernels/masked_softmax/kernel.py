# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::masked_softmax, declared in kernels/masked_softmax/masked_softmax.h."""

from kernels.common.exponentials import exp_table, wide_shares_table
from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import SUFFIXES, activation_dtype
from kernels.common.shapes import broadcast_blocks


@kernel("pl::masked_softmax")
def masked_softmax(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    dtype = activation_dtype(call, "input")
    source, mask = call.tensor("input", dtype), call.tensor("mask", "bool")
    output = call.output(dtype)
    call.require(
        source.shape == output.shape,
        f"output has shape {list(output.shape)}, it should be {list(source.shape)}",
    )
    call.require(
        len(mask.shape) > 0 and mask.shape[-1:] == source.shape[-1:],
        f"input has shape {list(source.shape)}, mask {list(mask.shape)}: the last sizes differ",
    )
    size, steps = source.shape[-1], call.integer("steps")
    call.require(steps >= 1, f"steps is {steps}, not positive")
    wide = dtype == "int16"
    return KernelCall(
        function=f"pl_masked_softmax_{SUFFIXES[dtype]}",
        header=f"kernels/masked_softmax/masked_softmax{'_s16' if wide else ''}.h",
        params={} if wide else {"steps": steps},
        dims={
            "rows": broadcast_blocks(
                call, (source.shape[:-1], size), (mask.shape[:-1], size), source.shape[:-1]
            ),
            "size": size,
        },
        data={
            "input": source,
            "mask": mask,
            "exp_table": wide_shares_table(call, size) if wide else exp_table(call, size, steps),
            "output": output,
        },
        in_place=((source.name, output.name),),
    )
