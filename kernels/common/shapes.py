# SPDX-License-Identifier: Apache-2.0
"""Merging of dimensions: jointly contiguous dimensions are one dimension for a kernel."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kernels.common.kernel import Field, OpCall, Value

BROADCAST_DIMS = 5
"""PL_BROADCAST_DIMS of broadcast.h."""

REDUCTION_DIMS = 3
"""PL_REDUCTION_DIMS of reduction.h."""


@dataclass(frozen=True)
class Dim:
    """One loop: how often, and by how much each operand moves (in elements)."""

    size: int
    strides: tuple[int, ...]


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def merged(dims: Sequence[Dim]) -> list[Dim]:
    """Return equal loops, outermost first. Neighbours are merged where all strides permit it."""
    result: list[Dim] = []
    for dim in dims:
        if dim.size == 1:
            continue
        if result and all(
            outer == inner * dim.size
            for outer, inner in zip(result[-1].strides, dim.strides, strict=True)
        ):
            result[-1] = Dim(result[-1].size * dim.size, dim.strides)
        else:
            result.append(dim)
    return result


def padded(dims: Sequence[Dim], count: int, operands: int) -> list[Dim]:
    """Return exactly `count` loops, with loops of one pass in front."""
    return [Dim(1, (0,) * operands)] * (count - len(dims)) + list(dims)


@dataclass(frozen=True)
class Broadcast:
    """An elementwise op of two operands.

    If operands may be swapped, `a` never repeats in the innermost loop. `swapped` is then True if
    the kernel's a is the call's b. `each` has a loop for each dimension of the result.
    """

    a: Value
    b: Value
    swapped: bool
    each: tuple[Dim, ...]

    @classmethod
    def of(cls, call: OpCall, a: Value, b: Value, may_swap: bool = True) -> "Broadcast":
        output = call.output().shape
        a_strides = broadcast_strides(call, a.shape, output)
        b_strides = broadcast_strides(call, b.shape, output)
        strides = zip(a_strides, b_strides, strict=True)
        each = tuple(Dim(*dim) for dim in zip(output, strides, strict=True))
        few = merged(each)
        call.require(
            len(few) <= BROADCAST_DIMS,
            f"broadcasting {list(a.shape)} and {list(b.shape)} takes {len(few)} nested loops, "
            f"the kernels have {BROADCAST_DIMS}; expand one operand before",
        )
        if may_swap and few and few[-1].strides[0] == 0:
            swapped = (Dim(dim.size, (dim.strides[1], dim.strides[0])) for dim in each)
            return cls(b, a, True, tuple(swapped))
        return cls(a, b, False, each)

    @property
    def is_flat(self) -> bool:
        """Return True if one loop covers all elements."""
        return len(merged(self.each)) <= 1

    def dims(self) -> dict[str, Field]:
        """Return the fields of pl_broadcast_dims."""
        return broadcast_loops(self.each)

    def in_place(self, output: Value) -> tuple[tuple[str, str], ...]:
        """Return permissions to overwrite an operand that has an element for every result."""
        operands = [v for v in (self.a, self.b) if v.constant is None and v.size == output.size]
        return tuple((operand.name, output.name) for operand in operands)


def broadcast_loops(dims: Sequence[Dim]) -> dict[str, Field]:
    """Return the fields of pl_broadcast_dims for loops over two operands."""
    return _broadcast_fields(merged(dims))


def broadcast_blocks(
    call: OpCall,
    a: tuple[Sequence[int], int | Sequence[int]],
    b: tuple[Sequence[int], int | Sequence[int]],
    output: Sequence[int],
) -> dict[str, Field]:
    """Return the fields of pl_broadcast_dims to go from block to block, such as rows or matrices.

    The innermost loop is the kernel's, and has size 1 here.

    Args:
      call: for messages.
      a: number of the operand's blocks in each dimension, and the elements of one if they
        are contiguous; else the strides of the dimensions.
      b: likewise.
      output: blocks of the result.
    """
    strides = [
        [size * stride for stride in broadcast_strides(call, shape, output)]
        if isinstance(size, int)
        else broadcast_strides(call, shape, output, size)
        for shape, size in (a, b)
    ]
    loops = merged([Dim(*dim) for dim in zip(output, zip(*strides, strict=True), strict=True)])
    call.require(
        len(loops) < BROADCAST_DIMS,
        f"broadcasting {list(a[0])} and {list(b[0])} takes {len(loops)} nested loops, the kernel "
        f"has {BROADCAST_DIMS - 1}; expand one operand before",
    )
    return _broadcast_fields([*loops, Dim(1, (0, 0))])


def _broadcast_fields(few: Sequence[Dim]) -> dict[str, Field]:
    loops = padded(few, BROADCAST_DIMS, operands=2)
    return {
        "size": tuple(dim.size for dim in loops),
        "a_stride": tuple(dim.strides[0] for dim in loops),
        "b_stride": tuple(dim.strides[1] for dim in loops),
    }


def reduction_dims(
    call: OpCall, source: Value, dim: Sequence[int], keepdim: bool
) -> dict[str, Field]:
    """Return the fields of pl_reduction_dims; `dim` may be negative, and empty to mean all.

    The neighbours of a group have one stride, so rank 6 takes three loops at most.
    """
    rank = len(source.shape)
    call.require(
        all(-rank <= d < rank for d in dim), f"dim {list(dim)} does not fit {rank} dimensions"
    )
    reduced = {d % rank for d in dim} if dim else set(range(rank))
    kept = [
        1 if d in reduced else size
        for d, size in enumerate(source.shape)
        if keepdim or d not in reduced
    ]
    output = call.output().shape
    call.require(output == tuple(kept), f"output has shape {list(output)}, it should be {kept}")
    return reduction_loops(source.shape, reduced)


def reduction_loops(shape: Sequence[int], reduced: set[int]) -> dict[str, Field]:
    """Return the fields of pl_reduction_dims for a tensor with these reduced dimensions."""
    strides = contiguous_strides(shape)
    fields: dict[str, Field] = {}
    for name, dims in (("kept", set(range(len(shape))) - reduced), ("reduced", reduced)):
        few = merged([Dim(shape[d], (strides[d],)) for d in sorted(dims)])
        loops = padded(few, REDUCTION_DIMS, operands=1)
        fields[name] = tuple(loop.size for loop in loops)
        fields[f"{name}_stride"] = tuple(loop.strides[0] for loop in loops)
    return fields


def axis_size(call: OpCall, shape: Sequence[int]) -> int:
    """Return the size of the dimension given by argument `dim`."""
    return shape[call.integer("dim", 0, len(shape) - 1)]


def axis_dims(call: OpCall, shape: Sequence[int]) -> dict[str, Field]:
    """Return the input as [outer, size, inner] around argument `dim`."""
    axis = call.integer("dim", 0, len(shape) - 1)
    return {
        "outer": math.prod(shape[:axis]),
        "size": shape[axis],
        "inner": math.prod(shape[axis + 1 :]),
    }


def broadcast_strides(
    call: OpCall, shape: Sequence[int], output: Sequence[int], strides: Sequence[int] | None = None
) -> list[int]:
    """Return an operand's strides in the loops over an output; strides: its own, if not
    contiguous.
    """
    missing = len(output) - len(shape)
    call.require(
        missing >= 0 and all(s in (1, o) for s, o in zip(shape, output[missing:], strict=True)),
        f"an operand of shape {list(shape)} does not broadcast to {list(output)}",
    )
    strides = contiguous_strides(shape) if strides is None else strides
    return [0] * missing + [
        stride if size > 1 else 0 for size, stride in zip(shape, strides, strict=True)
    ]
