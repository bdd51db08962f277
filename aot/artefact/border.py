# SPDX-License-Identifier: Apache-2.0
"""Chooses the I/O layout of a lowered graph together with its rewrites."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.fx import GraphModule

from aot.artefact.artefact import rewrite
from aot.backends.target import Target
from aot.dialect.graph import copied
from aot.dialect.io_layout import IoLayout
from aot.dialect.verifier import verify
from aot.passes.rewrite.io_layouts import (
    AUTO,
    TO_NHWC_BORDER,
    images_moved,
    set_border,
    transposed_at_border,
    transposed_elements,
)
from aot.passes.rewrite.remove_dead_channels import Shrunk


def with_border(
    folded: GraphModule,
    example: Sequence[torch.Tensor],
    outputs: list[torch.Tensor],
    target: Target,
    io_layout: str,
) -> tuple[GraphModule, IoLayout, list[Shrunk]]:
    """Return the rewritten graph with its I/O layout, this layout, and the layers that lost dead
    channels.

    Args:
      folded: dialect graph of a PyTorch model; it stays as it is.
      example: inputs of the model.
      outputs: its results for them.
      target: of the rewrites.
      io_layout: as in `Io`.
    """

    def rewritten(moved: IoLayout) -> tuple[GraphModule, list[Shrunk]]:
        module = copied(folded)
        set_border(module, example, outputs, moved)
        verify(module, "set_border")
        return module, rewrite(module, target)

    moved = images_moved(folded) if io_layout == TO_NHWC_BORDER else IoLayout()
    module, shrunk = rewritten(moved)
    for found in transposed_at_border(module) if io_layout == AUTO else []:
        other, lost = rewritten(found)
        if transposed_elements(other) < transposed_elements(module):
            moved, module, shrunk = found, other, lost
    return module, moved, shrunk
