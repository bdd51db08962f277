# SPDX-License-Identifier: Apache-2.0
"""pl::max_pool2d on kernels/max_pool2d/max_pool2d.h."""

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.overlap import overlap
from kernels.common.window import Windows


@kernel("pl::max_pool2d")
def max_pool2d(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input"), call.output()
    windows = Windows.of_pooling(call, dilation=True)
    return KernelCall(
        function="pl_max_pool2d_s8",
        header="kernels/max_pool2d/max_pool2d.h",
        params=windows.params(dilation=True),
        dims=windows.dims(),
        data={"input": source, "output": output},
        overlap=overlap(source, output, windows.starts, at_a_time=1),
    )
