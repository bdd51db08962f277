# SPDX-License-Identifier: Apache-2.0
"""pl::adaptive_avg_pool2d on kernels/adaptive_avg_pool2d/adaptive_avg_pool2d.h."""

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.overlap import overlap
from kernels.common.window import adaptive_dims, adaptive_starts


@kernel("pl::adaptive_avg_pool2d")
def adaptive_avg_pool2d(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input"), call.output()
    return KernelCall(
        function="pl_adaptive_avg_pool2d_s8",
        header="kernels/adaptive_avg_pool2d/adaptive_avg_pool2d.h",
        params={},
        dims=adaptive_dims(call),
        data={"input": source, "output": output},
        overlap=overlap(source, output, adaptive_starts(call), at_a_time=1),
    )
