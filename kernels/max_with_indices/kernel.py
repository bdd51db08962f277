# SPDX-License-Identifier: Apache-2.0
"""pl::max_with_indices and pl::topk on kernels/max_with_indices/max_with_indices.h."""

from collections.abc import Mapping

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.shapes import axis_dims, axis_size

_SUFFIXES = {"int8": "_s8", "int16": "_s16", "float32": "_f32"}
_OF_TOPK = {**_SUFFIXES, "int32": "_s32"}


@kernel("pl::max_with_indices")
def max_with_indices(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    kept = (1,) if call.flag("keepdim") else ()
    return _kernel_call(call, "pl_max_with_indices", _SUFFIXES, {}, kept)


@kernel("pl::topk")
def topk(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    k = call.integer("k", 1, axis_size(call, call.tensor("input").shape))
    params = {"k": k, "largest": int(call.flag("largest"))}
    return _kernel_call(call, "pl_topk", _OF_TOPK, params, (k,))


def _kernel_call(
    call: OpCall,
    function: str,
    suffixes: Mapping[str, str],
    params: Mapping[str, int],
    size: tuple[int, ...],
) -> KernelCall:
    """Return a call with two outputs. The dimension has a size of its own, or is left out."""
    source = call.tensor("input")
    *others, last = suffixes
    call.require(
        source.dtype in suffixes, f"input is {source.dtype}, not {', '.join(others)} or {last}"
    )
    values, indices = call.output(source.dtype, index=0), call.output("int32", index=1)
    dims = axis_dims(call, source.shape)
    axis = call.integer("dim")
    shape = (*source.shape[:axis], *size, *source.shape[axis + 1 :])
    call.require(
        values.shape == indices.shape == shape,
        f"outputs of shapes {[list(o.shape) for o in call.outputs]}, they should be {list(shape)}",
    )
    return KernelCall(
        function=function + suffixes[source.dtype],
        header="kernels/max_with_indices/max_with_indices.h",
        params=params,
        dims=dims,
        data={"input": source, "values": values, "indices": indices},
    )
