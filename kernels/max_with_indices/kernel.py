# SPDX-License-Identifier: Apache-2.0
"""pl::max_with_indices and pl::topk on kernels/max_with_indices/max_with_indices.h."""

from collections.abc import Mapping

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.shapes import axis_dims, axis_size

_SUFFIXES = {"int8": "_s8", "int16": "_s16", "float32": "_f32"}


@kernel("pl::max_with_indices")
def max_with_indices(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    kept = (1,) if call.flag("keepdim") else ()
    return _kernel_call(call, "pl_max_with_indices", {}, kept)


@kernel("pl::topk")
def topk(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    k = call.integer("k", 1, axis_size(call, call.tensor("input").shape))
    params = {"k": k, "largest": int(call.flag("largest"))}
    return _kernel_call(call, "pl_topk", params, (k,))


def _kernel_call(
    call: OpCall, function: str, params: Mapping[str, int], size: tuple[int, ...]
) -> KernelCall:
    """A call with two outputs, where the dimension has a size of its own, or is left out."""
    source = call.tensor("input")
    call.require(source.dtype in _SUFFIXES, f"input is {source.dtype}, not int8, int16 or float32")
    values, indices = call.output(source.dtype, index=0), call.output("int32", index=1)
    dims = axis_dims(call, source.shape)
    axis = call.integer("dim")
    shape = (*source.shape[:axis], *size, *source.shape[axis + 1 :])
    call.require(
        values.shape == indices.shape == shape,
        f"outputs of shapes {[list(o.shape) for o in call.outputs]}, they should be {list(shape)}",
    )
    return KernelCall(
        function=function + _SUFFIXES[source.dtype],
        header="kernels/max_with_indices/max_with_indices.h",
        params=params,
        dims=dims,
        data={"input": source, "values": values, "indices": indices},
    )
