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
from kernels.common.quantization import (
    LIMITS,
    SUFFIXES,
    activation_dtype,
    activation_range,
    factor,
    zero_point,
)
from kernels.common.rows import broadcast_by_rows
from kernels.common.shapes import Broadcast
from kernels.common.wide import wide_factor

_LARGEST_DIFFERENCE = INT8_MAX - INT8_MIN


@kernel("pl::maximum")
def maximum(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _binary(call, "maximum", {}, may_swap=True)


@kernel("pl::minimum")
def minimum(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _binary(call, "minimum", {}, may_swap=True)


@kernel("pl::less")
def less(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _compare(call, "less", {})


@kernel("pl::equal")
def equal(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    return _compare(call, "equal", {"negated": int(call.flag("negated"))})


@kernel("pl::div")
def div(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    dtype = activation_dtype(call, "a")
    multiplier, shift = _factor(call, dtype)
    params = {
        "a_zero_point": zero_point(call, "a_zero_point", dtype),
        "b_zero_point": zero_point(call, "b_zero_point", dtype),
        "output_zero_point": zero_point(call, "output_zero_point", dtype),
        "multiplier": multiplier,
        "shift": shift,
        **activation_range(call, dtype),
    }
    return _binary(call, "div", params)


@kernel("pl::prelu")
def prelu(call: OpCall, isa: Isa) -> KernelCall:
    dtype = activation_dtype(call, "input")
    multiplier, shift = _factor(call, dtype)
    least, greatest = LIMITS[dtype]
    one = call.integer("one", 1, INT32_MAX // _LARGEST_DIFFERENCE)
    down = (
        dtype == "int8"
        and isa != "mve"
        and not call.small
        and -20 <= shift < 0
        and _LARGEST_DIFFERENCE * max(one, -INT8_MIN) < 2**30
    )
    params = {
        "a_zero_point": zero_point(call, "input_zero_point", dtype),
        "b_zero_point": 0,
        "output_zero_point": zero_point(call, "output_zero_point", dtype),
        "multiplier": multiplier,
        "shift": shift,
        "activation_min": least,
        "activation_max": greatest,
        "one": one,
    }
    return _binary(call, "prelu_down" if down else "prelu", params, a="input", b="slope")


def _factor(call: OpCall, dtype: str) -> tuple[int, int]:
    return wide_factor(call) if dtype == "int16" else factor(call, "multiplier", "shift")


def _compare(call: OpCall, function: str, params: Mapping[str, Field]) -> KernelCall:
    if activation_dtype(call, "a") == "int16":
        factors = call.constant("table", "int32", rank=1)
        call.require(factors.size == 2, f"table has {factors.size} entries, not 2 factors")
        return _binary(call, function, params, Constant(factors), output_type="bool")
    table = call.constant("table", "int16", rank=1)
    call.require(table.size == 256, f"table has {table.size} entries, not 256")
    return _binary(call, function, params, Constant(table), output_type="bool")


def _binary(
    call: OpCall,
    function: str,
    params: Mapping[str, Field],
    table: Constant | None = None,
    output_type: str | None = None,
    a: str = "a",
    b: str = "b",
    may_swap: bool = False,
) -> KernelCall:
    dtype = activation_dtype(call, a)
    output = call.output(output_type or dtype)
    operands = call.tensor(a, dtype), call.tensor(b, dtype)
    broadcast = Broadcast.of(call, *operands, may_swap=may_swap)
    wide = dtype == "int16"
    return KernelCall(
        function=f"pl_{function}_{SUFFIXES[dtype]}",
        header=f"kernels/binary/binary{'_s16' if wide else ''}.h",
        params=params,
        dims=broadcast.dims(),
        data={
            "a": broadcast.a,
            "b": broadcast.b,
            "factors" if wide else "table": table,
            "output": output,
        },
        in_place=broadcast.in_place(output) if output.dtype == dtype or not wide else (),
        rows=broadcast_by_rows(broadcast, output),
    )
