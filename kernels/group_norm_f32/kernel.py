# SPDX-License-Identifier: Apache-2.0
"""aten::native_group_norm of float32 on kernels/group_norm_f32/group_norm_f32.h."""

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel


@kernel("aten::native_group_norm.out")
def group_norm(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source = call.tensor("input", "float32")
    batches, channels = call.integer("N", minimum=1), call.integer("C", minimum=1)
    pixels, groups = call.integer("HxW", minimum=1), call.integer("group", minimum=1)
    call.require(
        source.size == batches * channels * pixels and channels % groups == 0,
        f"input {list(source.shape)} is not {batches} images of {channels} channels in {groups} "
        f"groups and {pixels} pixels",
    )
    output, mean, rstd = (call.output("float32", index=i) for i in range(3))
    call.require(
        output.size == source.size and mean.size == rstd.size == batches * groups,
        f"outputs of shapes {[list(o.shape) for o in call.outputs]} for {groups} groups",
    )
    return KernelCall(
        function="pl_group_norm_f32",
        header="kernels/group_norm_f32/group_norm_f32.h",
        params={"epsilon": call.real("eps")},
        dims={
            "batches": batches,
            "groups": groups,
            "group_channels": channels // groups,
            "pixels": pixels,
        },
        data={
            "input": source,
            "weight": call.optional_tensor("weight", "float32", channels),
            "bias": call.optional_tensor("bias", "float32", channels),
            "output": output,
            "mean": mean,
            "rstd": rstd,
        },
    )
