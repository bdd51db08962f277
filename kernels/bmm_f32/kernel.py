# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for aten::bmm of float32, declared in kernels/bmm_f32/bmm_f32.h."""

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel


@kernel("aten::bmm.out")
def bmm(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    a, b = call.tensor("self", "float32", rank=3), call.tensor("mat2", "float32", rank=3)
    output = call.output("float32", rank=3)
    batches, rows, depth = a.shape
    columns = b.shape[2]
    call.require(
        b.shape[:2] == (batches, depth) and output.shape == (batches, rows, columns),
        f"{list(a.shape)} times {list(b.shape)} does not give {list(output.shape)}",
    )
    return KernelCall(
        function="pl_bmm_f32",
        header="kernels/bmm_f32/bmm_f32.h",
        params={},
        dims={"batches": batches, "rows": rows, "depth": depth, "columns": columns},
        data={"a": a, "b": b, "output": output},
    )
