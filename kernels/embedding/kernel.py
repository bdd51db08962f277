# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::embedding, declared in kernels/embedding/embedding.h."""

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel


@kernel("pl::embedding")
def embedding(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    table, indices = call.tensor("table", rank=2), call.tensor("indices", "int32")
    output = call.output(table.dtype)
    rows, width = table.shape
    call.require(
        output.shape == (*indices.shape, width),
        f"output has shape {list(output.shape)}, it should be {[*indices.shape, width]}",
    )
    return KernelCall(
        function="pl_embedding_x8",
        header="kernels/embedding/embedding.h",
        params={},
        dims={"count": indices.size, "rows": rows, "width": table.bytes // rows},
        data={"table": table, "indices": indices, "output": output},
    )
