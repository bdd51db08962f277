# SPDX-License-Identifier: Apache-2.0
"""pl::logsumexp becomes pl::ethos_u_logsumexp, whose steps are TOSA's operators."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters import softmax
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.ops.exponentials import LARGEST_LENGTH
from aot.backends.ethos_u.ops.log_softmax import ethos_u_logsumexp, factors_of, logsumexp_steps
from aot.backends.ethos_u.tosa import TosaGraph
from aot.dialect.library import reduced_shape


def reject(
    input: torch.Tensor,
    dim: Sequence[int],
    input_multiplier: int,
    input_shift: int,
    log_multiplier: int,
    log_shift: int,
    **_: object,
) -> str:
    length = math.prod(input.shape[d] for d in dim)
    if length > LARGEST_LENGTH:
        return f"it adds {length} values up, of at most {LARGEST_LENGTH}"
    return factors_of(input_multiplier, input_shift, log_multiplier, log_shift).problem


def emit(
    graph: TosaGraph,
    input: TosaValue,
    exp_table: torch.Tensor,
    dim: Sequence[int],
    keepdim: bool,
    input_zero_point: int,
    fraction_bits: int,
    input_multiplier: int,
    input_shift: int,
    log_multiplier: int,
    log_shift: int,
    output_zero_point: int,
) -> TosaValue:
    x = graph.materialized(input)
    factors = factors_of(input_multiplier, input_shift, log_multiplier, log_shift)
    zero_points = input_zero_point, output_zero_point
    y = logsumexp_steps(graph, x, exp_table, dim, factors, *zero_points)
    return graph.reshape(y, reduced_shape(input.shape, dim, keepdim))


EMITTER = Emitter(emit, reject, adopts=ethos_u_logsumexp, not_int16=softmax.EMITTER.not_int16)
