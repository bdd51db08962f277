# SPDX-License-Identifier: Apache-2.0
"""pl::quantize on kernels/quantize/quantize.h."""

import numpy as np

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.overlap import elementwise_overlap
from kernels.common.quantization import zero_point


@kernel("pl::quantize")
def quantize(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input", "float32"), call.output("int8")
    call.require(
        source.size == output.size, f"{source.size} inputs do not give {output.size} outputs"
    )
    with np.errstate(divide="ignore", over="ignore"):
        inverse = np.float32(1.0) / np.float32(call.real("scale"))
    call.require(
        bool(np.isfinite(inverse) and inverse > 0),
        f"scale {call.real('scale')} is not a positive float32 with a finite reciprocal",
    )
    return KernelCall(
        function="pl_quantize_f32_s8",
        header="kernels/quantize/quantize.h",
        params={"inverse_scale": float(inverse), "zero_point": zero_point(call, "zero_point")},
        dims={"size": output.size},
        data={"input": source, "output": output},
        overlap=elementwise_overlap(source, output),
    )
