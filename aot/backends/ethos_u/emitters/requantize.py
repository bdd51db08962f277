# SPDX-License-Identifier: Apache-2.0
"""pl::requantize as TOSA: RESCALE from int8 to int16 or back."""

from __future__ import annotations

import torch

from aot.backends.ethos_u.block import INT8, INT16, TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.emitters.rescaling import span_of, too_large
from aot.backends.ethos_u.tosa import TosaGraph


def reject(input: torch.Tensor, multiplier: int, shift: int, **_: int) -> str:
    return too_large(torch.tensor(span_of(input)), multiplier, shift)


def emit(
    graph: TosaGraph,
    input: TosaValue,
    bits: int,
    input_zero_point: int,
    output_zero_point: int,
    multiplier: int,
    shift: int,
) -> TosaValue:
    return graph.rescale(
        input,
        multiplier,
        31 - shift,
        INT16 if bits == 16 else INT8,
        input_zero_point=input_zero_point,
        output_zero_point=output_zero_point,
        double_round=True,
    )


EMITTER = Emitter(emit, reject)
