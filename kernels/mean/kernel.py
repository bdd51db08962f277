# SPDX-License-Identifier: Apache-2.0
"""pl::mean on kernels/mean/mean.h."""

from kernels.common.kernel import INT32_MAX, Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import SUFFIXES, activation_dtype, factor, zero_point
from kernels.common.shapes import reduction_dims

_REACH = {"int8": 256, "int16": 2**15}
"""Of a difference from the zero point."""


@kernel("pl::mean")
def mean(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    dtype = activation_dtype(call, "input")
    source, output = call.tensor("input"), call.output(dtype)
    count = source.size // output.size
    call.require(
        count * _REACH[dtype] <= INT32_MAX,
        f"a sum of {count} {dtype} values and its offset overflow int32",
    )
    multiplier, shift = factor(call, "multiplier", "shift", normalised=False)
    return KernelCall(
        function=f"pl_mean_{SUFFIXES[dtype]}",
        header="kernels/mean/mean.h" if dtype == "int8" else "kernels/mean/mean_s16.h",
        params={
            "offset": -zero_point(call, "input_zero_point", dtype) * count,
            "multiplier": multiplier,
            "shift": shift,
            "output_zero_point": zero_point(call, "output_zero_point", dtype),
        },
        dims=reduction_dims(call, source, call.integers("dim"), call.flag("keepdim")),
        data={"input": source, "output": output},
    )
