# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::log_softmax, declared in kernels/log_softmax."""

from kernels.common.exponentials import exp_table, wide_log_table
from kernels.common.kernel import Field, Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import activation_dtype, factor, zero_point
from kernels.common.rows import outer_by_rows
from kernels.common.shapes import axis_dims, axis_size
from kernels.common.wide import wide_factor


@kernel("pl::log_softmax")
def log_softmax(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    dtype = activation_dtype(call, "input")
    source, output = call.tensor("input", dtype), call.output(dtype)
    call.require(
        source.shape == output.shape,
        f"output has shape {list(output.shape)}, it should be {list(source.shape)}",
    )
    size = axis_size(call, source.shape)
    if dtype == "int16":
        function, header, table = (
            "pl_log_softmax_s16",
            "log_softmax_s16",
            wide_log_table(call, size),
        )
        params = _factors(wide_factor(call, "input_"), wide_factor(call, "log_"))
        zero_point(call, "output_zero_point", dtype)
    else:
        function, header, table = "pl_log_softmax_s8", "log_softmax", exp_table(call, size)
        params = _int8_params(call, int(table.array[0]))
    dims = axis_dims(call, source.shape)
    return KernelCall(
        function=function,
        header=f"kernels/log_softmax/{header}.h",
        params=params,
        dims=dims,
        data={"input": source, "exp_table": table, "output": output},
        in_place=((source.name, output.name),),
        rows=outer_by_rows(source, output, dims),
    )


def _int8_params(call: OpCall, one: int) -> dict[str, Field]:
    """Return the parameters, including the table's first entry."""
    fraction_bits = call.integer("fraction_bits", 0, 31)
    call.require(
        one == 1 << fraction_bits,
        f"exp_table[0] is {one}, not 2^fraction_bits with {fraction_bits} bits",
    )
    of_input = factor(call, "input_multiplier", "input_shift")
    of_log = factor(call, "log_multiplier", "log_shift")
    call.require(
        of_input[0] >= 0 and of_log[0] >= 0,
        f"the multipliers are {of_input[0]} and {of_log[0]}, they must not be negative",
    )
    return {
        "fraction_bits": fraction_bits,
        **_factors(of_input, of_log),
        "output_zero_point": zero_point(call, "output_zero_point"),
    }


def _factors(of_input: tuple[int, int], of_log: tuple[int, int]) -> dict[str, Field]:
    return {
        "input_multiplier": of_input[0],
        "input_shift": of_input[1],
        "log_multiplier": of_log[0],
        "log_shift": of_log[1],
    }
