# SPDX-License-Identifier: Apache-2.0
"""How ops of the dialect become TOSA, one a file, by the op's name."""

from __future__ import annotations

from aot.backends.ethos_u.emitters import (
    add,
    avg_pool2d,
    cat,
    conv2d,
    depthwise_conv2d,
    linear,
    lut,
    max_pool2d,
    mean,
    mul,
    pad,
    reshape,
    slice,
    transpose,
)
from aot.backends.ethos_u.emitters.emitter import Emitter

EMITTERS: dict[str, Emitter] = {
    "add": add.EMITTER,
    "avg_pool2d": avg_pool2d.EMITTER,
    "cat": cat.EMITTER,
    "conv2d": conv2d.EMITTER,
    "depthwise_conv2d": depthwise_conv2d.EMITTER,
    "linear": linear.EMITTER,
    "lut": lut.EMITTER,
    "max_pool2d": max_pool2d.EMITTER,
    "mean": mean.EMITTER,
    "mul": mul.EMITTER,
    "pad": pad.EMITTER,
    "reshape": reshape.EMITTER,
    "slice": slice.EMITTER,
    "transpose": transpose.EMITTER,
}
