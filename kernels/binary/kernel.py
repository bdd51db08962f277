# SPDX-License-Identifier: Apache-2.0
"""pl::maximum, minimum, less, equal, div and prelu on kernels/binary/binary.h."""

from collections.abc import Mapping

from kernels.common.kernel import (
    INT8_MAX,
    INT8_MIN,
    INT32_MAX,
    Constant,
    Field,
    Isa,
    KernelCall,
    OpCall,
    kernel,
)
from kernels.common.quantization import activation_range, factor, zero_point
from kernels.common.shapes import Broadcast

_LARGEST_DIFFERENCE = INT8_MAX - INT8_MIN


@kernel("pl::maximum")
def maximum(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _binary(call, "pl_maximum_s8", {})


@kernel("pl::minimum")
def minimum(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _binary(call, "pl_minimum_s8", {})


@kernel("pl::less")
def less(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _compare(call, "pl_less_s8", {})


@kernel("pl::equal")
def equal(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _compare(call, "pl_equal_s8", {"negated": int(call.flag("negated"))})


@kernel("pl::div")
def div(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    multiplier, shift = factor(call, "multiplier", "shift")
    params = {
        "a_zero_point": zero_point(call, "a_zero_point"),
        "b_zero_point": zero_point(call, "b_zero_point"),
        "output_zero_point": zero_point(call, "output_zero_point"),
        "multiplier": multiplier,
        "shift": shift,
        **activation_range(call),
    }
    return _binary(call, "pl_div_s8", params)


@kernel("pl::prelu")
def prelu(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    multiplier, shift = factor(call, "multiplier", "shift")
    params = {
        "a_zero_point": zero_point(call, "input_zero_point"),
        "b_zero_point": 0,
        "output_zero_point": zero_point(call, "output_zero_point"),
        "multiplier": multiplier,
        "shift": shift,
        "activation_min": INT8_MIN,
        "activation_max": INT8_MAX,
        "one": call.integer("one", 1, INT32_MAX // _LARGEST_DIFFERENCE),
    }
    return _binary(call, "pl_prelu_s8", params, a="input", b="slope")


def _compare(call: OpCall, function: str, params: Mapping[str, Field]) -> KernelCall:
    table = call.constant("table", "int16", rank=1)
    call.require(table.size == 256, f"table has {table.size} entries, not 256")
    return _binary(call, function, params, Constant(table), output_type="bool")


def _binary(
    call: OpCall,
    function: str,
    params: Mapping[str, Field],
    table: Constant | None = None,
    output_type: str = "int8",
    a: str = "a",
    b: str = "b",
) -> KernelCall:
    output = call.output(output_type)
    operands = call.tensor(a, "int8"), call.tensor(b, "int8")
    broadcast = Broadcast.of(call, *operands, may_swap=False)
    return KernelCall(
        function=function,
        header="kernels/binary/binary.h",
        params=params,
        dims=broadcast.dims(),
        data={"a": broadcast.a, "b": broadcast.b, "table": table, "output": output},
        in_place=broadcast.in_place(output),
    )
