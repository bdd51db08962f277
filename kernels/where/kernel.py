# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::where, declared in kernels/where/where.h."""

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.shapes import Dim, broadcast_strides, merged, padded
from kernels.common.tensor import DTYPES, MAX_RANK

_NAMES = ("mask", "a", "b")


@kernel("pl::where")
def where(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    output = call.output()
    size = DTYPES[output.dtype].bytes
    call.require(size <= 4, f"output is {output.dtype}, not of one, two or four bytes an element")
    dtypes = ("bool", output.dtype, output.dtype)
    operands = {n: call.tensor(n, dtype) for n, dtype in zip(_NAMES, dtypes, strict=True)}
    strides = [broadcast_strides(call, o.shape, output.shape) for o in operands.values()]
    loops = merged([Dim(size, tuple(s)) for size, *s in zip(output.shape, *strides, strict=True)])
    loops = padded(loops, MAX_RANK, operands=len(_NAMES))
    return KernelCall(
        function=f"pl_where_x{8 * size}",
        header="kernels/where/where.h",
        params={},
        dims={
            "size": tuple(loop.size for loop in loops),
            **{
                f"{name}_stride": tuple(loop.strides[i] for loop in loops)
                for i, name in enumerate(_NAMES)
            },
        },
        data={**operands, "output": output},
        in_place=tuple(
            (operand.name, output.name)
            for operand in operands.values()
            if operand.constant is None and operand.bytes == output.bytes
        ),
    )
