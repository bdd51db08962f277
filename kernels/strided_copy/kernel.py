# SPDX-License-Identifier: Apache-2.0
"""pl::transpose and pl::slice on kernels/strided_copy/strided_copy.h."""

from kernels.common.kernel import Field, Isa, KernelCall, OpCall, Value, kernel
from kernels.common.shapes import contiguous_strides
from kernels.common.strided import permuted, strided_copy_dims
from kernels.common.tensor import DTYPES

_ELEMENT_BYTES = (1, 4)
"""There is a function for each."""


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
    check_movable(call, source, shape)
    dims = strided_copy_dims(shape, input_strides, output_strides, DTYPES[source.dtype].bytes)
    return copy_call(call, source, dims)


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
    check_movable(call, source, tuple(shape))
    strides = list(contiguous_strides(source.shape))
    offset = start * strides[axis]
    strides[axis] *= step
    dims = strided_copy_dims(
        shape, strides, contiguous_strides(shape), DTYPES[source.dtype].bytes, input_offset=offset
    )
    return copy_call(call, source, dims)


def check_movable(call: OpCall, source: Value, shape: tuple[int, ...]) -> None:
    """That the output has this shape and elements that there is a function for."""
    movable = [name for name, dtype in DTYPES.items() if dtype.bytes in _ELEMENT_BYTES]
    call.require(
        source.dtype in movable,
        f"input is {source.dtype}; there are kernels for {', '.join(movable)}",
    )
    output = call.output(source.dtype)
    call.require(
        output.shape == shape, f"output has shape {list(output.shape)}, it should be {list(shape)}"
    )


def copy_call(call: OpCall, source: Value, dims: dict[str, Field]) -> KernelCall:
    """Moves elements as the loops of strided_copy_dims say."""
    return KernelCall(
        function=f"pl_strided_copy_x{8 * DTYPES[source.dtype].bytes}",
        header="kernels/strided_copy/strided_copy.h",
        params={},
        dims=dims,
        data={"input": source, "output": call.output()},
    )
