# SPDX-License-Identifier: Apache-2.0
"""Which ops of the dialect NXP's converter is sent, and the limits that the NPU has there: those of
Neutron N3-64 as ExecuTorch's own backend knows them. Of N1-16 none are public: the same are taken,
and the converter has the last word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch.fx import Node

from aot.backends.neutron.limits import (
    bmm,
    broadcast,
    conv2d,
    depthwise_conv2d,
    gather,
    linear,
    moves,
    pools,
    reductions,
    resize_bilinear,
    softmax,
    transpose_conv2d,
)

LIMITS: Mapping[str, Callable[[Node, dict[str, Any]], str]] = {
    "add": broadcast.reject,
    "amax": reductions.reject,
    "amin": reductions.reject,
    "avg_pool2d": pools.reject_average,
    "bmm": bmm.reject,
    "cat": moves.reject,
    "conv2d": conv2d.reject,
    "depthwise_conv2d": depthwise_conv2d.reject,
    "gather": gather.reject,
    "linear": linear.reject,
    "lut": moves.reject,
    "max_pool2d": pools.reject_max,
    "maximum": broadcast.reject,
    "mean": reductions.reject,
    "minimum": broadcast.reject,
    "mul": broadcast.reject,
    "pad": moves.reject,
    "reshape": moves.reject,
    "resize_bilinear": resize_bilinear.reject,
    "slice": moves.reject_slice,
    "softmax": softmax.reject,
    "transpose": moves.reject,
    "transpose_conv2d": transpose_conv2d.reject,
}
"""By the name of an op why a call of it is not eligible, "" if it is."""

MOVES = frozenset({"cat", "gather", "pad", "reshape", "slice", "transpose"})
"""Those that compute nothing."""
