# SPDX-License-Identifier: Apache-2.0
"""pl::masked_softmax becomes pl::ethos_u_masked_softmax, whose steps are TOSA's operators."""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters import softmax
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.operands import bad_rank, in_rank
from aot.backends.ethos_u.ops.softmax import ethos_u_masked_softmax, softmax_steps
from aot.backends.ethos_u.tosa import TosaGraph


def reject(input: torch.Tensor, mask: torch.Tensor, exp_table: torch.Tensor, steps: int) -> str:
    last = input.dim() - 1
    return bad_rank(input, mask) or softmax.reject(input, exp_table, last, steps)


def emit(
    graph: TosaGraph,
    input: TosaValue,
    mask: TosaValue | torch.Tensor,
    exp_table: torch.Tensor,
    steps: int,
) -> TosaValue:
    rank = len(input.shape)
    kept = in_rank(graph, graph.operand(mask), rank)
    return softmax_steps(graph, input, exp_table, rank - 1, steps, mask=kept)


EMITTER = Emitter(emit, reject, adopts=ethos_u_masked_softmax, not_int16=softmax.EMITTER.not_int16)
