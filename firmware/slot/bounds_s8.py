# SPDX-License-Identifier: Apache-2.0
"""Bounds of kernels on int8 values, see bounds.py."""

from dataclasses import replace

from firmware.slot.extents import (
    DILATED,
    IMAGE,
    INPUT,
    LAST_X,
    LONG,
    MAX,
    POOLED,
    UNPADDED,
    Bounds,
    Extent,
    avg_pool,
    elements,
    max_pool,
    mean,
    mean_pool,
    sizes,
)

_CONV = {
    **IMAGE,
    **sizes("output_c groups packed_c"),
    "gathered": (0, MAX),
}
_CONV_OUTPUT = {"output": Extent("batches * output_h * output_w * output_c")}
_GROUPED = (
    "input_c % groups == 0",
    "output_c % groups == 0",
    "packed_c >= output_c // groups",
)
_DEPTH = "(kernel_h * kernel_w * (input_c // groups))"
# Windows that are contiguous in the input.
_RUNS = (
    "((batches - 1) * input_h * input_w + (output_h - 1) * stride_h * input_w + "
    "(output_w - 1) * stride_w + kernel_h * kernel_w) * input_c"
)
# Columns of the input, from the first of a row's first window to the last of its last.
_REACH = f"{LAST_X} + (kernel_w - 1) * dilation_w + 1"
_ONE_RUN = "(kernel_w == 1 or dilation_w == 1 and groups == 1)"
# Windows copied by rows in im2col.
_DENSE_ROWS = "(kernel_w == 1 or dilation_w == 1)"
_DENSE = f"(groups == 1 and {_DENSE_ROWS})"
_PAIRS_STEPS = f"(up({_DEPTH}, 4) // 2)"
_SPREAD_PAIRS_CONV = Bounds(
    "kernels/conv2d/conv2d.h",
    _CONV,
    {
        "input": Extent(INPUT),
        "weight": Extent(f"groups * (packed_c // 2) * {_PAIRS_STEPS}", 4),
        "bias": Extent("groups * packed_c * 3", 4),
    },
    _CONV_OUTPUT,
    DILATED,
    scratch=f"16 * {_PAIRS_STEPS} + gathered * {_DEPTH}",
    needs=(
        *_GROUPED,
        "packed_c % 2 == 0",
        f"gathered >= 1 or {UNPADDED} and {_ONE_RUN}",
    ),
)
_PAIRS_CONV = replace(
    _SPREAD_PAIRS_CONV, needs=(*_SPREAD_PAIRS_CONV.needs, f"gathered == 0 or {_DENSE}")
)
_SPREAD_CONV = Bounds(
    "kernels/conv2d/conv2d.h",
    _CONV,
    {
        "input": Extent(INPUT),
        "weight": Extent(f"groups * packed_c * {_DEPTH}"),
        "bias": Extent("groups * packed_c", 4),
    },
    _CONV_OUTPUT,
    DILATED,
    factors="(groups - 1) * packed_c + output_c // groups",
    scratch=f"gathered * {_DEPTH}",
    needs=(*_GROUPED, "packed_c % block == 0", "gathered >= 1"),
)

_REPEATED = {**IMAGE, "scratch_bytes": (0, LONG), "repeats": (1, MAX)}
_REPEATED_OUTPUT = {"output": Extent(f"{POOLED} * repeats")}
# Without a channel multiplier.
_DEPTHWISE = {**_REPEATED, "repeats": (1, 1)}
_DEPTHWISE_OUTPUT = {"output": Extent(POOLED)}

_SPREAD_DEPTHWISE = Bounds(
    "kernels/depthwise_conv2d/depthwise_conv2d.h",
    _REPEATED,
    {
        "input": Extent(INPUT),
        "weight": Extent("kernel_h * kernel_w * input_c * repeats"),
        "bias": Extent("input_c * repeats", 4),
    },
    _REPEATED_OUTPUT,
    DILATED,
    factors="input_c * repeats",
    # For more than one window: a row of them.
    scratch="kernel_h * (kernel_w + (output_w - 1) * stride_w) * input_c "
    "if scratch_bytes > kernel_h * kernel_w * input_c "
    f"else 0 if {UNPADDED} and (dilation_w == 1 or kernel_w == 1) "
    "else kernel_h * kernel_w * input_c",
)
_SPREAD_BY_4 = Bounds(
    "kernels/depthwise_conv2d/depthwise_conv2d.h",
    _DEPTHWISE,
    {
        "input": Extent(INPUT),
        "weight": Extent("up(input_c, 4) * kernel_h * kernel_w"),
        "bias": Extent("up(input_c, 4) * 3", 4),
    },
    _DEPTHWISE_OUTPUT,
    DILATED,
    scratch=f"0 if {UNPADDED} else kernel_h * kernel_w * input_c",
    needs=("input_c >= 4",),
)

_LINEAR = {"rows": (1, LONG), **sizes("input_channels output_channels")}
_LINEAR_INPUT = {"input": Extent("rows * input_channels")}
_LINEAR_OUTPUT = {"output": Extent("rows * output_channels")}
_LINEAR_STEPS = "(up(input_channels, 4) // 2)"
_PAIRS_LINEAR = Bounds(
    "kernels/linear/linear.h",
    _LINEAR,
    {
        **_LINEAR_INPUT,
        "weight": Extent(f"up(output_channels, 2) // 2 * {_LINEAR_STEPS}", 4),
        "bias": Extent("up(output_channels, 2) * 3", 4),
    },
    _LINEAR_OUTPUT,
    scratch=f"(4 if rows < 4 else 16) * {_LINEAR_STEPS}",
)
_ODD_LINEAR = replace(_PAIRS_LINEAR, scratch=f"4 * {_LINEAR_STEPS}")
_FEW_LINEAR = replace(_PAIRS_LINEAR, scratch="0")
_TWO_LINEAR = replace(
    _FEW_LINEAR,
    reads={
        **_LINEAR_INPUT,
        "weight": Extent(f"2 * {_LINEAR_STEPS}", 4),
        "bias": Extent("6", 4),
    },
    needs=("output_channels == 2",),
)


def _softmax(has_params: bool) -> Bounds:
    whole = "outer * size * inner"
    return Bounds(
        "kernels/softmax/softmax.h",
        sizes("outer size inner"),
        {"input": Extent(whole), "exp_table": Extent("256", 4)},
        {"output": Extent(whole)},
        has_params=has_params,
    )


def _columns(taps: str) -> Bounds:
    """A kernel on planes of columns: it computes how many windows its scratch is for."""
    runs = "kernel_h * (1 if dilation_w == 1 else kernel_w)"
    return Bounds(
        "kernels/depthwise_conv2d/depthwise_columns.h",
        _REPEATED,
        {
            "input": Extent(INPUT),
            "weight": Extent("up(input_c * repeats, 4) * kernel_h * kernel_w"),
            "factors": Extent("up(input_c * repeats, 4) * 2", 4),
            "shift": Extent("up(input_c * repeats, 4)"),
        },
        _REPEATED_OUTPUT,
        DILATED,
        scratch="scratch_bytes",
        # Planes are reached with offsets of 16 bits.
        needs=(taps, f"scratch_bytes <= 65551 + 16 * {runs}"),
    )


def _depthwise_windows(channels: str) -> Bounds:
    return Bounds(
        "kernels/depthwise_conv2d/depthwise_conv2d.h",
        _REPEATED,
        {
            "input": Extent(INPUT),
            "weight": Extent("up(input_c * repeats, 4) * kernel_h * kernel_w"),
            "bias": Extent("up(input_c * repeats, 4) * 3", 4),
        },
        _REPEATED_OUTPUT,
        DILATED,
        scratch="scratch_bytes",
        needs=(
            channels,
            "stride_w <= 2 and (kernel_w == 1 or dilation_w == 1)",
            # The taps of a channel, and the rows of four planes for a row of windows.
            "scratch_bytes >= kernel_h * (8 * (kernel_w // 2 + 1) if stride_w == 1 "
            "else 4 * up(kernel_w, 2) // 2) + ((kernel_h - 1) * dilation_h + 1) * 16 * "
            "(up(output_w, 4) // 2 + kernel_w // 2 if stride_w == 1 "
            "else up(output_w, 4) + up(kernel_w, 2) // 2 - 1)",
        ),
    )


def _planes(stride: int) -> Bounds:
    """A kernel on planes of channels, with one stride in width: three rows of four planes."""
    row_words = f"((output_w - 1) * {stride} // 2 + 2)"
    return Bounds(
        "kernels/depthwise_conv2d/depthwise_conv2d.h",
        _DEPTHWISE,
        {"input": Extent(INPUT), "bias": Extent("up(input_c, 4) * 6", 4)},
        _DEPTHWISE_OUTPUT,
        DILATED,
        scratch="scratch_bytes",
        needs=(
            "input_c >= 4",
            "kernel_h == 3 and kernel_w == 3 and dilation_h == 1 and dilation_w == 1",
            f"stride_w == {stride} and output_w >= 2",
            f"scratch_bytes // (16 * {row_words}) >= 3",
        ),
    )


# Means with contiguous outputs.
_NEIGHBOURS = ("kept_stride[2] == 1", "reduced[0] == 1 and reduced[1] == 1")


_BLOCKS_LINEAR = Bounds(
    "kernels/linear/linear.h",
    _LINEAR,
    {
        **_LINEAR_INPUT,
        "weight": Extent("up(output_channels, 4) * up(input_channels, 16)"),
        "bias": Extent("up(output_channels, 4) * 3", 4),
    },
    _LINEAR_OUTPUT,
)

_BLOCKS_CONV = Bounds(
    "kernels/conv2d/conv2d.h",
    _CONV,
    {
        "input": Extent(f"{_RUNS} if gathered == 0 else {INPUT}"),
        "weight": Extent(f"groups * packed_c * up({_DEPTH}, 16)"),
        "bias": Extent("groups * packed_c * 3", 4),
    },
    _CONV_OUTPUT,
    DILATED,
    scratch="0 if gathered == 0 else ((gathered - 1) * (stride_w // dilation_w if gathered == 1"
    " or stride_w % dilation_w == 0 else stride_w) + kernel_w) * kernel_h * "
    "(input_c // groups)",
    needs=(
        *_GROUPED,
        "packed_c % 4 == 0",
        "gathered >= 1 or pad_top == 0 and (groups == 1 or kernel_h * kernel_w == 1)",
    ),
)

BOUNDS_S8: dict[str, Bounds] = {
    "pl_linear_s8": Bounds(
        "kernels/linear/linear.h",
        _LINEAR,
        {
            **_LINEAR_INPUT,
            "weight": Extent("up(output_channels, block) * input_channels"),
            "bias": Extent("up(output_channels, block)", 4),
        },
        _LINEAR_OUTPUT,
        factors="output_channels",
    ),
    "pl_linear_few_s8": _FEW_LINEAR,
    "pl_linear_few_wide_s8": _FEW_LINEAR,
    "pl_linear_odd_pairs_s8": _ODD_LINEAR,
    "pl_linear_odd_wide_pairs_s8": _ODD_LINEAR,
    "pl_linear_two_s8": _TWO_LINEAR,
    "pl_linear_pairs_s8": _PAIRS_LINEAR,
    "pl_linear_wide_pairs_s8": _PAIRS_LINEAR,
    "pl_linear_blocks_s8": _BLOCKS_LINEAR,
    "pl_linear_last_blocks_s8": _BLOCKS_LINEAR,
    "pl_conv2d_s8": replace(_SPREAD_CONV, needs=(*_SPREAD_CONV.needs, _DENSE)),
    "pl_conv2d_spread_s8": _SPREAD_CONV,
    "pl_conv2d_runs_s8": Bounds(
        "kernels/conv2d/conv2d.h",
        _CONV,
        {
            "input": Extent(_RUNS),
            "weight": Extent("up(output_c, block) * kernel_h * kernel_w * input_c"),
            "bias": Extent("up(output_c, block)", 4),
        },
        _CONV_OUTPUT,
        DILATED,
        factors="output_c",
    ),
    "pl_conv2d_rows_s8": Bounds(
        "kernels/conv2d/conv2d.h",
        _CONV,
        {
            "input": Extent(INPUT),
            "weight": Extent(f"output_c * {_DEPTH}"),
            "bias": Extent("output_c", 4),
            "multiplier": Extent("output_c * 2", 4),
        },
        _CONV_OUTPUT,
        DILATED,
        scratch=f"gathered * kernel_h * ({LAST_X} + (kernel_w - 1) * dilation_w + 1) * "
        "(input_c if input_c == groups else input_c // groups)",
        needs=(
            "input_c % groups == 0",
            "output_c % groups == 0",
            "input_c == groups or kernel_w == 1 or dilation_w == 1",
            f"gathered >= 1 or (input_c == groups or groups == 1) and {UNPADDED}",
        ),
    ),
    "pl_conv2d_pairs_s8": _PAIRS_CONV,
    "pl_conv2d_wide_pairs_s8": _PAIRS_CONV,
    "pl_conv2d_spread_pairs_s8": _SPREAD_PAIRS_CONV,
    "pl_conv2d_spread_wide_pairs_s8": _SPREAD_PAIRS_CONV,
    "pl_conv2d_blocks_s8": _BLOCKS_CONV,
    "pl_conv2d_last_blocks_s8": _BLOCKS_CONV,
    "pl_depthwise_conv2d_s8": replace(_SPREAD_DEPTHWISE, needs=(_DENSE_ROWS,)),
    "pl_depthwise_spread_s8": _SPREAD_DEPTHWISE,
    "pl_depthwise_by_4_s8": replace(
        _SPREAD_BY_4, needs=(*_SPREAD_BY_4.needs, f"{UNPADDED} or {_DENSE_ROWS}")
    ),
    "pl_depthwise_spread_by_4_s8": _SPREAD_BY_4,
    "pl_depthwise_windows_s8": _depthwise_windows("input_c >= 4 and repeats == 1"),
    "pl_depthwise_turned_windows_s8": _depthwise_windows("input_c >= 4 and repeats == 1"),
    "pl_depthwise_few_windows_s8": _depthwise_windows("input_c < 4 or repeats > 1"),
    "pl_depthwise_planes_s8": _planes(1),
    "pl_depthwise_planes_lowest_s8": _planes(1),
    "pl_depthwise_planes_2_s8": _planes(2),
    "pl_depthwise_planes_2_lowest_s8": _planes(2),
    "pl_depthwise_planes_3_s8": _planes(3),
    "pl_depthwise_planes_3_lowest_s8": _planes(3),
    "pl_depthwise_columns_s8": _columns("kernel_h * kernel_w <= 16"),
    "pl_depthwise_large_columns_s8": _columns("kernel_h * kernel_w <= 4095"),
    "pl_depthwise_direct_s8": Bounds(
        "kernels/depthwise_conv2d/depthwise_conv2d.h",
        _DEPTHWISE,
        {
            "input": Extent(INPUT),
            "weight": Extent("up(input_c, 8) * kernel_h * kernel_w"),
            "bias": Extent("up(input_c, 8) * 3", 4),
        },
        _DEPTHWISE_OUTPUT,
        DILATED,
    ),
    "pl_avg_pool2d_s8": avg_pool(1),
    "pl_max_pool2d_s8": max_pool(1),
    "pl_avg_pool2d_rows_s8": replace(avg_pool(1), scratch=f"2 * ({LAST_X} + kernel_w) * input_c"),
    "pl_max_pool2d_rows_s8": replace(
        max_pool(1),
        scratch=f"0 if kernel_h == 1 and pad_left == 0 and {_REACH} <= input_w "
        f"else ({_REACH}) * input_c",
    ),
    "pl_mean_s8": mean(1),
    "pl_mean_columns_s8": mean(1, "kept[2] >= 32", *_NEIGHBOURS, "reduced[2] <= 255"),
    "pl_mean_many_columns_s8": mean(1, "kept[2] >= 32", *_NEIGHBOURS),
    "pl_mean_many_vectors_s8": mean(1, "kept[2] >= 9 and kept[2] <= 40", *_NEIGHBOURS),
    "pl_mean_vectors_s8": mean(1, *_NEIGHBOURS, "reduced[2] <= 255"),
    "pl_mean_pool2d_s8": mean_pool(1),
    "pl_lut_s8": elements("kernels/lut/lut.h", 1, 1, Extent("256")),
    "pl_quantize_f32_s8": elements("kernels/quantize/quantize.h", 4, 1),
    "pl_dequantize_s8_f32": elements("kernels/dequantize/dequantize.h", 1, 4),
    "pl_softmax_s8": _softmax(has_params=False),
    "pl_softmax_rows_s8": _softmax(has_params=False),
    "pl_softmax_steps_s8": _softmax(has_params=True),
    "pl_softmax_steps_rows_s8": _softmax(has_params=True),
}
