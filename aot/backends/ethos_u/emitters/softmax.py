# SPDX-License-Identifier: Apache-2.0
"""pl::softmax becomes pl::ethos_u_softmax, whose steps are TOSA's operators."""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.ops.exponentials import LARGEST_LENGTH
from aot.backends.ethos_u.ops.softmax import ethos_u_softmax, softmax_steps
from aot.backends.ethos_u.tosa import TosaGraph


def reject(input: torch.Tensor, exp_table: torch.Tensor, dim: int, steps: int) -> str:
    length = input.shape[dim]
    return f"rows of {length}, of at most {LARGEST_LENGTH}" if length > LARGEST_LENGTH else ""


def emit(
    graph: TosaGraph, input: TosaValue, exp_table: torch.Tensor, dim: int, steps: int
) -> TosaValue:
    x = graph.materialized(input)
    return softmax_steps(graph, x, exp_table, dim, steps, in_rows=graph.reads_slowly(x))


EMITTER = Emitter(emit, reject, adopts=ethos_u_softmax, not_int16="its softmax is of int8")
