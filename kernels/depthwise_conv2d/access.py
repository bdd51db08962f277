# SPDX-License-Identifier: Apache-2.0
"""Access maps of depthwise convolutions: memory read and written by a call."""

from dataclasses import replace

from kernels.common.access import LONG, MAX, Access, Extent
from kernels.common.access_forms import DILATED, IMAGE, INPUT, POOLED, UNPADDED

_REPEATED = {**IMAGE, "scratch_bytes": (0, LONG), "repeats": (1, MAX)}
_REPEATED_OUTPUT = {"output": Extent(f"{POOLED} * repeats")}
# Without a channel multiplier.
_DEPTHWISE = {**_REPEATED, "repeats": (1, 1)}
_DEPTHWISE_OUTPUT = {"output": Extent(POOLED)}

_SPREAD_DEPTHWISE = Access(
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
_SPREAD_BY_4 = Access(
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

# Windows copied by rows in im2col.
_DENSE_ROWS = "(kernel_w == 1 or dilation_w == 1)"


def _columns(taps: str) -> Access:
    """Return a kernel on planes of columns: it computes how many windows its scratch is for."""
    runs = "kernel_h * (1 if dilation_w == 1 else kernel_w)"
    return Access(
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


def _depthwise_windows(channels: str) -> Access:
    return Access(
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


def _planes(stride: int) -> Access:
    """Return a kernel on planes of channels with stride 1 in width: three rows of four planes."""
    row_words = f"((output_w - 1) * {stride} // 2 + 2)"
    return Access(
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


def _sliding(words: int, stride: int) -> Access:
    """Return a kernel of 3x3 windows with one stride in width."""
    return Access(
        "kernels/depthwise_conv2d/depthwise_conv2d.h",
        _DEPTHWISE,
        {"input": Extent(INPUT), "bias": Extent(f"input_c * {words}", 4)},
        _DEPTHWISE_OUTPUT,
        DILATED,
        scratch="scratch_bytes",
        needs=(
            "kernel_h == 3 and kernel_w == 3 and dilation_h == 1 and dilation_w == 1",
            f"stride_w == {stride} and output_w * input_c <= {2**24 - 1}",
            f"scratch_bytes >= 3 * ((output_w - 1) * {stride} + 3) * input_c",
        ),
    )


ACCESS: dict[str, Access] = {
    "pl_depthwise_sliding_s8": _sliding(8, 1),
    "pl_depthwise_sliding_signed_s8": _sliding(10, 1),
    "pl_depthwise_sliding_2_s8": _sliding(8, 2),
    "pl_depthwise_sliding_2_signed_s8": _sliding(10, 2),
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
    "pl_depthwise_direct_s8": Access(
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
    "pl_depthwise_conv2d_s16": Access(
        "kernels/depthwise_conv2d/depthwise_conv2d_s16.h",
        IMAGE,
        {
            "input": Extent(INPUT, 2),
            "weight": Extent("kernel_h * kernel_w * input_c"),
            "bias": Extent("input_c", 4),
            "multiplier": Extent("input_c", 4),
            "right": Extent("input_c", 4),
        },
        {"output": Extent(POOLED, 2)},
        DILATED,
    ),
}
