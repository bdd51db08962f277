# SPDX-License-Identifier: Apache-2.0
"""Bounds of kernels on int16 values, see bounds.py."""

from dataclasses import replace

from firmware.slot.extents import (
    DILATED,
    IMAGE,
    INPUT,
    LONG,
    POOLED,
    Bounds,
    Extent,
    avg_pool,
    elements,
    max_pool,
    mean,
    mean_pool,
    sizes,
)

_LINEAR = Bounds(
    "kernels/linear/linear_s16.h",
    {"rows": (1, LONG), **sizes("input_channels output_channels")},
    {
        "input": Extent("rows * input_channels", 2),
        "weight": Extent("output_channels * input_channels"),
        "bias": Extent("output_channels", 4),
    },
    {"output": Extent("rows * output_channels", 2)},
    factors="output_channels",
)
_CONV = Bounds(
    "kernels/conv2d/conv2d_s16.h",
    {**IMAGE, **sizes("output_c groups")},
    {
        "input": Extent(INPUT, 2),
        "weight": Extent("output_c * kernel_h * kernel_w * (input_c // groups)"),
        "bias": Extent("output_c", 4),
    },
    {"output": Extent("batches * output_h * output_w * output_c", 2)},
    DILATED,
    factors="output_c",
    needs=("input_c % groups == 0", "output_c % groups == 0"),
)
_SOFTMAX = "outer * size * inner"
_REQUANTIZE = "kernels/quantize/requantize.h"


def _of_fours(bounds: Bounds, factors: str) -> Bounds:
    """The same function with bias, multipliers and shifts in one."""
    return replace(bounds, reads={**bounds.reads, "bias": Extent(factors, 4)}, factors="")


BOUNDS_S16: dict[str, Bounds] = {
    "pl_linear_s16": _LINEAR,
    "pl_linear_blocks_s16": _of_fours(_LINEAR, "3 * up(output_channels, 4)"),
    "pl_conv2d_s16": _CONV,
    "pl_conv2d_blocks_s16": _of_fours(_CONV, "groups * 3 * up(output_c // groups, 4)"),
    "pl_depthwise_conv2d_s16": Bounds(
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
    "pl_avg_pool2d_s16": avg_pool(2),
    "pl_max_pool2d_s16": max_pool(2),
    "pl_mean_s16": mean(2),
    "pl_mean_pool2d_s16": mean_pool(2),
    "pl_lut_s16": elements("kernels/lut/lut_s16.h", 2, 2, Extent("513", 2)),
    "pl_lut_near_zero_s16": elements("kernels/lut/lut_near_zero_s16.h", 2, 2, Extent("1537", 2)),
    "pl_quantize_f32_s16": elements("kernels/quantize/quantize_s16.h", 4, 2),
    "pl_dequantize_s16_f32": elements("kernels/dequantize/dequantize_s16.h", 2, 4),
    "pl_requantize_s16": elements(_REQUANTIZE, 2, 2),
    "pl_requantize_s16_s8": elements(_REQUANTIZE, 2, 1),
    "pl_requantize_s8_s16": elements(_REQUANTIZE, 1, 2),
    "pl_softmax_s16": Bounds(
        "kernels/softmax/softmax_s16.h",
        sizes("outer size inner"),
        {"input": Extent(_SOFTMAX, 2), "exp_table": Extent("512", 4)},
        {"output": Extent(_SOFTMAX, 2)},
        has_params=False,
    ),
}
