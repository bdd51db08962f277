# SPDX-License-Identifier: Apache-2.0
"""aten::div, add, sub, mul, minimum, maximum and comparisons of float32 on
kernels/binary_f32/binary_f32.h.
"""

from functools import partial

from kernels.common.kernel import Isa, KernelCall, OpCall, kernel
from kernels.common.shapes import Broadcast


@kernel("aten::div.out")
def div(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _binary(call, "pl_div_f32")


@kernel("aten::add.out")
def add(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    call.require(call.real("alpha") == 1.0, f"alpha is {call.real('alpha')}, not 1")
    return _binary(call, "pl_add_f32")


@kernel("aten::sub.out")
def sub(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    call.require(call.real("alpha") == 1.0, f"alpha is {call.real('alpha')}, not 1")
    return _binary(call, "pl_sub_f32")


@kernel("aten::mul.out")
def mul(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _binary(call, "pl_mul_f32")


@kernel("aten::minimum.out")
def minimum(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _binary(call, "pl_minimum_f32")


@kernel("aten::maximum.out")
def maximum(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _binary(call, "pl_maximum_f32")


def _compare(call: OpCall, isa: Isa, function: str) -> KernelCall:
    del isa
    return _binary(call, function, "bool")


for _name, _function in (
    ("lt", "pl_less_f32"),
    ("le", "pl_less_or_equal_f32"),
    ("eq", "pl_equal_f32"),
    ("ne", "pl_not_equal_f32"),
):
    kernel(f"aten::{_name}.Tensor_out")(partial(_compare, function=_function))


def _binary(call: OpCall, function: str, dtype: str = "float32") -> KernelCall:
    output = call.output(dtype)
    a, b = call.tensor("self", "float32"), call.tensor("other", "float32")
    broadcast = Broadcast.of(call, a, b, may_swap=False)
    return KernelCall(
        function=function,
        header="kernels/binary_f32/binary_f32.h",
        params={},
        dims=broadcast.dims(),
        data={"a": a, "b": b, "output": output},
        in_place=broadcast.in_place(output) if dtype == "float32" else (),
    )
