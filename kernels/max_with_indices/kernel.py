# SPDX-License-Identifier: Apache-2.0
"""pl::max_with_indices on kernels/max_with_indices/max_with_indices.h."""

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.shapes import axis_dims


@kernel("pl::max_with_indices")
def max_with_indices(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source = call.tensor("input", "int8")
    values, indices = call.output("int8", index=0), call.output("int32", index=1)
    dims = axis_dims(call, source.shape)
    axis = call.integer("dim")
    kept = (1,) if call.flag("keepdim") else ()
    shape = (*source.shape[:axis], *kept, *source.shape[axis + 1 :])
    call.require(
        values.shape == indices.shape == shape,
        f"outputs of shapes {[list(o.shape) for o in call.outputs]}, they should be {list(shape)}",
    )
    return KernelCall(
        function="pl_max_with_indices_s8",
        header="kernels/max_with_indices/max_with_indices.h",
        params={},
        dims=dims,
        data={"input": source, "values": values, "indices": indices},
    )
