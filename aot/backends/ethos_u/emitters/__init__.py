# SPDX-License-Identifier: Apache-2.0
"""How ops of the dialect become TOSA, one a file, by the op's name."""

from __future__ import annotations

from aot.backends.ethos_u.emitters import (
    adaptive_avg_pool2d,
    adaptive_max_pool2d,
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
    prelu,
    reshape,
    slice,
    softmax,
    transpose,
    transpose_conv2d,
)
from aot.backends.ethos_u.emitters.emitter import Emitter

EMITTERS: dict[str, Emitter] = {
    "adaptive_avg_pool2d": adaptive_avg_pool2d.EMITTER,
    "adaptive_max_pool2d": adaptive_max_pool2d.EMITTER,
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
    "prelu": prelu.EMITTER,
    "reshape": reshape.EMITTER,
    "slice": slice.EMITTER,
    "softmax": softmax.EMITTER,
    "transpose": transpose.EMITTER,
    "transpose_conv2d": transpose_conv2d.EMITTER,
}

WHY_NOT: dict[str, str] = {
    "compare": "its result is bools, which the NPU has no memory for",
    "div": "the NPU does not divide as the core does",
    "embedding": "its rows are chosen by data",
    "log_softmax": "a logarithm of sums that have more bits than a table takes",
    "masked_softmax": "its mask is bools, which the NPU has no memory for",
    "max_with_indices": "the NPU does not say where a maximum is",
    "resize_bilinear": "its weighted means of four pixels are rounded once, as no form for it does",
    "scatter": "its places are chosen by data",
    "second_moment": "its sums of squares are exact in more than 32 bits",
    "topk": "the NPU does not sort",
    "where": "its mask is bools, which the NPU has no memory for",
}
"""Why an op that no emitter is for stays on the core."""
