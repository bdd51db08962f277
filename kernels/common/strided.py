# SPDX-License-Identifier: Apache-2.0
"""Loops of kernels/strided_copy/strided_copy.h."""

import math
from collections.abc import Sequence

from kernels.common.kernel import Field
from kernels.common.shapes import Dim, contiguous_strides, merged, padded
from kernels.common.tensor import MAX_RANK

# Instructions, roughly: of a row's start, of a byte of a dense run, of an element otherwise.
_ROW, _RUN_START, _RUN_BYTE, _ELEMENT = 20.0, 15.0, 0.6, 3.5


def strided_copy_dims(
    shape: Sequence[int],
    input_strides: Sequence[int],
    output_strides: Sequence[int],
    item_size: int,
    input_offset: int = 0,
    output_offset: int = 0,
) -> dict[str, Field]:
    """Return the fields of pl_strided_copy_dims for a copy of `shape` elements.

    The innermost loop is the one with the cheapest copy: a dense run, or else a long one.
    """
    dims = strided_loops(shape, input_strides, output_strides, item_size)
    loops = padded(dims, MAX_RANK, operands=2)
    return {
        "size": tuple(loop.size for loop in loops),
        "input_stride": tuple(loop.strides[0] for loop in loops),
        "output_stride": tuple(loop.strides[1] for loop in loops),
        "input_offset": input_offset,
        "output_offset": output_offset,
    }


def copy_cost(
    shape: Sequence[int],
    input_strides: Sequence[int],
    output_strides: Sequence[int],
    item_size: int,
) -> float | None:
    """Return the approximate instructions of that copy; None if it needs more loops
    than there are.
    """
    dims = strided_loops(shape, input_strides, output_strides, item_size)
    return _cost(dims, len(dims) - 1, item_size) if 0 < len(dims) <= MAX_RANK else None


def strided_loops(
    shape: Sequence[int],
    input_strides: Sequence[int],
    output_strides: Sequence[int],
    item_size: int,
) -> list[Dim]:
    """Return as few loops as possible, the cheapest innermost."""
    strides = zip(input_strides, output_strides, strict=True)
    dims = merged([Dim(*dim) for dim in zip(shape, strides, strict=True)])
    if dims:
        innermost = min(range(len(dims)), key=lambda i: _cost(dims, i, item_size))
        dims.append(dims.pop(innermost))
    return dims


def _cost(dims: Sequence[Dim], innermost: int, item_size: int) -> float:
    inner = dims[innermost]
    rows = math.prod(dim.size for dim in dims) // inner.size
    if inner.strides == (1, 1):
        return rows * (_ROW + _RUN_START + _RUN_BYTE * item_size * inner.size)
    return rows * (_ROW + _ELEMENT * inner.size)


def permuted(
    shape: Sequence[int], perm: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return shape, input strides and output strides of a transpose."""
    strides = contiguous_strides(shape)
    result = tuple(shape[d] for d in perm)
    return result, tuple(strides[d] for d in perm), contiguous_strides(result)
