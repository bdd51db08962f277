# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for ATen's functions of one float32, declared in kernels/unary_f32/unary_f32.h."""

from functools import partial

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel

FUNCTIONS = {
    name: "pl_sqrt_values_f32" if name == "sqrt" else f"pl_{name}_f32"
    for name in (
        *("abs", "neg", "sign", "floor", "ceil", "trunc", "round", "sqrt", "rsqrt", "reciprocal"),
        *("exp", "expm1", "sigmoid", "tanh", "erf", "log", "log1p", "sin", "cos", "atan"),
    )
}


def _unary(call: OpCall, isa: Isa, function: str) -> KernelCall:
    del isa
    source, output = call.tensor("self", "float32"), call.output("float32")
    call.require(
        source.size == output.size, f"{source.size} inputs do not give {output.size} outputs"
    )
    return KernelCall(
        function=function,
        header="kernels/unary_f32/unary_f32.h",
        params={},
        dims={"size": output.size},
        data={"input": source, "output": output},
        in_place=((source.name, output.name),),
    )


for _name, _function in FUNCTIONS.items():
    kernel(f"aten::{_name}.out")(partial(_unary, function=_function))
