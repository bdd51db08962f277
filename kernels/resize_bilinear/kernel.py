# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::resize_bilinear, declared in kernels/resize_bilinear/resize_bilinear.h."""

import numpy as np

from kernels.common.kernel import INT32_MAX, Isa, KernelCall, OpCall, Value, kernel
from kernels.common.overlap import overlap
from kernels.common.quantization import LIMITS, SUFFIXES, activation_dtype
from kernels.common.rows import ByRows, Taps, row_count
from kernels.common.window import image_starts


@kernel("pl::resize_bilinear")
def resize_bilinear(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    dtype = activation_dtype(call, "input")
    source, output = call.tensor("input", dtype, rank=4), call.output(dtype, rank=4)
    n, h, w, c = source.shape
    size = call.integers("output_size", 2, minimum=1)
    call.require(
        output.shape == (n, *size, c),
        f"output has shape {list(output.shape)}, it should be {[n, *size, c]}",
    )
    step, offset = call.integers("step", 2, minimum=0), call.integers("offset", 2)
    unit = call.integers("unit", 2, minimum=1)
    divisor = unit[0] * unit[1]
    sums = divisor if dtype == "int16" else -LIMITS[dtype][0] * divisor + divisor // 2
    call.require(sums <= INT32_MAX, f"units of {list(unit)} may overflow int32")
    for d, length in enumerate((h, w)):
        # The position after the last pixel counts too: loops reach it.
        places = (offset[d], size[d] * step[d] + offset[d], (length - 1) * unit[d])
        call.require(
            all(-INT32_MAX <= place <= INT32_MAX for place in places),
            f"places of {size[d]} pixels in steps of {step[d]} overflow int32",
        )
    rows, columns = (
        np.clip(np.arange(size[d]) * step[d] + offset[d], 0, (length - 1) * unit[d]) // unit[d]
        for d, length in enumerate((h, w))
    )
    starts = image_starts(n, (h, w, c), rows, columns)
    return KernelCall(
        function=f"pl_resize_bilinear_{SUFFIXES[dtype]}",
        header=f"kernels/resize_bilinear/resize_bilinear{'_s16' if dtype == 'int16' else ''}.h",
        params={
            "step_h": step[0],
            "step_w": step[1],
            "offset_h": offset[0],
            "offset_w": offset[1],
            "unit_h": unit[0],
            "unit_w": unit[1],
        },
        dims={
            "batches": n,
            "input_h": h,
            "input_w": w,
            "channels": c,
            "output_h": size[0],
            "output_w": size[1],
        },
        data={"input": source, "output": output},
        overlap=overlap(source, output, source.item_bytes * starts, at_a_time=1),
        rows=_by_rows(source, output, step[0], offset[0], unit[0]),
    )


def _by_rows(source: Value, output: Value, step: int, offset: int, unit: int) -> ByRows | None:
    """Return the row streaming if an input row is a power of two of positions.

    Several images are computed one by one.
    """
    count, given = row_count(output.shape), row_count(source.shape)
    if (images := source.shape[0]) > 1:
        are_rows = given == count == images
        return ByRows(count, {"input": Taps(count)}, {"batches": 1}) if are_rows else None
    if (given, count) != (source.shape[1], output.shape[1]) or unit & (unit - 1):
        return None
    taps = Taps(
        source.shape[1], step, max(0, -offset), unit + max(0, offset), unit.bit_length() - 1
    )
    return ByRows(count, {"input": taps}, {"output_h": 1}, height="input_h", place="offset_h")
