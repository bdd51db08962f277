# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::integer_add and similar ops, declared in kernels/integer/integer.h."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from kernels.common.kernel import INT32_MAX, Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import factor, zero_point
from kernels.common.shapes import BROADCAST_DIMS, Broadcast

_HEADER = "kernels/integer/integer.h"
_RESULTS = {
    **dict.fromkeys(("add", "sub", "mul", "minimum", "maximum", "divide", "modulo"), "int32"),
    **dict.fromkeys(("and", "place"), "int32"),
    **dict.fromkeys(("less", "equal"), "bool"),
}


def _binary(call: OpCall, isa: Isa, name: str) -> KernelCall:
    del isa
    output = call.output(_RESULTS[name])
    a, b = call.tensor("a", "int32"), call.tensor("b", "int32")
    broadcast = Broadcast.of(call, a, b, may_swap=False)
    return KernelCall(
        function=f"pl_integer_{name}",
        header=_HEADER,
        params={},
        dims=broadcast.dims(),
        data={"a": a, "b": b, "output": output},
        in_place=broadcast.in_place(output) if output.dtype == "int32" else (),
    )


for _name in set(_RESULTS) - {"place"}:
    kernel(f"pl::integer_{_name}")(partial(_binary, name=_name))


@kernel("pl::integer_place")
def integer_place(call: OpCall, isa: Isa) -> KernelCall:
    rows, columns = call.integer("rows", minimum=1), call.integer("columns", minimum=1)
    call.require(rows * columns <= INT32_MAX, f"a table of {rows} x {columns} has too many places")
    params = {
        "output_zero_point": 0,
        "multiplier": 0,
        "shift": 0,
        "rows": rows,
        "columns": columns,
    }
    return replace(_binary(call, isa, "place"), params=params)


@kernel("pl::integer_quantize")
def integer_quantize(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    multiplier, shift = factor(call, "multiplier", "shift")
    bits = call.integer("bits")
    call.require(bits in (8, 16), f"bits is {bits}, not 8 or 16")
    dtype = f"int{bits}"
    params = {
        "output_zero_point": zero_point(call, "output_zero_point", dtype),
        "multiplier": multiplier,
        "shift": shift,
        "rows": 0,
        "columns": 0,
    }
    function = "pl_integer_quantize" if bits == 8 else "pl_integer_quantize_s16"
    return _conversion(call, function, dtype, params)


@kernel("pl::integer_to_float")
def integer_to_float(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _conversion(call, "pl_integer_to_float", "float32", {})


def _conversion(call: OpCall, function: str, dtype: str, params: Mapping[str, int]) -> KernelCall:
    source, output = call.tensor("input", "int32"), call.output(dtype)
    call.require(
        source.size == output.size, f"{source.size} inputs do not give {output.size} outputs"
    )
    ones = (1,) * (BROADCAST_DIMS - 1)
    return KernelCall(
        function=function,
        header=_HEADER,
        params=params,
        dims={
            "size": (*ones, output.size),
            "a_stride": (0,) * (BROADCAST_DIMS - 1) + (1,),
            "b_stride": (0,) * BROADCAST_DIMS,
        },
        data={"a": source, "b": None, "output": output},
    )
