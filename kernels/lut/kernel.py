# SPDX-License-Identifier: Apache-2.0
"""pl::lut on kernels/lut/lut.h."""

import numpy as np

from kernels.common.kernel import Constant, Isa, KernelCall, OpCall, kernel


@kernel("pl::lut")
def lut(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    # A table may be of bools, which are bytes like the others.
    dtype = "bool" if call.tensor("table").dtype == "bool" else "int8"
    table = call.constant("table", dtype, rank=1)
    call.require(table.size == 256, f"table has {table.size} entries, not 256")
    source, output = call.tensor("input", "int8"), call.output(dtype)
    call.require(
        source.size == output.size, f"{source.size} inputs do not give {output.size} outputs"
    )
    return KernelCall(
        function="pl_lut_s8",
        header="kernels/lut/lut.h",
        params={},
        dims={"size": output.size},
        data={"input": source, "table": Constant(table.view(np.int8)), "output": output},
        in_place=((source.name, output.name),),
    )
