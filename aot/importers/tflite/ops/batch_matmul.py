# SPDX-License-Identifier: Apache-2.0
"""Import of BATCH_MATMUL of two computed matrices, or a constant one."""

from __future__ import annotations

from ethosu.vela.tflite.BatchMatMulOptions import BatchMatMulOptions
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.importers.tflite.arithmetic import float32, sums_multiplier
from aot.importers.tflite.call import OperatorCall, Unsupported
from kernels.bmm.op import bmm
from kernels.strided_copy.op_transpose import transpose


def batch_matmul(call: OperatorCall) -> Node:
    options = call.options(BatchMatMulOptions)
    a, b, out = call.value(0), call.value(1), call.quantization
    of_a, of_b = call.of(a), call.of(b)
    rank = len(shape_of(a))
    if rank < 2 or len(shape_of(b)) < 2:
        raise Unsupported(
            f"its operands are not matrices: {list(shape_of(a))} times {list(shape_of(b))}"
        )
    if options.AdjX():
        order = [*range(rank - 2), rank - 1, rank - 2]
        a = call.emit(transpose, a, order, edge=a.meta["edge"])
    transposed = bool(options.AdjY())
    if shape_of(a)[-1] != shape_of(b)[-1 if transposed else -2]:
        raise Unsupported(f"the inner sizes differ: {list(shape_of(a))} times {list(shape_of(b))}")
    # The product of scales is a float32 in TFLite.
    real = float32(of_a.scale * of_b.scale) / out.scale
    return call.emit(
        bmm,
        a,
        b,
        transposed,
        [],
        [],
        of_a.zero_point,
        of_b.zero_point,
        out.zero_point,
        *sums_multiplier(real, of_a.type.dtype),
        out.type.quant_min,
        out.type.quant_max,
        edge=call.edge,
    )
