# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::cat, declared in kernels/cat/cat.h."""

import math
from collections.abc import Sequence

from kernels.common.kernel import Array, Isa, KernelCall, OpCall, Value, kernel
from kernels.common.rows import ByRows, Taps, row_count
from kernels.common.tensor import DTYPES


@kernel("pl::cat")
def cat(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    output = call.output()
    call.require(
        output.dtype in DTYPES,
        f"output is {output.dtype}; there are kernels for {', '.join(DTYPES)}",
    )
    axis = call.integer("dim", 0, len(output.shape) - 1)
    inputs = call.tensors("inputs", output.dtype)
    for index, value in enumerate(inputs):
        call.require(
            _without(value.shape, axis) == _without(output.shape, axis),
            f"inputs[{index}] has shape {list(value.shape)}, it does not go into "
            f"{list(output.shape)} along dim {axis}",
        )
    total = sum(value.shape[axis] for value in inputs)
    call.require(
        total == output.shape[axis],
        f"the inputs have {total} elements along dim {axis}, the output {output.shape[axis]}",
    )

    def step(value: Value) -> int:
        return math.prod(value.shape[axis:]) * DTYPES[value.dtype].bytes

    return KernelCall(
        function="pl_cat_x8",
        header="kernels/cat/cat.h",
        params={},
        dims={
            "inputs": len(inputs),
            "outer": math.prod(output.shape[:axis]),
            "output_step": step(output),
        },
        data={
            "inputs": Array(
                "const pl_cat_input",
                tuple({"address": value, "bytes": step(value)} for value in inputs),
            ),
            "output": output,
        },
        rows=_by_rows(inputs, output, axis),
    )


def _by_rows(inputs: Sequence[Value], output: Value, axis: int) -> ByRows | None:
    """Return the row streaming of a concatenation within rows."""
    count = row_count(output.shape)
    outer = math.prod(output.shape[:axis])
    if count == 1 or outer % count or any(row_count(v.shape) != count for v in inputs):
        return None
    taps = {f"inputs[{i}].address": Taps(count) for i in range(len(inputs))}
    return ByRows(count, taps, {"outer": outer // count})


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]
