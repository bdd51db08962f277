# SPDX-License-Identifier: Apache-2.0
"""A lowered model, as input of all warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.fx import GraphModule

from aot.quality.float_model import FloatModel
from aot.quality.outputs import Output
from aot.quality.value import MeasuredValue
from aot.quality.values import Sequences
from aot.quality.watch import Watch


@dataclass(frozen=True)
class Subject:
    """A lowered model.

    Attributes:
      floats: its ATen graph.
      quantized: torchao's graph.
      folded: the dialect graph, in the layout of the user's model.
      float_model: the user's.
      seen: observations of the calibration data.
      example: one tensor for each input.
      samples: data of the measurement.
      described: description of the samples, for users.
      outputs, values: measured results.
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
    values: Sequence[MeasuredValue]
