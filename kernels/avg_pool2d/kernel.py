# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::avg_pool2d, declared in kernels/avg_pool2d/avg_pool2d.h."""

from dataclasses import replace

import numpy as np

from kernels.common.kernel import INT32_MAX, AnyArray, Isa, KernelCall, OpCall, kernel
from kernels.common.overlap import overlap
from kernels.common.quantization import LIMITS, SUFFIXES, activation_dtype, zero_point
from kernels.common.window import Windows

_MOST_COUNTED = 255
"""Upper limit for values that add up in 16 bits."""

_LEAST_SIZE = 3
"""Smallest window for avg_pool2d_rows_s8_mve.c: for smaller ones single windows are faster."""


@kernel("pl::avg_pool2d")
def avg_pool2d(call: OpCall, isa: Isa) -> KernelCall:
    source, output = call.tensor("input"), call.output()
    dtype = activation_dtype(call, "input")
    windows = Windows.of_pooling(call, dilation=False, dtype=dtype)
    name = "avg_pool2d" if dtype == "int8" else "avg_pool2d_s16"
    override = max(0, call.integer("divisor_override"))
    largest = -LIMITS[dtype][0] * (2 * windows.kernel[0] * windows.kernel[1] + 2 * override)
    call.require(largest <= INT32_MAX, f"the sum of a window may reach {largest}: int32 overflows")
    by_window = KernelCall(
        function=f"pl_avg_pool2d_{SUFFIXES[dtype]}",
        header=f"kernels/avg_pool2d/{name}.h",
        params={
            **windows.params(dilation=False),
            "pad_bottom": windows.padding[1],
            "pad_right": windows.padding[3],
            "count_include_pad": int(call.flag("count_include_pad")),
            "divisor_override": override,
            "zero_point": zero_point(call, "zero_point", dtype),
        },
        dims=windows.dims(),
        data={"input": source, "output": output},
        overlap=overlap(source, output, source.item_bytes * windows.starts, at_a_time=1),
        rows=windows.by_rows(),
    )
    if isa != "mve" or dtype != "int8" or call.small:
        return by_window
    pixels = windows.input[0] * windows.input[1]
    if windows.kernel == windows.input and windows.cover_input and override == 0:
        is_short = 2 <= pixels <= _MOST_COUNTED
        return replace(by_window, function="pl_avg_pool2d_whole_s8") if is_short else by_window
    large = min(windows.kernel) >= _LEAST_SIZE and windows.output[1] > 1
    if not (large and windows.share_columns):
        return by_window
    taps = _counted(windows, (0, 0, 0, 0))
    counts = _counted(windows, windows.padding) if call.flag("count_include_pad") else taps
    counts = np.full_like(counts, override) if override > 0 else counts
    if counts.min() < 2 or counts.max() > _MOST_COUNTED or (counts < taps).any():
        return by_window
    rows = by_window.rows
    if rows is not None and "output_w" in rows.dims:
        rows = replace(rows, scratch=2 * windows.row_values(1))
    return replace(
        by_window,
        function="pl_avg_pool2d_rows_s8",
        scratch=2 * windows.row_values(windows.output[1]),
        overlap=overlap(source, output, windows.starts, windows.output[1], reads_first=True),
        fallback=by_window,
        rows=rows,
    )


def _counted(windows: Windows, padding: tuple[int, int, int, int]) -> AnyArray:
    """Return the number of taps of each window inside the input, or inside this much of the
    padding.
    """
    inside = []
    for d in range(2):
        begin, end = -padding[2 * d], windows.input[d] + padding[2 * d + 1]
        first = np.arange(windows.output[d]) * windows.stride[d] - windows.padding[2 * d]
        last = np.minimum(first + windows.kernel[d], end)
        inside.append(last - np.maximum(first, begin))
    counted: AnyArray = np.outer(*inside)
    return counted
