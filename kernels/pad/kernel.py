# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::pad, declared in kernels/pad/pad.h."""

from collections.abc import Sequence

from kernels.common.kernel import INT8_MAX, INT8_MIN, Isa, KernelCall, OpCall, Value, kernel
from kernels.common.quantization import activation_dtype
from kernels.common.rows import ByRows, Taps, first_axis, row_count
from kernels.common.shapes import contiguous_strides
from kernels.common.strided import strided_copy_dims
from kernels.common.tensor import MAX_RANK


@kernel("pl::pad")
def pad(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    dtype = activation_dtype(call, "input")
    source, output = call.tensor("input"), call.output(dtype)
    padding = call.integers("padding", 2 * len(source.shape), minimum=0)
    before, after = padding[0::2], padding[1::2]
    shape = tuple(b + size + a for b, size, a in zip(before, source.shape, after, strict=True))
    call.require(
        output.shape == shape, f"output has shape {list(output.shape)}, it should be {list(shape)}"
    )
    low, high = (0, 0) if dtype == "int16" else (INT8_MIN, INT8_MAX)
    value = call.integer("value", low, high)
    inside = source.shape
    if dtype == "int16":  # the bytes of an element are a dimension
        inside, shape, before = (*inside, 2), (*shape, 2), (*before, 0)
    strides = contiguous_strides(shape)
    interior = strided_copy_dims(
        inside,
        contiguous_strides(inside),
        strides,
        item_size=1,
        output_offset=sum(b * s for b, s in zip(before, strides, strict=True)),
    )
    call.require(
        len(interior["size"]) == MAX_RANK,  # type: ignore[arg-type]
        f"{dtype}{list(source.shape)} takes more than {MAX_RANK} nested loops",
    )
    return KernelCall(
        function="pl_pad_s8",
        header="kernels/pad/pad.h",
        params={"value": value, "row": 0},
        dims={"output_size": output.bytes, "interior": interior},
        data={"input": source, "output": output},
        rows=_by_rows(source, output, inside, shape, before),
    )


def _by_rows(
    source: Value,
    output: Value,
    inside: Sequence[int],
    shape: Sequence[int],
    before: Sequence[int],
) -> ByRows | None:
    """Return the row streaming of a pad: bytes `inside` within `shape`, after padding
    of `before`.
    """
    axis, count = first_axis(shape), row_count(output.shape)
    if count == 1 or first_axis(inside) != axis or row_count(source.shape) != inside[axis]:
        return None
    inner = inside[axis + 1 :]
    strides = contiguous_strides(shape)[axis + 1 :]
    interior = strided_copy_dims(
        inner,
        contiguous_strides(inner),
        strides,
        item_size=1,
        output_offset=sum(b * s for b, s in zip(before[axis + 1 :], strides, strict=True)),
    )
    return ByRows(
        count,
        {"input": Taps(inside[axis], pad=before[axis])},
        {"output_size": output.bytes // count, "interior": interior},
        place="row",
        params={"row": -before[axis]},
    )
