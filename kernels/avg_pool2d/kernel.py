# SPDX-License-Identifier: Apache-2.0
"""pl::avg_pool2d on kernels/avg_pool2d/avg_pool2d.h."""

from kernels.common.kernel import INT32_MAX, Isa, KernelCall, OpCall, kernel
from kernels.common.overlap import overlap
from kernels.common.quantization import LIMITS, SUFFIXES, activation_dtype, zero_point
from kernels.common.window import Windows


@kernel("pl::avg_pool2d")
def avg_pool2d(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input"), call.output()
    dtype = activation_dtype(call, "input")
    windows = Windows.of_pooling(call, dilation=False, dtype=dtype)
    name = "avg_pool2d" if dtype == "int8" else "avg_pool2d_s16"
    override = max(0, call.integer("divisor_override"))
    largest = -LIMITS[dtype][0] * (2 * windows.kernel[0] * windows.kernel[1] + 2 * override)
    call.require(largest <= INT32_MAX, f"the sum of a window may reach {largest}: int32 overflows")
    return KernelCall(
        function=f"pl_avg_pool2d_{SUFFIXES[dtype]}",
        header=f"kernels/avg_pool2d/{name}.h",
        params={
            **windows.params(dilation=False),
            "pad_bottom": windows.padding[1],
            "pad_right": windows.padding[3],
            "count_include_pad": int(call.flag("count_include_pad")),
            "divisor_override": override,
            "zero_point": zero_point(call, "zero_point", dtype),
        },
        dims=windows.dims(),
        data={"input": source, "output": output},
        overlap=overlap(source, output, source.item_bytes * windows.starts, at_a_time=1),
        rows=windows.by_rows(),
    )
