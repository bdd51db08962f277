# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::mean_pool2d, declared in kernels/mean_pool2d/mean_pool2d.h."""

import math

from kernels.common.kernel import INT32_MAX, Isa, KernelCall, OpCall, kernel
from kernels.common.overlap import overlap
from kernels.common.quantization import LIMITS, SUFFIXES, activation_dtype, factor, zero_point
from kernels.common.window import Windows, pair

_LARGEST_SUM = {"int8": 2**24 - 1, "int16": INT32_MAX}
"""Bound below 2^30 with guard bits; for at most 2^16 - 1 values."""


@kernel("pl::mean_pool2d")
def mean_pool2d(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, output = call.tensor("input"), call.output()
    dtype = activation_dtype(call, "input")
    parts = pair(call.integers("parts", 2, minimum=1))
    windows = Windows.of_pooling(call, dilation=False, dtype=dtype, parts=parts)
    for d in (0, 1):
        last = windows.output[d] * windows.stride[d] + windows.kernel[d] + parts[d]
        call.require(last <= INT32_MAX, f"the last window ends at {last}: int32 overflows")
    count = math.prod(-(-k // p) + (p > 1) for k, p in zip(windows.kernel, parts, strict=True))
    call.require(
        2 * count * -LIMITS[dtype][0] <= _LARGEST_SUM[dtype],
        f"a sum of {count} {dtype} values overflows int32",
    )
    multiplier, shift = factor(call, "multiplier", "shift", normalised=False)
    over = overlap(source, output, windows.starts, at_a_time=1) if dtype == "int8" else ()
    name = "mean_pool2d" if dtype == "int8" else "mean_pool2d_s16"
    return KernelCall(
        function=f"pl_mean_pool2d_{SUFFIXES[dtype]}",
        header=f"kernels/mean_pool2d/{name}.h",
        params={
            **windows.params(dilation=False),
            "parts_h": parts[0],
            "parts_w": parts[1],
            "pad_bottom": windows.padding[1],
            "pad_right": windows.padding[3],
            "by_count": int(call.flag("by_count")),
            "count_include_pad": int(call.flag("count_include_pad")),
            "input_zero_point": zero_point(call, "input_zero_point", dtype),
            "output_zero_point": zero_point(call, "output_zero_point", dtype),
            "multiplier": multiplier,
            "shift": shift,
        },
        dims=windows.dims(),
        data={"input": source, "output": output},
        overlap=over,
        rows=windows.by_rows(),
    )
