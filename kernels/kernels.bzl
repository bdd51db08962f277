# SPDX-License-Identifier: Apache-2.0
"""The folders with kernels."""

KERNELS = [
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "add",
    "avg_pool2d",
    "binary_f32",
    "bmm",
    "cat",
    "conv2d",
    "depthwise_conv2d",
    "dequantize",
    "group_norm",
    "layer_norm",
    "linear",
    "log_softmax",
    "lut",
    "max_pool2d",
    "mean",
    "mul",
    "pad",
    "pow",
    "quantize",
    "reduce_f32",
    "softmax",
    "strided_copy",
]
