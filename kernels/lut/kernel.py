# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::lut and pl::integer_lut, declared in kernels/lut/lut.h."""

from dataclasses import replace

import numpy as np

from kernels.common.kernel import AnyArray, Constant, Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import activation_dtype
from kernels.common.rows import elements_by_rows


@kernel("pl::lut")
def lut(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    if activation_dtype(call, "input") == "int16":
        return _interpolated(call)
    # A table may hold bools, stored as bytes like the other tables.
    dtype = "bool" if call.tensor("table").dtype == "bool" else "int8"
    table = call.constant("table", dtype, rank=1)
    call.require(table.size == 256, f"table has {table.size} entries, not 256")
    return _call(call, "pl_lut_s8", "kernels/lut/lut.h", table.view(np.int8), dtype)


@kernel("pl::integer_lut")
def integer_lut(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    call.tensor("input", "int8")
    table = call.constant("table", "int32", rank=1)
    call.require(table.size == 256, f"table has {table.size} entries, not 256")
    lookup = _call(call, "pl_lut_s32", "kernels/lut/lut_s32.h", table, "int32")
    return replace(lookup, in_place=())


def _interpolated(call: OpCall) -> KernelCall:
    table = call.constant("table", "int16", rank=1)
    if table.size == 513 + 1024:
        function, header = "pl_lut_near_zero_s16", "kernels/lut/lut_near_zero_s16.h"
        return _call(call, function, header, table, "int16")
    call.require(table.size == 513, f"table has {table.size} entries, not 513 or 1537")
    return _call(call, "pl_lut_s16", "kernels/lut/lut_s16.h", table, "int16")


def _call(call: OpCall, function: str, header: str, table: AnyArray, dtype: str) -> KernelCall:
    source, output = call.tensor("input"), call.output(dtype)
    call.require(
        source.size == output.size, f"{source.size} inputs do not give {output.size} outputs"
    )
    return KernelCall(
        function=function,
        header=header,
        params={},
        dims={"size": output.size},
        data={"input": source, "table": Constant(table), "output": output},
        in_place=((source.name, output.name),),
        rows=elements_by_rows(source, output),
    )
