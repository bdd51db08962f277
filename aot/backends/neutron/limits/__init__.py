# SPDX-License-Identifier: Apache-2.0
"""Dialect ops for NXP's converter, and the NPU's limits for them.

The limits are those of Neutron N3-64 in ExecuTorch's own backend. N1-16 has no public limits: the
same are used, and the converter decides.
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
"""Reason why a call is not eligible, by op; "" if it is."""

MOVES = frozenset({"cat", "gather", "pad", "reshape", "slice", "transpose"})
"""Ops computing nothing."""
