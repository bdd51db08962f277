# SPDX-License-Identifier: Apache-2.0
"""aten::native_layer_norm of float32 on kernels/layer_norm_f32/layer_norm_f32.h."""

import math

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel


@kernel("aten::native_layer_norm.out")
def layer_norm(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source = call.tensor("input", "float32")
    normalized = call.integers("normalized_shape", minimum=1)
    call.require(
        len(normalized) >= 1 and source.shape[-len(normalized) :] == normalized,
        f"input {list(source.shape)} does not end in normalized_shape {list(normalized)}",
    )
    size = math.prod(normalized)
    rows = source.size // size
    output, mean, rstd = (call.output("float32", index=i) for i in range(3))
    call.require(
        output.shape == source.shape and mean.size == rstd.size == rows,
        f"outputs of shapes {[list(o.shape) for o in call.outputs]} for {rows} rows of {size}",
    )
    return KernelCall(
        function="pl_layer_norm_f32",
        header="kernels/layer_norm_f32/layer_norm_f32.h",
        params={"epsilon": call.real("eps")},
        dims={"rows": rows, "size": size},
        data={
            "input": source,
            "weight": call.optional_tensor("weight", "float32", size),
            "bias": call.optional_tensor("bias", "float32", size),
            "output": output,
            "mean": mean,
            "rstd": rstd,
        },
    )
