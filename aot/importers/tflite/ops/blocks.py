# SPDX-License-Identifier: Apache-2.0
"""Blocks of pixels to channels or batches, and back: SPACE_TO_DEPTH, DEPTH_TO_SPACE,
SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND. Older files use the last two around dilated convolutions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ethosu.vela.tflite.DepthToSpaceOptions import DepthToSpaceOptions
from ethosu.vela.tflite.SpaceToDepthOptions import SpaceToDepthOptions
from torch.fx import Node

from aot.dialect.graph import NHWC, ROW_MAJOR, Edge, shape_of
from aot.importers.tflite.call import OperatorCall, Unsupported
from kernels.pad.op import pad
from kernels.strided_copy.op_slice import slice as pl_slice
from kernels.strided_copy.op_transpose import transpose


def space_to_depth(call: OperatorCall) -> Node:
    x, block = call.image(0), call.options(SpaceToDepthOptions).BlockSize()
    call.same_quantization(x)
    n, h, w, c = shape_of(x)
    if block < 1 or h % block or w % block:
        raise Unsupported(f"blocks of {block} do not divide the image of {[h, w]}")
    apart = [n, h // block, block, w // block, block, c]
    result = [n, h // block, w // block, c * block**2]
    return _moved(call, x, apart, [0, 1, 3, 2, 4, 5], result)


def depth_to_space(call: OperatorCall) -> Node:
    x, block = call.image(0), call.options(DepthToSpaceOptions).BlockSize()
    call.same_quantization(x)
    n, h, w, c = shape_of(x)
    if block < 1 or c % block**2:
        raise Unsupported(f"blocks of {block} do not divide {c} channels")
    apart = [n, h, w, block, block, c // block**2]
    result = [n, h * block, w * block, c // block**2]
    return _moved(call, x, apart, [0, 1, 3, 2, 4, 5], result)


def space_to_batch(call: OperatorCall) -> Node:
    x, (blocks, paddings) = call.value(0), _blocks(call)
    amounts = [0, 0, *paddings]
    amounts += [0] * (2 * len(shape_of(x)) - len(amounts))
    sizes = [s + amounts[2 * d] + amounts[2 * d + 1] for d, s in enumerate(shape_of(x))]
    if any(size % block for size, block in zip(sizes[1:], blocks, strict=False)):
        raise Unsupported(f"blocks of {blocks} do not divide {sizes[1 : 1 + len(blocks)]}")
    if any(amounts):
        x = call.emit(pad, x, amounts, call.of(x).zero_point, edge=x.meta["edge"])
        call.differs(x, "pads of SPACE_TO_BATCH_ND")
    apart, count = [sizes[0]], len(blocks)
    for size, block in zip(sizes[1:], blocks, strict=False):
        apart += [size // block, block]
    apart += sizes[1 + count :]
    inner = [2 + 2 * i for i in range(count)]
    outer = [0, *(1 + 2 * i for i in range(count)), *range(1 + 2 * count, len(apart))]
    result = [math.prod(blocks) * sizes[0], *(apart[i] for i in outer[1:])]
    return _moved(call, x, apart, [*inner, *outer], result)


def batch_to_space(call: OperatorCall) -> Node:
    x, (blocks, crops) = call.value(0), _blocks(call)
    shape, count, whole = list(shape_of(x)), len(blocks), math.prod(blocks)
    if shape[0] % whole:
        raise Unsupported(f"blocks of {blocks} do not divide {shape[0]} batches")
    apart = [*blocks, shape[0] // whole, *shape[1:]]
    perm, result = [count], [shape[0] // whole]
    for i, block in enumerate(blocks):
        perm += [count + 1 + i, i]
        result.append(shape[1 + i] * block)
    perm += range(2 * count + 1, len(apart))
    y = _moved(call, x, apart, perm, result + shape[1 + count :])
    for dim, size in enumerate(result[1:], 1):
        start, end = crops[2 * dim - 2], size - crops[2 * dim - 1]
        if not 0 <= start < end <= size:
            raise Unsupported(f"crops {crops} are larger than {result[1:]}")
        if (start, end) != (0, size):
            y = call.emit(pl_slice, y, dim, start, end, 1, edge=y.meta["edge"])
    return y


def _blocks(call: OperatorCall) -> tuple[list[int], list[int]]:
    """Return block sizes for the dimensions after the first, and two amounts for each."""
    x, blocks, amounts = call.value(0), call.integers(1), call.integers(2)
    call.of(x)
    call.same_quantization(x)
    rank = len(shape_of(x))
    if not 0 < len(blocks) < rank or len(amounts) != 2 * len(blocks):
        raise Unsupported(f"blocks {blocks} and amounts {amounts} do not match {rank} dimensions")
    if min(blocks) < 1 or min(amounts) < 0:
        raise Unsupported(f"blocks {blocks} and amounts {amounts}")
    return blocks, amounts


def _moved(
    call: OperatorCall, x: Node, apart: list[int], perm: list[int], result: list[int]
) -> Node:
    """Return a value taken apart, transposed and put together."""
    apart, perm = joined(apart, perm)
    of = x.meta["edge"].quantization
    layout = NHWC if len(apart) == 4 else ROW_MAJOR
    moved = call.emit(transpose, call.reshaped(x, apart), perm, edge=Edge(of, layout))
    return call.reshaped(moved, result)


def joined(shape: Sequence[int], perm: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return a transpose of fewer dimensions moving the same bytes.

    Dimensions that stay adjacent are merged.
    """
    groups: list[list[int]] = []
    for dim in perm:
        if groups and groups[-1][-1] + 1 == dim:
            groups[-1].append(dim)
        else:
            groups.append([dim])
    in_order = sorted(groups)
    sizes = [math.prod(shape[dim] for dim in group) for group in in_order]
    return sizes, [in_order.index(group) for group in groups]
