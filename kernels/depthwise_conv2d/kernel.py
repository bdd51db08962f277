# SPDX-License-Identifier: Apache-2.0
"""pl::depthwise_conv2d on its own kernel, or on conv2d's with a channel multiplier."""

from dataclasses import replace

import numpy as np

from kernels.common import conv2d_rows
from kernels.common.depthwise_by_4 import BY_4, PLANES, TURNED, pack_by_4
from kernels.common.depthwise_columns import cost_of_columns, pack_columns, scratch_of_columns
from kernels.common.depthwise_direct import cost_of_direct, pack_direct
from kernels.common.depthwise_sliding import (
    bands,
    overlap_of_band,
    pack_sliding,
    scratch_of_sliding,
)
from kernels.common.gemm import fold_zero_point, output_stage, reach
from kernels.common.gemm_taps import with_fallbacks
from kernels.common.kernel import (
    INT8_MIN,
    PLAIN,
    AnyArray,
    Constant,
    Isa,
    KernelCall,
    OpCall,
    kernel,
)
from kernels.common.overlap import Overlap, overlap
from kernels.common.quantization import (
    activation_dtype,
    activation_range,
    channel_vector,
    factors,
    zero_point,
)
from kernels.common.wide import narrow_constants
from kernels.common.window import Windows
from kernels.conv2d.kernel import convolution_call

_STRIP = 4
"""Windows of a row computed together if memory is scarce, on cores with Helium."""

_OF_COLUMNS = ("pl_depthwise_columns_s8", "pl_depthwise_large_columns_s8")
"""Functions with structs of their own."""


@kernel("pl::depthwise_conv2d")
def depthwise_conv2d(call: OpCall, isa: Isa) -> KernelCall:
    weight = call.constant("weight", "int8", rank=3)
    kh, kw, channels = weight.shape
    dtype = activation_dtype(call, "input")
    windows = Windows.of_convolution(call, (kh, kw), channels, dtype)
    windows, weight = windows.trimmed(weight, first=0)
    windows = windows.lying
    kh, kw = windows.kernel
    weight = weight.reshape(kh, kw, channels)
    call.require(
        channels % windows.input_c == 0,
        f"{channels} output channels are not a multiple of {windows.input_c} input channels",
    )
    if channels == windows.input_c and dtype == "int16":
        narrow = _narrow_call(call, windows, weight)
        if narrow is not None:
            return narrow
    by_channel = weight.transpose(2, 0, 1)[..., np.newaxis]
    repeats = channels // windows.input_c
    as_matrix = repeats > 1 or isa == "mve" or windows.cover_input
    if dtype == "int16" or (windows.input_c == 1 and as_matrix):
        return convolution_call(call, windows, by_channel, windows.input_c, isa)
    input_zero_point = zero_point(call, "input_zero_point")
    bias = channel_vector(call, "bias", channels)
    folded = fold_zero_point(call, weight.reshape(-1, channels).T, bias, input_zero_point)
    multiplier, shift = factors(call, channels)
    dense = windows.dilation[1] == 1 or kw == 1
    source, output = call.tensor("input"), call.output()
    planes = replace(windows, input_c=channels)

    def depthwise(
        function: str,
        constants: dict[str, Constant],
        scratch: int,
        overlap: tuple[Overlap, ...],
        fallback: KernelCall | None = None,
    ) -> KernelCall:
        along = windows.turned if function == TURNED else windows
        rows = windows.by_rows(least_width=2 if function.startswith(PLANES) else 1)
        if rows is not None and function in _OF_COLUMNS and "batches" not in rows.dims:
            count = 1 if "output_w" in rows.dims else windows.output[1]
            one = min(scratch, scratch_of_columns(planes, count))
            rows = replace(rows, dims={**rows.dims, "scratch_bytes": one}, scratch=one)
        if rows is not None and "sliding" in function and "batches" not in rows.dims:
            one = scratch_of_sliding(windows, 1)
            rows = replace(rows, dims={**rows.dims, "scratch_bytes": one}, scratch=one)
        header = "depthwise_columns" if function in _OF_COLUMNS else "depthwise_conv2d"
        return KernelCall(
            function=function,
            header=f"kernels/depthwise_conv2d/{header}.h",
            params={
                **along.params(dilation=True),
                "input_zero_point": input_zero_point,
                "output_zero_point": zero_point(call, "output_zero_point"),
                **activation_range(call),
            },
            dims={**along.dims(), "scratch_bytes": scratch, "repeats": repeats},
            data={"input": source, **constants, "output": output},
            scratch=scratch,
            overlap=overlap,
            fallback=fallback,
            rows=rows if along is windows else None,
        )

    ordered = overlap(source, output, windows.starts, at_a_time=1)
    of_channels = {
        "bias": Constant(folded.astype(np.int32)),
        **output_stage(multiplier, shift, reach(folded, weight.reshape(-1, channels).T)),
    }
    function = "pl_depthwise_conv2d_s8" if dense else "pl_depthwise_spread_s8"
    constants = {"weight": Constant(weight), **of_channels}
    window = 0 if windows.are_inside and dense else weight.size // repeats
    by_pixel = depthwise(function, constants, window, ordered)

    def by_rows() -> KernelCall:
        rows = convolution_call(call, windows, by_channel, windows.input_c, isa)
        return replace(rows, fallback=by_pixel if by_pixel.scratch <= rows.scratch else None)

    rows_pay = "shift" not in of_channels and not call.small
    rows_pay = rows_pay and conv2d_rows.pays_for_channels(windows, repeats, isa)
    if isa in PLAIN or (call.small and channels > 1):
        if rows_pay:
            plain = by_rows()
        elif call.small or not conv2d_rows.copies_rows(windows):
            plain = by_pixel
        else:
            row = kh * windows.row_values(windows.output[1])
            ordered = overlap(source, output, windows.starts, windows.output[1], reads_first=True)
            plain = depthwise(function, constants, row, ordered, by_pixel)
        sliding = None
        if isa == "thumb1" and repeats == 1 and not call.small:
            sliding = pack_sliding(call, windows, weight, folded, multiplier, shift)
        if sliding is None:
            return plain
        calls = [
            depthwise(
                *sliding, scratch_of_sliding(windows, band), overlap_of_band(call, windows, band)
            )
            for band in bands(windows)
        ]
        return with_fallbacks(calls, plain)
    if isa == "mve":
        packed = pack_columns(planes, weight, folded, multiplier, shift)
    else:
        lowest = zero_point(call, "output_zero_point") == INT8_MIN
        most = conv2d_rows.cost(windows, channels) if rows_pay else None
        packed = pack_by_4(planes, weight, folded, multiplier, shift, lowest, repeats, most)
    if channels == 1 and (packed is None or call.small):
        return convolution_call(call, windows, by_channel, 1, isa)
    one_by_one = packed is None or packed[0].endswith(BY_4)
    if one_by_one and rows_pay and isa == "dsp":
        return by_rows()
    if packed is None:
        return by_pixel
    if one_by_one:
        return depthwise(*packed, ordered)
    if isa == "dsp":
        return depthwise(*packed, (), by_pixel if ordered else None)  # channels before pixels
    function, constants, most = packed
    direct = None if repeats > 1 else pack_direct(weight, folded, multiplier, shift)
    fallback = None if direct is None else depthwise(*direct, 0, ordered)
    if fallback is not None and cost_of_direct(planes) < _at_most(function) * cost_of_columns(
        planes
    ):
        return fallback
    if windows.output[1] > _STRIP:
        strips = overlap(source, output, windows.starts, _STRIP)
        scratch = scratch_of_columns(planes, _STRIP)
        fallback = depthwise(function, constants, scratch, strips, fallback)
    row = scratch_of_columns(planes, windows.output[1])
    if row < most:
        fallback = depthwise(function, constants, row, (), fallback)
    return depthwise(*packed, (), fallback)


def _at_most(of_columns: str) -> float:
    """Return the largest useful cost of separate reads for each window, as a share of the column
    cost.

    Large windows need a larger saving. At 0.9, the 5x5 windows with a stride in EfficientNet-Lite
    and MobileNetV3 are read separately. This takes 0.5% more instructions and one more kernel.
    """
    return 1.0 if of_columns == "pl_depthwise_columns_s8" else 0.85


def _narrow_call(call: OpCall, windows: Windows, weight: AnyArray) -> KernelCall | None:
    """Return the int16 call if sums fit in 32 bits and all factors divide, else None."""
    constants = narrow_constants(call, weight.reshape(-1, weight.shape[-1]).T)
    if constants is None:
        return None
    source, output = call.tensor("input"), call.output()
    return KernelCall(
        function="pl_depthwise_conv2d_s16",
        header="kernels/depthwise_conv2d/depthwise_conv2d_s16.h",
        params={**windows.params(dilation=True), **activation_range(call, "int16")},
        dims=windows.dims(),
        data={
            "input": source,
            "weight": Constant(weight),
            "bias": constants["bias"],
            "multiplier": constants["multiplier"],
            "right": Constant(-constants["shift"].array),
            "output": output,
        },
        overlap=overlap(source, output, 2 * windows.starts, at_a_time=1),
        rows=windows.by_rows(),
    )
