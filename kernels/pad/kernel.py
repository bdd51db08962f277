# SPDX-License-Identifier: Apache-2.0
"""pl::pad on kernels/pad/pad.h."""

from kernels.common.kernel import INT8_MAX, INT8_MIN, Isa, KernelCall, OpCall, kernel
from kernels.common.shapes import contiguous_strides
from kernels.common.strided import strided_copy_dims


@kernel("pl::pad")
def pad(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input", "int8"), call.output("int8")
    padding = call.integers("padding", 2 * len(source.shape), minimum=0)
    before, after = padding[0::2], padding[1::2]
    shape = tuple(b + size + a for b, size, a in zip(before, source.shape, after, strict=True))
    call.require(
        output.shape == shape, f"output has shape {list(output.shape)}, it should be {list(shape)}"
    )
    strides = contiguous_strides(shape)
    return KernelCall(
        function="pl_pad_s8",
        header="kernels/pad/pad.h",
        params={"value": call.integer("value", INT8_MIN, INT8_MAX)},
        dims={
            "output_size": output.size,
            "interior": strided_copy_dims(
                source.shape,
                contiguous_strides(source.shape),
                strides,
                item_size=1,
                output_offset=sum(b * s for b, s in zip(before, strides, strict=True)),
            ),
        },
        data={"input": source, "output": output},
    )
