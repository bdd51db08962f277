# SPDX-License-Identifier: Apache-2.0
"""pl::quantize on kernels/quantize/quantize.h, pl::requantize on requantize.h."""

import numpy as np

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.overlap import elementwise_overlap
from kernels.common.quantization import SUFFIXES, activation_dtype, factor, zero_point
from kernels.common.rows import elements_by_rows


@kernel("pl::quantize")
def quantize(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    bits = call.integer("bits")
    call.require(bits in (8, 16), f"bits is {bits}, not 8 or 16")
    dtype = f"int{bits}"
    source, output = call.tensor("input", "float32"), call.output(dtype)
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
        function=f"pl_quantize_f32_{SUFFIXES[dtype]}",
        header=f"kernels/quantize/quantize{'_s16' if bits == 16 else ''}.h",
        params={
            "inverse_scale": float(inverse),
            "zero_point": zero_point(call, "zero_point", dtype),
        },
        dims={"size": output.size},
        data={"input": source, "output": output},
        overlap=elementwise_overlap(source, output),
        rows=elements_by_rows(source, output),
    )


@kernel("pl::requantize")
def requantize(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    bits = call.integer("bits")
    before, after = activation_dtype(call, "input"), f"int{bits}"
    call.require((before, after) in _REQUANTIZE, f"{before} to {after}: one must be int16")
    source, output = call.tensor("input"), call.output(after)
    call.require(
        source.size == output.size, f"{source.size} inputs do not give {output.size} outputs"
    )
    multiplier, shift = factor(call, "multiplier", "shift")
    return KernelCall(
        function=_REQUANTIZE[before, after],
        header="kernels/quantize/requantize.h",
        params={
            "input_zero_point": zero_point(call, "input_zero_point", before),
            "multiplier": multiplier,
            "shift": shift,
            "output_zero_point": zero_point(call, "output_zero_point", after),
        },
        dims={"size": output.size},
        data={"input": source, "output": output},
        in_place=((source.name, output.name),) if before == after else (),
        overlap=() if before == after else elementwise_overlap(source, output),
        rows=elements_by_rows(source, output),
    )


_REQUANTIZE = {
    ("int16", "int16"): "pl_requantize_s16",
    ("int16", "int8"): "pl_requantize_s16_s8",
    ("int8", "int16"): "pl_requantize_s8_s16",
}
