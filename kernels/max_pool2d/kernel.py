# SPDX-License-Identifier: Apache-2.0
"""pl::max_pool2d on kernels/max_pool2d/max_pool2d.h."""

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.overlap import overlap
from kernels.common.quantization import SUFFIXES, activation_dtype
from kernels.common.window import Windows


@kernel("pl::max_pool2d")
def max_pool2d(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input"), call.output()
    dtype = activation_dtype(call, "input")
    windows = Windows.of_pooling(call, dilation=True, dtype=dtype)
    name = "max_pool2d" if dtype == "int8" else "max_pool2d_s16"
    return KernelCall(
        function=f"pl_max_pool2d_{SUFFIXES[dtype]}",
        header=f"kernels/max_pool2d/{name}.h",
        params=windows.params(dilation=True),
        dims=windows.dims(),
        data={"input": source, "output": output},
        overlap=overlap(source, output, source.item_bytes * windows.starts, at_a_time=1),
        rows=windows.by_rows(),
    )
