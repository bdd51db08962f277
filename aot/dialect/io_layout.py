# SPDX-License-Identifier: Apache-2.0
"""I/O layout: inputs and outputs whose order of dimensions differs between artefact and model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch

CHANNELS_LAST = {3: [0, 2, 1], 4: [0, 2, 3, 1]}
CHANNELS_FIRST = {3: [0, 2, 1], 4: [0, 3, 1, 2]}
"""Permutations by rank; the channels come last, or after the batch."""


@dataclass(frozen=True)
class IoLayout:
    """Indices of inputs and outputs with channels last in the artefact, and after the batch in the
    model.
    """

    inputs: frozenset[int] = frozenset()
    outputs: frozenset[int] = frozenset()

    @property
    def any(self) -> bool:
        return bool(self.inputs or self.outputs)

    def taken(self, inputs: Iterable[torch.Tensor]) -> list[torch.Tensor]:
        """Return the model's inputs as the artefact takes them."""
        return [
            x.permute(CHANNELS_LAST[x.dim()]) if i in self.inputs else x
            for i, x in enumerate(inputs)
        ]

    def given(self, outputs: Iterable[torch.Tensor]) -> list[torch.Tensor]:
        """Return the artefact's outputs as the model gives them."""
        return [
            x.permute(CHANNELS_FIRST[x.dim()]) if i in self.outputs else x
            for i, x in enumerate(outputs)
        ]


NOT_MOVED = IoLayout()
