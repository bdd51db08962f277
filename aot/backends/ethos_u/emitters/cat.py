# SPDX-License-Identifier: Apache-2.0
"""pl::cat as TOSA: CONCAT."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.tosa import TosaGraph


def emit(graph: TosaGraph, inputs: Sequence[TosaValue | torch.Tensor], dim: int) -> TosaValue:
    return graph.concat([graph.placed(graph.operand(x)) for x in inputs], dim)


EMITTER = Emitter(emit, moves=True)
