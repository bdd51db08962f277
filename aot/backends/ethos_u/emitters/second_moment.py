# SPDX-License-Identifier: Apache-2.0
"""pl::second_moment becomes pl::ethos_u_second_moment, whose steps are TOSA's operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.ops.second_moment import (
    ethos_u_second_moment,
    moment_of,
    second_moment_steps,
)
from aot.backends.ethos_u.tosa import TosaGraph
from aot.dialect.library import reduced_shape


def reject(
    input: torch.Tensor,
    dim: Sequence[int],
    centered: bool,
    root: bool,
    input_zero_point: int,
    multiplier: int,
    shift: int,
    **_: int,
) -> str:
    numbers = centered, root, input_zero_point, multiplier, shift
    moment = moment_of(input.shape, dim, *numbers)
    if moment is None:
        return "what it is of lies neither in rows nor in windows of an image"
    return moment.problem


def emit(
    graph: TosaGraph,
    input: TosaValue,
    dim: Sequence[int],
    keepdim: bool,
    centered: bool,
    root: bool,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> TosaValue:
    x, shape = graph.materialized(input), input.shape
    moment = moment_of(shape, dim, centered, root, input_zero_point, multiplier, shift)
    assert moment is not None
    moment = replace(moment, parts=moment.parts.suited(graph.npu))
    y = second_moment_steps(graph, x, moment, output_zero_point)
    return graph.reshape(y, reduced_shape(shape, dim, keepdim))


EMITTER = Emitter(
    emit, reject, adopts=ethos_u_second_moment, not_int16="squares of them take more than 16 bits"
)
