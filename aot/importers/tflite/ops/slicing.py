# SPDX-License-Identifier: Apache-2.0
"""Import of SLICE, STRIDED_SLICE, SPLIT and SPLIT_V."""

from __future__ import annotations

import torch
from ethosu.vela.tflite.StridedSliceOptions import StridedSliceOptions
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.importers.tflite.call import OperatorCall, Unsupported
from kernels.gather.op import gather
from kernels.strided_copy.op_slice import slice as pl_slice


def slice(call: OperatorCall) -> Node:
    x = call.value(0)
    begin, size = call.integers(1), call.integers(2)
    shape = shape_of(x)
    if not len(begin) == len(size) == len(shape):
        raise Unsupported(f"begin {begin} and size {size} of {len(shape)} dimensions")
    call.same_quantization(x)
    for dim, (start, count, extent) in enumerate(zip(begin, size, shape, strict=True)):
        end = extent if count == -1 else start + count
        x = _part(call, x, dim, start, end)
    return x


def strided_slice(call: OperatorCall) -> Node:
    """Convert the op. With negative steps it becomes a gather."""
    options = call.options(StridedSliceOptions)
    if options.EllipsisMask() or options.NewAxisMask():
        raise Unsupported("an ellipsis or a new axis is not supported")
    x = call.value(0)
    shape = shape_of(x)
    begin, end, steps = (call.integers(i) for i in (1, 2, 3))
    if not len(begin) == len(end) == len(steps) == len(shape):
        raise Unsupported(f"begin {begin}, end {end} and strides {steps} of {len(shape)}")
    call.same_quantization(x)
    kept: list[int] = []
    for dim, extent in enumerate(shape):
        start, stop, step = begin[dim], end[dim], steps[dim]
        shrinks = bool(options.ShrinkAxisMask() & (1 << dim))
        if step == 0 or (shrinks and not -extent <= start < extent):
            raise Unsupported(f"begin {start} and stride {step} of {extent}")
        if shrinks:
            start %= extent
            x = _part(call, x, dim, start, start + 1)
            continue
        first = None if options.BeginMask() & (1 << dim) else start
        last = None if options.EndMask() & (1 << dim) else stop
        places = range(extent)[first:last:step]
        kept.append(len(places))
        if not places:
            raise Unsupported(f"it takes no element of dimension {dim}")
        if step > 0:
            x = _part(call, x, dim, places[0], places[-1] + 1, step)
        else:
            indices = call.constant(
                "places", torch.arange(places.start, places.stop, step).to(torch.int32)
            )
            x = call.emit(gather, x, [indices], [dim], edge=x.meta["edge"])
    return call.reshaped(x, kept)


def split(call: OperatorCall) -> list[Node]:
    x, axes = call.value(1), call.integers(0)
    dim = call.axis(axes[0] if axes else -1, len(shape_of(x)))
    count = len(call.outputs)
    if count == 0 or shape_of(x)[dim] % count != 0:
        raise Unsupported(f"{shape_of(x)[dim]} elements cannot be split into {count} equal parts")
    return _parts(call, x, dim, [shape_of(x)[dim] // count] * count)


def split_v(call: OperatorCall) -> list[Node]:
    x, sizes, axes = call.value(0), call.integers(1), call.integers(2)
    dim = call.axis(axes[0] if axes else -1, len(shape_of(x)))
    extent = shape_of(x)[dim]
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = extent - (sum(sizes) + 1)
    if len(sizes) != len(call.outputs) or sum(sizes) != extent or min(sizes) < 1:
        raise Unsupported(f"parts of {sizes} do not add up to {extent}")
    return _parts(call, x, dim, sizes)


def _parts(call: OperatorCall, x: Node, dim: int, sizes: list[int]) -> list[Node]:
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [_part(call, x, dim, s, s + n) for s, n in zip(starts, sizes, strict=True)]


def _part(call: OperatorCall, x: Node, dim: int, start: int, end: int, step: int = 1) -> Node:
    extent = shape_of(x)[dim]
    if not 0 <= start < end <= extent:
        raise Unsupported(f"the part [{start}, {end}) is outside of {extent} elements")
    if (start, end, step) == (0, extent, 1):
        return x
    return call.emit(pl_slice, x, dim, start, end, step, edge=x.meta["edge"])
