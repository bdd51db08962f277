# SPDX-License-Identifier: Apache-2.0
"""Import of RESIZE_BILINEAR."""

from __future__ import annotations

from ethosu.vela.tflite.ResizeBilinearOptions import ResizeBilinearOptions
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.importers.tflite.call import OperatorCall, Unsupported
from kernels.resize_bilinear.op import resize_bilinear as pl_resize_bilinear

_BITS = 10
"""Fraction bits of a position between two pixels."""


def resized_size(call: OperatorCall) -> list[int]:
    """Return (height, width) of the result."""
    size = call.integers(1)
    if len(size) != 2 or tuple(size) != call.output.shape[1:3]:
        raise Unsupported(f"the size {size} for a result of {list(call.output.shape)}")
    return size


def resize_bilinear(call: OperatorCall) -> Node:
    """Convert the op with positions of 10 bits, as in TFLite; pl::resize_bilinear accepts any."""
    options = call.options(ResizeBilinearOptions)
    x = call.image(0)
    call.same_quantization(x)
    size = resized_size(call)
    steps, offsets = [], []
    for before, after in zip(shape_of(x)[1:3], size, strict=True):
        if options.AlignCorners() and after > 1:
            before, after = before - 1, after - 1
        step = ((before << _BITS) + after // 2) // after
        steps.append(step)
        offsets.append(step // 2 - (1 << (_BITS - 1)) if options.HalfPixelCenters() else 0)
    unit = [1 << _BITS] * 2
    return call.emit(pl_resize_bilinear, x, size, steps, offsets, unit, edge=call.edge)
