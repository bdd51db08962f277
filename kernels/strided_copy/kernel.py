# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::transpose and pl::slice, declared in kernels/strided_copy/strided_copy.h."""

from collections.abc import Sequence

from kernels.common.kernel import Field, Isa, KernelCall, OpCall, Value, kernel
from kernels.common.rows import ByRows, Taps, first_axis, row_count
from kernels.common.shapes import contiguous_strides
from kernels.common.strided import permuted, strided_copy_dims, strided_loops
from kernels.common.tensor import DTYPES, MAX_RANK


@kernel("pl::transpose")
def transpose(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source = call.tensor("input")
    perm = call.integers("perm", len(source.shape))
    call.require(
        sorted(perm) == list(range(len(source.shape))),
        f"perm {list(perm)} does not name each dimension of {list(source.shape)} once",
    )
    shape, input_strides, output_strides = permuted(source.shape, perm)
    check_output(call, source, shape)
    return copy_call(call, source, shape, input_strides, output_strides)


@kernel("pl::slice")
def slice_(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source = call.tensor("input")
    axis = call.integer("dim", 0, len(source.shape) - 1)
    start, end = call.integer("start"), call.integer("end")
    step = call.integer("step", minimum=1)
    call.require(
        0 <= start < end <= source.shape[axis],
        f"[{start}:{end}] is not a range of the {source.shape[axis]} elements of dim {axis}",
    )
    shape = list(source.shape)
    shape[axis] = -(-(end - start) // step)
    check_output(call, source, tuple(shape))
    strides = list(contiguous_strides(source.shape))
    offset = start * strides[axis]
    strides[axis] *= step
    return copy_call(call, source, shape, strides, contiguous_strides(shape), offset)


def check_output(call: OpCall, source: Value, shape: tuple[int, ...]) -> None:
    """Raise KernelError if the output does not have the source's elements in this shape."""
    output = call.output(source.dtype)
    call.require(
        output.shape == shape, f"output has shape {list(output.shape)}, it should be {list(shape)}"
    )


def copy_call(
    call: OpCall,
    source: Value,
    shape: Sequence[int],
    input_strides: Sequence[int],
    output_strides: Sequence[int],
    input_offset: int = 0,
) -> KernelCall:
    """Return a copy of `shape` elements, of four bytes or of one.

    Elements of two bytes become a loop of their own. If this is one loop too many, elements of two
    bytes are copied.
    """
    size = DTYPES[source.dtype].bytes
    loops = tuple(shape), tuple(input_strides), tuple(output_strides)
    if size == 2 and len(strided_loops(*loops, size)) < MAX_RANK:
        loops = (
            (*shape, size),
            (*(size * stride for stride in input_strides), 1),
            (*(size * stride for stride in output_strides), 1),
        )
        input_offset, size = size * input_offset, 1
    dims: dict[str, Field] = strided_copy_dims(*loops, size, input_offset)
    return KernelCall(
        function=f"pl_strided_copy_x{8 * size}",
        header="kernels/strided_copy/strided_copy.h",
        params={},
        dims=dims,
        data={"input": source, "output": call.output()},
        rows=_within_rows(source, call.output(), *loops, input_offset, size),
    )


def _within_rows(
    source: Value,
    output: Value,
    shape: Sequence[int],
    input_strides: Sequence[int],
    output_strides: Sequence[int],
    input_offset: int,
    size: int,
) -> ByRows | None:
    """Return copies of single rows. Arguments as in copy_call, in `size` bytes."""
    count, axis = row_count(output.shape), first_axis(shape)
    if count == 1 or shape[axis] != count or row_count(source.shape) != count:
        return None
    rows = source.bytes // count // size, output.bytes // count // size
    if (input_strides[axis], output_strides[axis]) != rows or input_offset >= rows[0]:
        return None
    dims = strided_copy_dims(
        shape[axis + 1 :],
        input_strides[axis + 1 :],
        output_strides[axis + 1 :],
        size,
        input_offset,
    )
    return ByRows(count, {"input": Taps(count)}, dims)
