# SPDX-License-Identifier: Apache-2.0
"""pl::scatter, scatter_sum and scatter_sum_float on kernels/scatter/scatter.h."""

from kernels.common.kernel import INT32_MAX, Isa, KernelCall, OpCall, Value, kernel
from kernels.common.quantization import LIMITS, SUFFIXES, activation_dtype, factor, zero_point
from kernels.common.tensor import DTYPES
from kernels.common.wide import wide_factor

_HEADER = "kernels/scatter/scatter.h"


@kernel("pl::scatter")
def scatter(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    base = call.tensor("base", rank=2)
    indices, values, output = _operands(call, base.dtype)
    call.require(
        base.shape == output.shape,
        f"base has shape {list(base.shape)}, it should be {list(output.shape)}",
    )
    rows, width = base.shape
    in_place = ((base.name, output.name),) if base.constant is None else ()
    return KernelCall(
        function="pl_scatter_x8",
        header=_HEADER,
        params={},
        dims={
            "count": indices.size,
            "rows": rows,
            "width": width * DTYPES[base.dtype].bytes,
        },
        data={"base": base, "indices": indices, "values": values, "output": output},
        in_place=in_place,
    )


@kernel("pl::scatter_sum")
def scatter_sum(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    dtype = activation_dtype(call, "values")
    indices, values, output = _operands(call, dtype)
    rows, width = _table(call, output)
    span = -2 * LIMITS[dtype][0]
    call.require(
        indices.size * span <= INT32_MAX,
        f"a sum of {indices.size} {dtype} values may overflow int32",
    )
    multiplier, shift = (
        wide_factor(call) if dtype == "int16" else factor(call, "multiplier", "shift")
    )
    return KernelCall(
        function=f"pl_scatter_sum_{SUFFIXES[dtype]}",
        header=_HEADER,
        params={
            "input_zero_point": zero_point(call, "input_zero_point", dtype),
            "output_zero_point": zero_point(call, "output_zero_point", dtype),
            "multiplier": multiplier,
            "shift": shift,
        },
        dims={"count": indices.size, "rows": rows, "width": width},
        data={"base": None, "indices": indices, "values": values, "output": output},
        scratch=4 * output.size,
    )


@kernel("pl::scatter_sum_float")
def scatter_sum_float(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    indices, values, output = _operands(call, "float32")
    rows, width = _table(call, output)
    return KernelCall(
        function="pl_scatter_sum_f32",
        header=_HEADER,
        params={},
        dims={"count": indices.size, "rows": rows, "width": width},
        data={"base": None, "indices": indices, "values": values, "output": output},
    )


def _table(call: OpCall, output: Value) -> tuple[int, int]:
    """Return rows and width of the result of a sum."""
    rows, width = output.shape
    call.require(
        call.integer("rows") == rows, f"rows is {call.integer('rows')}, the output has {rows}"
    )
    return rows, width


def _operands(call: OpCall, dtype: str) -> tuple[Value, Value, Value]:
    """Return indices, values and output, after a check of their shapes."""
    indices, output = call.tensor("indices", "int32", rank=1), call.output(dtype)
    values = call.tensor("values", dtype, rank=2)
    call.require(len(output.shape) == 2, f"output has shape {list(output.shape)}, not 2 dimensions")
    expected = (indices.size, output.shape[1])
    call.require(
        values.shape == expected,
        f"values has shape {list(values.shape)}, it should be {list(expected)}",
    )
    return indices, values, output
