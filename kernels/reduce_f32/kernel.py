# SPDX-License-Identifier: Apache-2.0
"""aten::sum, amax and amin of float32 on kernels/reduce_f32/reduce_f32.h."""

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.shapes import reduction_dims


@kernel("aten::sum.IntList_out")
def sum_(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _reduce(call, "pl_sum_f32")


@kernel("aten::amax.out")
def amax(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _reduce(call, "pl_amax_f32")


@kernel("aten::amin.out")
def amin(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _reduce(call, "pl_amin_f32")


def _reduce(call: OpCall, function: str) -> KernelCall:
    source, output = call.tensor("self", "float32"), call.output("float32")
    dim = () if call.args.get("dim") is None else call.integers("dim")
    return KernelCall(
        function=function,
        header="kernels/reduce_f32/reduce_f32.h",
        params={},
        dims=reduction_dims(call, source, dim, call.flag("keepdim")),
        data={"input": source, "output": output},
    )
