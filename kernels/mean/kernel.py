# SPDX-License-Identifier: Apache-2.0
"""pl::mean on kernels/mean/mean.h."""

from kernels.common.kernel import INT32_MAX, Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import factor, zero_point
from kernels.common.shapes import reduction_dims


@kernel("pl::mean")
def mean(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input", "int8"), call.output("int8")
    count = source.size // output.size
    call.require(
        count * 256 <= INT32_MAX, f"a sum of {count} int8 values and its offset overflow int32"
    )
    multiplier, shift = factor(call, "multiplier", "shift", normalised=False)
    return KernelCall(
        function="pl_mean_s8",
        header="kernels/mean/mean.h",
        params={
            "offset": -zero_point(call, "input_zero_point") * count,
            "multiplier": multiplier,
            "shift": shift,
            "output_zero_point": zero_point(call, "output_zero_point"),
        },
        dims=reduction_dims(call, source, call.integers("dim"), call.flag("keepdim")),
        data={"input": source, "output": output},
    )
