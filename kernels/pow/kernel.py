# SPDX-License-Identifier: Apache-2.0
"""aten::pow of float32 and a number on kernels/pow/pow.h."""

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel

# Without powf, which is large.
_FUNCTIONS = {
    **dict.fromkeys((-3.0, -2.0, -1.0, 1.0, 2.0, 3.0), "pl_pow_whole_f32"),
    **dict.fromkeys((-0.5, 0.5), "pl_pow_half_f32"),
}


@kernel("aten::pow.Tensor_Scalar_out")
def pow_(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("self", "float32"), call.output("float32")
    call.require(
        source.size == output.size, f"{source.size} inputs do not give {output.size} outputs"
    )
    exponent = call.real("exponent")
    return KernelCall(
        function=_FUNCTIONS.get(exponent, "pl_pow_f32"),
        header="kernels/pow/pow.h",
        params={"exponent": exponent},
        dims={"size": output.size},
        data={"input": source, "output": output},
        in_place=((source.name, output.name),),
    )
