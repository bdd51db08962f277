# SPDX-License-Identifier: Apache-2.0
"""Writers of the dialect's ops, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch.fx import Node

from aot.backends.tflite.emitters import convolution, elementwise, movement, pooling, recurrence
from aot.backends.tflite.export import Export

EMITTERS: Mapping[str, Callable[[Export, Node, dict[str, Any]], None]] = {
    "add": elementwise.add,
    "amax": pooling.amax,
    "amin": pooling.amin,
    "avg_pool2d": pooling.avg_pool2d,
    "bmm": convolution.bmm,
    "cat": movement.cat,
    "channels_last_to_nhwc": movement.same_bytes,
    "conv2d": convolution.conv2d,
    "depthwise_conv2d": convolution.depthwise_conv2d,
    "dequantize": elementwise.dequantize,
    "embedding": movement.embedding,
    "gather": movement.gather,
    "linear": convolution.linear,
    "lstm": recurrence.lstm,
    "lut": elementwise.lut,
    "max_pool2d": pooling.max_pool2d,
    "max_with_indices": pooling.max_with_indices,
    "maximum": elementwise.maximum,
    "mean": pooling.mean,
    "minimum": elementwise.minimum,
    "mul": elementwise.mul,
    "nhwc_to_channels_last": movement.same_bytes,
    "pad": movement.pad,
    "quantize": elementwise.quantize,
    "requantize": elementwise.requantize,
    "reshape": movement.reshape,
    "resize_bilinear": movement.resize_bilinear,
    "slice": movement.slice,
    "softmax": elementwise.softmax,
    "svdf": recurrence.svdf,
    "transpose": movement.transpose,
    "transpose_conv2d": convolution.transpose_conv2d,
}
