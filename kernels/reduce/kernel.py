# SPDX-License-Identifier: Apache-2.0
"""pl::amax, amin, integer_sum, second_moment, logsumexp and cumsum on kernels/reduce/reduce.h."""

from collections.abc import Mapping

from kernels.common.exponentials import exp_table, wide_log_table
from kernels.common.kernel import (
    INT8_MAX,
    INT8_MIN,
    INT32_MAX,
    Constant,
    Field,
    Isa,
    KernelCall,
    OpCall,
    kernel,
)
from kernels.common.quantization import (
    LIMITS,
    SUFFIXES,
    activation_dtype,
    factor,
    requantize,
    zero_point,
)
from kernels.common.shapes import axis_size, reduction_dims, reduction_loops
from kernels.common.wide import wide_factor

_SUMMED = {"int32": "s32", "int16": "s16", "bool": "bool"}
_DIFFERENCE_SHIFT, _LOG2_BITS = 20, 16  # for logsumexp's terms


@kernel("pl::amax")
def amax(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _extreme(call, "pl_amax")


@kernel("pl::amin")
def amin(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _extreme(call, "pl_amin")


def _extreme(call: OpCall, function: str) -> KernelCall:
    dtype = call.output().dtype
    call.require(dtype in (*SUFFIXES, "bool"), f"output is {dtype}, not int8, int16 or bool")
    return _reduce(call, f"{function}_{SUFFIXES.get(dtype, 's8')}", {}, dtype=dtype)


@kernel("pl::integer_sum")
def integer_sum(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input"), call.output("int32")
    suffix = _SUMMED.get(source.dtype, "")
    call.require(suffix != "", f"input is {source.dtype}, not int32, int16 or bool")
    dim = call.integers("dim")
    call.require(len(dim) > 0, "dim names no dimension")
    return KernelCall(
        function=f"pl_sum_{suffix}",
        header="kernels/reduce/reduce.h",
        params={},
        dims=reduction_dims(call, source, dim, call.flag("keepdim")),
        data={"input": source, "exp_table": None, "output": output},
    )


@kernel("pl::second_moment")
def second_moment(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    dtype = activation_dtype(call, "input")
    count, centered, root = _count(call, dtype), call.flag("centered"), call.flag("root")
    # Same as `fraction_bits` of kernels/reduce/op_second_moment.py: the sum is at most 2^bits.
    log2 = (count - 1).bit_length()
    if dtype == "int16":
        bits, fit = 30 + (2 * log2 if centered else log2), 46
    else:
        bits, fit = 14 + 2 * log2 if centered else 16 + log2, 31
    params = {
        **_requantization(call, dtype),
        "count": count if centered else 0,
        "root": int(root),
        "fraction_bits": (62 - bits) // 2 * 2 if root else fit - bits,
    }
    return _reduce(call, f"pl_second_moment_{SUFFIXES[dtype]}", params, dtype=dtype)


@kernel("pl::logsumexp")
def logsumexp(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    if activation_dtype(call, "input") == "int16":
        return _wide_logsumexp(call)
    table = exp_table(call, _count(call, "int8"))
    fraction_bits = call.integer("fraction_bits", 0, 31)
    call.require(
        int(table.array[0]) == 1 << fraction_bits,
        f"exp_table[0] is {int(table.array[0])}, not 2^fraction_bits with {fraction_bits} bits",
    )
    input_factor = factor(call, "input_multiplier", "input_shift")
    log_factor = factor(call, "log_multiplier", "log_shift")
    source_zero_point = zero_point(call, "input_zero_point")
    largest = max(INT8_MAX - source_zero_point, source_zero_point - INT8_MIN)
    terms = ((largest << _DIFFERENCE_SHIFT, input_factor), (32 << _LOG2_BITS, log_factor))
    reach = max(
        sum(requantize(term, *scale) for term, scale in terms),
        *(term << max(shift, 0) for term, (_, shift) in terms),
    )
    call.require(reach < INT32_MAX, f"the terms may add up to {reach}: int32 overflows")
    params = {
        "input_zero_point": source_zero_point,
        "output_zero_point": zero_point(call, "output_zero_point"),
        "multiplier": input_factor[0],
        "shift": input_factor[1],
        "fraction_bits": fraction_bits,
        "log_multiplier": log_factor[0],
        "log_shift": log_factor[1],
    }
    return _reduce(call, "pl_logsumexp_s8", params, table)


@kernel("pl::cumsum")
def cumsum(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    dtype = activation_dtype(call, "input")
    source, output = call.tensor("input", dtype), call.output(dtype)
    count = axis_size(call, source.shape)
    left_shift = call.integer("left_shift", 0, 0 if dtype == "int16" else 22)
    call.require(
        dtype == "int16" or count << 8 + left_shift <= INT32_MAX + 1,
        f"a sum of {count} int8 values with {left_shift} guard bits may overflow int32",
    )
    call.require(
        source.shape == output.shape,
        f"output has shape {list(output.shape)}, it should be {list(source.shape)}",
    )
    axis = call.integer("dim")
    return KernelCall(
        function=f"pl_cumsum_{SUFFIXES[dtype]}",
        header="kernels/reduce/reduce.h",
        params={**_requantization(call, dtype), "fraction_bits": left_shift},
        dims=reduction_loops(source.shape, {axis}),
        data={"input": source, "output": output},
        in_place=((source.name, output.name),),
    )


def _wide_logsumexp(call: OpCall) -> KernelCall:
    table = wide_log_table(call, call.tensor("input").size // call.output().size)
    of_input, of_log = wide_factor(call, "input_"), wide_factor(call, "log_")
    params = {
        "input_zero_point": zero_point(call, "input_zero_point", "int16"),
        "output_zero_point": zero_point(call, "output_zero_point", "int16"),
        "multiplier": of_input[0],
        "shift": of_input[1],
        "log_multiplier": of_log[0],
        "log_shift": of_log[1],
    }
    return _reduce(call, "pl_logsumexp_s16", params, table, dtype="int16")


def _count(call: OpCall, dtype: str) -> int:
    """Return the number of values per result."""
    count, span = call.tensor("input").size // call.output().size, -2 * LIMITS[dtype][0]
    call.require(count * span <= INT32_MAX, f"a sum of {count} {dtype} values may overflow int32")
    return count


def _requantization(call: OpCall, dtype: str) -> dict[str, Field]:
    multiplier, shift = (
        wide_factor(call) if dtype == "int16" else factor(call, "multiplier", "shift")
    )
    return {
        "input_zero_point": zero_point(call, "input_zero_point", dtype),
        "output_zero_point": zero_point(call, "output_zero_point", dtype),
        "multiplier": multiplier,
        "shift": shift,
    }


def _reduce(
    call: OpCall,
    function: str,
    params: Mapping[str, Field],
    table: Constant | None = None,
    dtype: str = "int8",
) -> KernelCall:
    source = call.tensor("input", dtype)
    return KernelCall(
        function=function,
        header="kernels/reduce/reduce.h",
        params=params,
        dims=reduction_dims(call, source, call.integers("dim"), call.flag("keepdim")),
        data={"input": source, "exp_table": table, "output": call.output(dtype)},
    )
