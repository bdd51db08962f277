# SPDX-License-Identifier: Apache-2.0
"""pl::log_softmax becomes pl::ethos_u_log_softmax, whose steps are TOSA's operators."""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters import softmax
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.ops.log_softmax import (
    ethos_u_log_softmax,
    factors_of,
    log_softmax_steps,
)
from aot.backends.ethos_u.tosa import TosaGraph


def reject(
    input: torch.Tensor,
    exp_table: torch.Tensor,
    dim: int,
    input_multiplier: int,
    input_shift: int,
    log_multiplier: int,
    log_shift: int,
    **_: int,
) -> str:
    factors = factors_of(input_multiplier, input_shift, log_multiplier, log_shift)
    return softmax.reject(input, exp_table, dim, 0) or factors.problem


def emit(
    graph: TosaGraph,
    input: TosaValue,
    exp_table: torch.Tensor,
    dim: int,
    fraction_bits: int,
    input_multiplier: int,
    input_shift: int,
    log_multiplier: int,
    log_shift: int,
    output_zero_point: int,
) -> TosaValue:
    x = graph.materialized(input)
    factors = factors_of(input_multiplier, input_shift, log_multiplier, log_shift)
    in_one = graph.reads_slowly(x)
    return log_softmax_steps(graph, x, exp_table, dim, factors, output_zero_point, in_one)


EMITTER = Emitter(emit, reject, adopts=ethos_u_log_softmax, not_int16=softmax.EMITTER.not_int16)
