# SPDX-License-Identifier: Apache-2.0
"""pl::normalize becomes pl::ethos_u_normalize, whose steps are TOSA's operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.ops.normalize import (
    LARGEST_COUNT,
    ethos_u_normalize,
    norm_of,
    normalize_steps,
)
from aot.backends.ethos_u.tosa import TosaGraph


def reject(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    parts: Sequence[int],
    centered: bool,
    epsilon: int,
    floor: int,
    addend: int,
    radicand_shift: int,
    normalized_bits: int,
    output_bits: int,
    input_zero_point: int,
    **_: int,
) -> str:
    if floor or addend:
        return "its root has a floor, or something added, that matters beside the input's steps"
    numbers = centered, epsilon, radicand_shift, normalized_bits, output_bits, input_zero_point
    norm = norm_of(input, weight, bias, parts, *numbers)
    if norm is None:
        return "what it normalizes together lies neither in rows nor in groups of channels"
    if norm.parts.count > LARGEST_COUNT:
        return f"parts of {norm.parts.count}, of at most {LARGEST_COUNT}"
    if norm.guard_bits < 0:
        return "its sums of squares may need more than 31 bits"
    return ""


def emit(
    graph: TosaGraph,
    input: TosaValue,
    weight: torch.Tensor,
    bias: torch.Tensor,
    parts: Sequence[int],
    centered: bool,
    epsilon: int,
    floor: int,
    addend: int,
    radicand_shift: int,
    normalized_bits: int,
    output_bits: int,
    input_zero_point: int,
    output_zero_point: int,
    activation_min: int,
    activation_max: int,
) -> TosaValue:
    assert floor == addend == 0
    x = graph.materialized(input)
    numbers = centered, epsilon, radicand_shift, normalized_bits, output_bits, input_zero_point
    norm = norm_of(torch.empty(x.shape, device="meta"), weight, bias, parts, *numbers)
    assert norm is not None
    laid = norm.parts.suited(graph.npu)
    if graph.is_input(x) and (graph.ends or graph.npu.is_u85):
        laid = laid.suited_as_border(graph.npu)
    norm = replace(norm, parts=laid)
    return normalize_steps(graph, x, norm, output_zero_point, activation_min, activation_max)


EMITTER = Emitter(
    emit, reject, adopts=ethos_u_normalize, not_int16="squares of them take more than 16 bits"
)
