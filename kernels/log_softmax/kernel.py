# SPDX-License-Identifier: Apache-2.0
"""pl::log_softmax on kernels/log_softmax/log_softmax.h."""

from kernels.common.exponentials import exp_table
from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import factor, zero_point
from kernels.common.shapes import axis_dims, axis_size


@kernel("pl::log_softmax")
def log_softmax(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input", "int8"), call.output("int8")
    call.require(
        source.shape == output.shape,
        f"output has shape {list(output.shape)}, it should be {list(source.shape)}",
    )
    table = exp_table(call, axis_size(call, source.shape))
    fraction_bits = call.integer("fraction_bits", 0, 31)
    call.require(
        int(table.array[0]) == 1 << fraction_bits,
        f"exp_table[0] is {int(table.array[0])}, not 2^fraction_bits with {fraction_bits} bits",
    )
    input_factor = factor(call, "input_multiplier", "input_shift")
    log_factor = factor(call, "log_multiplier", "log_shift")
    call.require(
        input_factor[0] >= 0 and log_factor[0] >= 0,
        f"the multipliers are {input_factor[0]} and {log_factor[0]}, they must not be negative",
    )
    return KernelCall(
        function="pl_log_softmax_s8",
        header="kernels/log_softmax/log_softmax.h",
        params={
            "fraction_bits": fraction_bits,
            "input_multiplier": input_factor[0],
            "input_shift": input_factor[1],
            "log_multiplier": log_factor[0],
            "log_shift": log_factor[1],
            "output_zero_point": zero_point(call, "output_zero_point"),
        },
        dims=axis_dims(call, source.shape),
        data={"input": source, "exp_table": table, "output": output},
        in_place=((source.name, output.name),),
    )
