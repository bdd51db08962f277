# SPDX-License-Identifier: Apache-2.0
"""pl::lut on kernels/lut/lut.h."""

from kernels.common.kernel import Constant, Isa, KernelCall, OpCall, kernel


@kernel("pl::lut")
def lut(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    table = call.constant("table", "int8", rank=1)
    call.require(table.size == 256, f"table has {table.size} entries, not 256")
    source, output = call.tensor("input", "int8"), call.output("int8")
    call.require(
        source.size == output.size, f"{source.size} inputs do not give {output.size} outputs"
    )
    return KernelCall(
        function="pl_lut_s8",
        header="kernels/lut/lut.h",
        params={},
        dims={"size": output.size},
        data={"input": source, "table": Constant(table), "output": output},
        in_place=((source.name, output.name),),
    )
