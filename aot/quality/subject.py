# SPDX-License-Identifier: Apache-2.0
"""A lowered model, and all that is known of it by the time that it is doubted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.fx import GraphModule

from aot.quality.float_model import FloatModel
from aot.quality.outputs import Output
from aot.quality.value import Value
from aot.quality.values import Sequences
from aot.quality.watch import Watch


@dataclass(frozen=True)
class Subject:
    """A lowered model.

    Attributes:
      floats: it as an ATen graph.
      quantized: torchao's graph.
      folded: the dialect's, in the layout of the user's model.
      float_model: the user's.
      seen: of the calibration data.
      example: one tensor an input.
      samples: on which it was measured.
      described: what these are, for people.
      outputs, values: measured.
    """

    floats: GraphModule
    quantized: GraphModule
    folded: GraphModule
    float_model: FloatModel
    seen: Watch
    example: Sequence[torch.Tensor]
    samples: Sequences
    described: str
    outputs: Sequence[Output]
    values: Sequence[Value]
