# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX: pl::softmax rounds once; TFLite's fixed-point arithmetic rounds often."""

from __future__ import annotations

from ethosu.vela.tflite.SoftmaxOptions import SoftmaxOptions
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.dialect.quantization import INT8, INT16, Quantization
from aot.importers.tflite.arithmetic import float32
from aot.importers.tflite.call import OperatorCall, Unsupported
from kernels.softmax.op import (
    OUTPUT,
    WIDE_STEPS,
    exponential_table,
    wide_exponential_table,
)
from kernels.softmax.op import (
    softmax as pl_softmax,
)


def softmax(call: OperatorCall) -> Node:
    x, beta = call.value(0), call.options(SoftmaxOptions).Beta()
    of, out = call.of(x), call.quantization
    rank = len(shape_of(x))
    if not beta > 0.0 or rank == 0:
        raise Unsupported(f"beta {beta} over {rank} dimensions")
    wanted = OUTPUT if of.type is INT8 else Quantization(1.0 / WIDE_STEPS, 0, INT16)
    if out != wanted:
        raise Unsupported(f"a result of {out}, not {wanted}")
    scale = float32(of.scale * beta)
    if of.type is INT8:
        table, _ = exponential_table(scale, shape_of(x)[-1])
        steps = 256
    else:
        table, steps = wide_exponential_table(scale), WIDE_STEPS
    return call.emit(
        pl_softmax, x, call.constant("exponentials", table), rank - 1, steps, edge=call.edge
    )
