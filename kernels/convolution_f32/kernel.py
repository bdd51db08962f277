# SPDX-License-Identifier: Apache-2.0
"""aten::convolution of float32 on kernels/convolution_f32/convolution_f32.h."""

import math

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel

_AXES = 3  # PL_CONVOLUTION_AXES


@kernel("aten::convolution.out")
def convolution(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    source, weight = call.tensor("input", "float32"), call.tensor("weight", "float32")
    output = call.output("float32")
    axes, groups = len(source.shape) - 2, call.integer("groups", minimum=1)
    call.require(
        1 <= axes <= _AXES and len(weight.shape) == len(output.shape) == axes + 2,
        f"input {list(source.shape)}, weight {list(weight.shape)} and output "
        f"{list(output.shape)} are no convolution over one to {_AXES} dimensions",
    )
    transposed = call.flag("transposed")
    inputs, outputs = source.shape[1] // groups, output.shape[1] // groups
    channels = (groups * inputs, outputs) if transposed else (groups * outputs, inputs)
    call.require(
        weight.shape[:2] == channels and source.shape[1] == groups * inputs,
        f"weight {list(weight.shape)} does not make {list(output.shape)} of {list(source.shape)}",
    )
    names = {"stride": 1, "padding": 0, "dilation": 1}
    windows = {
        name: _padded(call.integers(name, axes, minimum), minimum)
        for name, minimum in names.items()
    }
    bias = call.optional_tensor("bias", "float32", groups * outputs)
    sizes = {
        "input": _padded(source.shape[2:], 1),
        "kernel": _padded(weight.shape[2:], 1),
        "output": _padded(output.shape[2:], 1),
    }
    moves = {*windows["stride"], *(1 + padding for padding in windows["padding"])}
    if moves == {math.prod(sizes["kernel"])} == {1}:
        # One tap for each element: the image is one row.
        row = (1, 1, math.prod(sizes["input"]))
        sizes = {"input": row, "kernel": (1, 1, 1), "output": row}
        windows = {name: (least,) * _AXES for name, least in names.items()}
    return KernelCall(
        function="pl_convolution_f32",
        header="kernels/convolution_f32/convolution_f32.h",
        params={**windows, "transposed": int(transposed)},
        dims={
            "batches": source.shape[0],
            "groups": groups,
            "inputs": inputs,
            "outputs": outputs,
            **sizes,
        },
        data={"input": source, "weight": weight, "bias": bias, "output": output},
    )


def _padded(values: tuple[int, ...], fill: int) -> tuple[int, ...]:
    return (fill,) * (_AXES - len(values)) + values
