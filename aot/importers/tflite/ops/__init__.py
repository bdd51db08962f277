# SPDX-License-Identifier: Apache-2.0
"""Importable builtins, by their names in TFLite's schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from torch.fx import Node

from aot.importers.tflite.call import OperatorCall
from aot.importers.tflite.ops import (
    batch_matmul,
    binary,
    blocks,
    convolution,
    fully_connected,
    functions,
    gathering,
    lstm,
    movement,
    padding,
    pooling,
    prelu,
    quantization,
    reductions,
    resizing,
    slicing,
    softmax,
    svdf,
)

Import = Callable[[OperatorCall], Node | Sequence[Node]]

BUILTINS: Mapping[str, Import] = {
    "ADD": binary.add,
    "ARG_MAX": reductions.arg_max,
    "AVERAGE_POOL_2D": pooling.average_pool_2d,
    "BATCH_MATMUL": batch_matmul.batch_matmul,
    "BATCH_TO_SPACE_ND": blocks.batch_to_space,
    "BROADCAST_TO": gathering.broadcast_to,
    "CONCATENATION": movement.concatenation,
    "CONV_2D": convolution.conv_2d,
    "DEPTHWISE_CONV_2D": convolution.depthwise_conv_2d,
    "DEPTH_TO_SPACE": blocks.depth_to_space,
    "DEQUANTIZE": quantization.dequantize,
    "EXPAND_DIMS": movement.reshape,
    "FULLY_CONNECTED": fully_connected.fully_connected,
    "GATHER": gathering.gather,
    "HARD_SWISH": functions.hard_swish,
    "LEAKY_RELU": functions.leaky_relu,
    "LOGISTIC": functions.logistic,
    "LOG_SOFTMAX": softmax.log_softmax,
    "MAXIMUM": binary.maximum,
    "MAX_POOL_2D": pooling.max_pool_2d,
    "MEAN": reductions.mean,
    "MINIMUM": binary.minimum,
    "MIRROR_PAD": padding.mirror_pad,
    "MUL": binary.mul,
    "PACK": movement.pack,
    "PAD": padding.pad,
    "PADV2": padding.pad,
    "PRELU": prelu.prelu,
    "QUANTIZE": quantization.quantize,
    "REDUCE_MAX": reductions.reduce_max,
    "REDUCE_MIN": reductions.reduce_min,
    "RELU": functions.relu,
    "RELU6": functions.relu6,
    "RESHAPE": movement.reshape,
    "RESIZE_BILINEAR": resizing.resize_bilinear,
    "RESIZE_NEAREST_NEIGHBOR": gathering.resize_nearest_neighbor,
    "SLICE": slicing.slice,
    "SOFTMAX": softmax.softmax,
    "SPACE_TO_BATCH_ND": blocks.space_to_batch,
    "SPACE_TO_DEPTH": blocks.space_to_depth,
    "SPLIT": slicing.split,
    "SPLIT_V": slicing.split_v,
    "SQUEEZE": movement.reshape,
    "STRIDED_SLICE": slicing.strided_slice,
    "SUB": binary.sub,
    "SUM": reductions.sum,
    "SVDF": svdf.svdf,
    "TANH": functions.tanh,
    "TRANSPOSE": movement.transpose,
    "TRANSPOSE_CONV": convolution.transpose_conv,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm.unidirectional_sequence_lstm,
    "UNPACK": movement.unpack,
}
