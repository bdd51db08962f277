# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::max_pool2d, declared in kernels/max_pool2d/max_pool2d.h."""

from dataclasses import replace

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.overlap import overlap
from kernels.common.quantization import SUFFIXES, activation_dtype
from kernels.common.window import Windows

_TOGETHER = 3
"""Columns computed together by max_pool2d_rows_s8_mve.c.

Wider windows take less time one by one. The exception is windows at consecutive pixels.
"""


@kernel("pl::max_pool2d")
def max_pool2d(call: OpCall, isa: Isa) -> KernelCall:
    source, output = call.tensor("input"), call.output()
    dtype = activation_dtype(call, "input")
    windows = Windows.of_pooling(call, dilation=True, dtype=dtype)
    name = "max_pool2d" if dtype == "int8" else "max_pool2d_s16"
    by_window = KernelCall(
        function=f"pl_max_pool2d_{SUFFIXES[dtype]}",
        header=f"kernels/max_pool2d/{name}.h",
        params=windows.params(dilation=True),
        dims=windows.dims(),
        data={"input": source, "output": output},
        overlap=overlap(source, output, source.item_bytes * windows.starts, at_a_time=1),
        rows=windows.by_rows(),
    )
    kh, kw = windows.kernel
    is_row = kh == 1 and windows.are_inside and (windows.stride[1] == 1 or kw <= _TOGETHER)
    fast = isa == "mve" and dtype == "int8" and not call.small
    if not fast or not (windows.share_columns or is_row):
        return by_window
    function, count = "pl_max_pool2d_rows_s8", windows.output[1]
    if is_row:
        at_a_time = count if windows.stride[1] == 1 else 1
        ordered = overlap(source, output, windows.starts, at_a_time)
        return replace(by_window, function=function, overlap=ordered)
    rows = by_window.rows
    if rows is not None and "output_w" in rows.dims:
        rows = replace(rows, scratch=windows.row_values(1))
    return replace(
        by_window,
        function=function,
        scratch=windows.row_values(count),
        overlap=overlap(source, output, windows.starts, count, reads_first=True),
        fallback=by_window,
        rows=rows,
    )
