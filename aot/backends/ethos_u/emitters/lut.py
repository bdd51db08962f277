# SPDX-License-Identifier: Apache-2.0
"""pl::lut: TABLE, of what was not reshaped: right behind a convolution Vela 5.1.0 compiles it for
the convolution's shape.
"""

from __future__ import annotations

import torch

from aot.backends.ethos_u.emitters.emitter import Emitter
from aot.backends.ethos_u.tosa import TosaGraph, Value


def emit(graph: TosaGraph, input: Value, table: torch.Tensor) -> Value:
    y = graph.table(graph.before_reshape(input), table)
    return graph.reshape(y, input.shape)


EMITTER = Emitter(emit)
