# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::bmm, declared in kernels/bmm/bmm.h."""

import numpy as np

from kernels.common.gemm_taps import LEAST_DEPTH, SIGNED_WORDS, block_of, words
from kernels.common.kernel import (
    INT8_MAX,
    INT8_MIN,
    INT32_MAX,
    AnyArray,
    Isa,
    KernelCall,
    OpCall,
    Value,
    kernel,
)
from kernels.common.quantization import (
    SUFFIXES,
    activation_dtype,
    activation_range,
    factor,
    zero_point,
)
from kernels.common.shapes import broadcast_blocks, contiguous_strides
from kernels.common.steps import Steps
from kernels.common.wide import MAX_SUM, wide_factor

COLUMNS = 4
"""PL_BMM_COLUMNS of bmm.h."""

_SPAN = INT8_MAX - INT8_MIN

_LEAST_ROWS = 4
"""Fewer rows: expanding the columns takes longer than the multiplication saves."""


@kernel("pl::bmm")
def bmm(call: OpCall, isa: Isa) -> KernelCall:
    dtype = activation_dtype(call, "a")
    wide = dtype == "int16"
    a, b, output = call.tensor("a", dtype), call.tensor("b", dtype), call.output(dtype)
    transpose_b = call.flag("transpose_b")
    call.require(
        min(len(a.shape), len(b.shape), len(output.shape)) >= 2, "a product is of matrices"
    )
    a_shape, a_strides = _ordered(call, "a_order", a)
    b_shape, b_strides = _ordered(call, "b_order", b)
    call.require(a_strides[-1] == 1 or a_shape[-1] == 1, "the rows of a do not lie together")
    rows, depth = a_shape[-2:]
    inner, columns = reversed(b_shape[-2:]) if transpose_b else b_shape[-2:]
    call.require(
        inner == depth and output.shape[-2:] == (rows, columns),
        f"{list(a_shape)} times {list(b_shape)}{' transposed' if transpose_b else ''} "
        f"does not give {list(output.shape)}",
    )
    if wide:
        multiplier, shift = wide_factor(call)
        call.require(depth * 2**30 <= MAX_SUM, f"sums of {depth} products reach 2^47")
    else:
        multiplier, shift = factor(call, "multiplier", "shift")
        call.require(
            depth * _SPAN * (_SPAN + 1) <= INT32_MAX, f"sums of {depth} products overflow int32"
        )
    # Columns on Helium are copied unchanged, and only if they are not contiguous.
    depth_stride, column_stride = b_strides[-2:]
    if transpose_b:
        depth_stride, column_stride = column_stride, depth_stride
    column_bytes = (0 if depth_stride == 1 else depth) if isa == "mve" else 2 * depth
    down = (
        not wide
        and isa != "mve"
        and not call.small
        and -20 <= shift < 0
        and depth * _SPAN**2 < 2**30
    )
    plain = KernelCall(
        function=f"pl_bmm_{'down_' * down}{SUFFIXES[dtype]}",
        header=f"kernels/bmm/bmm{'_s16' if wide else ''}.h",
        params={
            "a_zero_point": zero_point(call, "a_zero_point", dtype),
            "b_zero_point": zero_point(call, "b_zero_point", dtype),
            "output_zero_point": zero_point(call, "output_zero_point", dtype),
            "multiplier": multiplier,
            "shift": shift,
            **activation_range(call, dtype),
        },
        dims={
            "batch": broadcast_blocks(
                call,
                (a_shape[:-2], a_strides[:-2]),
                (b_shape[:-2], b_strides[:-2]),
                output.shape[:-2],
            ),
            "rows": rows,
            "depth": depth,
            "columns": columns,
            "a_row_stride": a_strides[-2],
            "b_depth_stride": depth_stride,
            "b_column_stride": column_stride,
        },
        data={"a": a, "b": b, "output": output},
        scratch=0 if wide else COLUMNS * column_bytes,
    )
    by_taps = isa == "thumb1" and not wide and not call.small
    return _by_taps(call, plain, np.array([multiplier]), np.array([shift])) if by_taps else plain


def _by_taps(call: OpCall, plain: KernelCall, multiplier: AnyArray, shift: AnyArray) -> KernelCall:
    """Return the product by pairs of values, with `plain` as its fallback call if it is exact."""
    rows, depth, columns = (plain.dims[name] for name in ("rows", "depth", "columns"))
    assert isinstance(rows, int) and isinstance(depth, int) and isinstance(columns, int)
    low, top = activation_range(call).values()
    steps = Steps.of(multiplier, shift, zero_point(call, "output_zero_point"), low, top)
    few = rows < _LEAST_ROWS or depth < LEAST_DEPTH
    if few or steps is None or depth * 2 * _SPAN**2 + abs(int(steps.first[0])) >= INT32_MAX:
        return plain
    stage = np.stack([steps.turn, -steps.less, steps.limit, steps.high, steps.fine, steps.offset])
    block = block_of(columns, depth + -depth % 4, SIGNED_WORDS)
    if block is None:
        return plain
    zero_points = ("a_zero_point", "b_zero_point", "activation_min", "activation_max")
    return KernelCall(
        function="pl_bmm_taps_s8",
        header="kernels/bmm/bmm_taps.h",
        params={
            **{name: plain.params[name] for name in zero_points},
            "first": int(steps.first[0]),
        },
        dims={**plain.dims, "expanded": block.channels},
        data={
            "a": plain.data["a"],
            "b": plain.data["b"],
            "stage": words(stage),
            "output": plain.data["output"],
        },
        scratch=block.scratch,
        fallback=plain,
    )


def _ordered(call: OpCall, name: str, operand: Value) -> tuple[list[int], list[int]]:
    """Return the shape and the strides of an operand with permuted dimensions."""
    rank, strides = len(operand.shape), contiguous_strides(operand.shape)
    order = call.integers(name) or tuple(range(rank))
    call.require(
        sorted(order) == list(range(rank)), f"{name} is {list(order)} of {rank} dimensions"
    )
    return [operand.shape[d] for d in order], [strides[d] for d in order]
