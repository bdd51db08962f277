# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::dequantize, declared in kernels/dequantize/dequantize.h."""

import numpy as np

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.overlap import elementwise_overlap
from kernels.common.quantization import SUFFIXES, activation_dtype, zero_point
from kernels.common.rows import elements_by_rows


@kernel("pl::dequantize")
def dequantize(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    dtype = activation_dtype(call, "input")
    source, output = call.tensor("input"), call.output("float32")
    call.require(
        source.size == output.size, f"{source.size} inputs do not give {output.size} outputs"
    )
    scale = np.float32(call.real("scale"))
    call.require(bool(np.isfinite(scale) and scale > 0), f"scale is {scale}, not a positive number")
    return KernelCall(
        function=f"pl_dequantize_{SUFFIXES[dtype]}_f32",
        header=f"kernels/dequantize/dequantize{'_s16' if dtype == 'int16' else ''}.h",
        params={"scale": float(scale), "zero_point": zero_point(call, "zero_point", dtype)},
        dims={"size": output.size},
        data={"input": source, "output": output},
        overlap=elementwise_overlap(source, output),
        rows=elements_by_rows(source, output),
    )
