# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::svdf, declared in kernels/svdf/svdf.h."""

import numpy as np

from kernels.common.gemm import fold_zero_point
from kernels.common.kernel import Constant, Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import factor, zero_point


@kernel("pl::svdf")
def svdf(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input", "int8", rank=2), call.output("int8", rank=2)
    state, new_state = call.tensor("state", "int16", rank=3), call.output("int16", index=1)
    weight, time = call.constant("weight", "int8", rank=2), call.constant("time", "int16", rank=2)
    bias = call.constant("bias", "int32", rank=1)
    (batches, size), (filters, memory), units = source.shape, time.shape, bias.size
    call.require(memory >= 2, f"time has {memory} frames, it should have 2 or more")
    call.require(
        units > 0 and filters % units == 0, f"{filters} filters are no multiple of {units} units"
    )
    for name, shape, expected in (
        ("weight", weight.shape, (filters, size)),
        ("state", state.shape, (batches, filters, memory - 1)),
        ("output 1", new_state.shape, state.shape),
        ("output", output.shape, (batches, units)),
    ):
        call.require(
            shape == expected, f"{name} has shape {list(shape)}, it should be {list(expected)}"
        )
    of_state = factor(call, "state_multiplier", "state_shift")
    of_output = factor(call, "multiplier", "shift")
    call.require(
        of_state[0] >= 0 and of_output[0] >= 0,
        f"the multipliers are {of_state[0]} and {of_output[0]}, they must not be negative",
    )
    folded = fold_zero_point(
        call, weight, np.zeros(filters, np.int32), zero_point(call, "input_zero_point")
    )
    return KernelCall(
        function="pl_svdf_s8",
        header="kernels/svdf/svdf.h",
        params={
            "state_multiplier": of_state[0],
            "state_shift": of_state[1],
            "multiplier": of_output[0],
            "shift": of_output[1],
            "output_zero_point": zero_point(call, "output_zero_point"),
        },
        dims={
            "batches": batches,
            "input_size": size,
            "units": units,
            "rank": filters // units,
            "memory": memory,
        },
        data={
            "input": source,
            "state": state,
            "weight": Constant(weight),
            "column_bias": Constant(folded.astype(np.int32)),
            "time": Constant(time),
            "bias": Constant(bias),
            "output": output,
            "new_state": new_state,
        },
        in_place=((state.name, new_state.name),),
    )
