# SPDX-License-Identifier: Apache-2.0
"""How ops of the dialect become TOSA, one a file, by the op's name."""

from __future__ import annotations

from aot.backends.ethos_u.emitters import (
    add,
    amax,
    amin,
    avg_pool2d,
    bmm,
    cat,
    conv2d,
    depthwise_conv2d,
    gather,
    linear,
    lut,
    max_pool2d,
    maximum,
    mean,
    minimum,
    mul,
    normalize,
    pad,
    reshape,
    slice,
    softmax,
    transpose,
    transpose_conv2d,
)
from aot.backends.ethos_u.emitters.emitter import Emitter

EMITTERS: dict[str, Emitter] = {
    "add": add.EMITTER,
    "amax": amax.EMITTER,
    "amin": amin.EMITTER,
    "avg_pool2d": avg_pool2d.EMITTER,
    "bmm": bmm.EMITTER,
    "cat": cat.EMITTER,
    "conv2d": conv2d.EMITTER,
    "depthwise_conv2d": depthwise_conv2d.EMITTER,
    "gather": gather.EMITTER,
    "linear": linear.EMITTER,
    "lut": lut.EMITTER,
    "max_pool2d": max_pool2d.EMITTER,
    "maximum": maximum.EMITTER,
    "mean": mean.EMITTER,
    "minimum": minimum.EMITTER,
    "mul": mul.EMITTER,
    "normalize": normalize.EMITTER,
    "pad": pad.EMITTER,
    "reshape": reshape.EMITTER,
    "slice": slice.EMITTER,
    "softmax": softmax.EMITTER,
    "transpose": transpose.EMITTER,
    "transpose_conv2d": transpose_conv2d.EMITTER,
}
