# SPDX-License-Identifier: Apache-2.0
"""aten::upsample_nearest2d of float32 on kernels/upsample_nearest2d/upsample_nearest2d.h."""

import math

import numpy as np

from kernels.common.kernel import AnyArray, Constant, Isa, KernelCall, OpCall, kernel


@kernel("aten::upsample_nearest2d.out")
def upsample_nearest2d(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source = call.tensor("self", "float32", rank=4)
    size = call.integers("output_size", 2, minimum=1)
    output = call.output("float32", rank=4)
    n, c, h, w = source.shape
    call.require(
        output.shape == (n, c, *size),
        f"output has shape {list(output.shape)}, it should be {[n, c, *size]}",
    )
    return KernelCall(
        function="pl_upsample_nearest2d_f32",
        header="kernels/upsample_nearest2d/upsample_nearest2d.h",
        params={},
        dims={
            "images": n * c,
            "input_h": h,
            "input_w": w,
            "output_h": size[0],
            "output_w": size[1],
        },
        data={
            "input": source,
            "rows": Constant(_sources(call, "scales_h", h, size[0])),
            "columns": Constant(_sources(call, "scales_w", w, size[1])),
            "output": output,
        },
    )


def _sources(call: OpCall, scale_name: str, size: int, output_size: int) -> AnyArray:
    """The input index of each output index, in float32 as torch computes it."""
    given = None if call.args.get(scale_name) is None else call.real(scale_name)
    if given is not None and given > 0:
        step = np.float32(1.0 / given)
    else:
        step = np.float32(size) / np.float32(output_size)
    indices = [min(math.floor(np.float32(i) * step), size - 1) for i in range(output_size)]
    return np.array(indices, np.int32)
