# SPDX-License-Identifier: Apache-2.0
"""pl::adaptive_avg_pool2d on kernels/adaptive_avg_pool2d/adaptive_avg_pool2d.h."""

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.overlap import overlap
from kernels.common.quantization import SUFFIXES, activation_dtype
from kernels.common.window import adaptive_dims, adaptive_starts


@kernel("pl::adaptive_avg_pool2d")
def adaptive_avg_pool2d(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input"), call.output()
    dtype = activation_dtype(call, "input")
    dims = adaptive_dims(call, dtype)
    name = "adaptive_avg_pool2d" if dtype == "int8" else "adaptive_avg_pool2d_s16"
    over = overlap(source, output, adaptive_starts(call), at_a_time=1) if dtype == "int8" else ()
    _, h, w, _ = source.shape
    call.require(h * w < 2**16, f"a window of {h}x{w} int16 values may overflow int32")
    return KernelCall(
        function=f"pl_adaptive_avg_pool2d_{SUFFIXES[dtype]}",
        header=f"kernels/adaptive_avg_pool2d/{name}.h",
        params={},
        dims=dims,
        data={"input": source, "output": output},
        overlap=over,
    )
