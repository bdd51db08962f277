# SPDX-License-Identifier: Apache-2.0
"""The result of lowering, for models of any source, and the rewrites before export."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch.fx import GraphModule

from aot.artefact.notebook import report_html
from aot.backends.target import Target
from aot.dialect.io_layout import IoLayout
from aot.dialect.reference import Reference
from aot.dialect.verifier import verify
from aot.passes.rewrite.choose_layouts import Asks, choose_layouts, move_states
from aot.passes.rewrite.compose_luts import compose_luts
from aot.passes.rewrite.drop_dead_constants import drop_dead_constants
from aot.passes.rewrite.fold_blocks_into_conv import fold_blocks_into_conv
from aot.passes.rewrite.fold_transpose_into_bmm import fold_transpose_into_bmm
from aot.passes.rewrite.fold_transpose_into_linear import fold_transpose_into_linear
from aot.passes.rewrite.fold_transpose_into_outputs import fold_transpose_into_outputs
from aot.passes.rewrite.fuse_pad import fuse_pad
from aot.passes.rewrite.linear_before_transpose import linear_before_transpose
from aot.passes.rewrite.merge_gathers import merge_gathers
from aot.passes.rewrite.merge_movements import merge_movements
from aot.passes.rewrite.merge_transposes import merge_transposes
from aot.passes.rewrite.pick_channels import pick_channels
from aot.passes.rewrite.remove_dead_channels import Shrunk, remove_dead_channels
from aot.passes.rewrite.share_transposes import share_transposes
from aot.passes.rewrite.simplify_movement import simplify_movement
from aot.passes.rewrite.sink_transposes import sink_transposes
from aot.passes.rewrite.slices_before_cats import slices_before_cats
from aot.passes.rewrite.slices_to_gathers import slices_to_gathers
from aot.passes.rewrite.split_before_slices import split_before_slices
from aot.passes.rewrite.state_copies import copy_shared_states
from aot.passes.rewrite.transpose_before_gather import transpose_before_gather

_REWRITES: tuple[Callable[[GraphModule], int], ...] = (
    slices_before_cats,
    split_before_slices,  # avoids cuts of values computed in parts; then splits new cuts
    pick_channels,
    fold_blocks_into_conv,
    fold_transpose_into_linear,
    transpose_before_gather,
    fold_transpose_into_outputs,
    fold_transpose_into_bmm,
    merge_transposes,
    share_transposes,
    fuse_pad,
    compose_luts,
    slices_to_gathers,
    merge_gathers,
    simplify_movement,
    split_before_slices,
    copy_shared_states,
    drop_dead_constants,
)

_OF_THE_CORE = (
    pick_channels,
    fold_blocks_into_conv,
    merge_transposes,
    slices_to_gathers,
    split_before_slices,
    transpose_before_gather,
)
"""They give layers the fastest forms for kernels. An NPU may not take these forms, such as strides
as large as a block.
"""

_CORTEX_M = Target("cortex-m")


@dataclass(frozen=True, repr=False)
class Artefact(Reference):
    """A lowered model.

    Attributes:
      moved: inputs and outputs whose order of dimensions differs from the model's.
      pte: the ExecuTorch program.
      report: JSON-serialisable: the result of every op, with the reason.
      exported: the model in the format of the target's exporter, such as a .tflite file;
        None where the target has none.
    """

    moved: IoLayout
    pte: bytes
    report: dict[str, Any]
    exported: bytes | None

    def _repr_html_(self) -> str:
        """Return tables of the report, which notebooks show."""
        return report_html(self.report)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.report['ops'])} ops, {len(self.pte)} bytes>"


def export(module: GraphModule, target: Target) -> bytes | None:
    """Return the file from the target's exporter; None without an exporter."""
    return None if target.exporter is None else target.exporter.write(module)


def rewrite(module: GraphModule, target: Target = _CORTEX_M) -> list[Shrunk]:
    """Run a target's rewrites on a dialect graph, in place. Verify it after each change.

    Returns:
      The layers that lost dead channels.
    """
    is_core = not target.engines and target.exporter is None
    rewrites = [one for one in _REWRITES if is_core or one not in _OF_THE_CORE]

    def run(
        graph: GraphModule,
        meets: Asks,
        lies: Asks,
        check: Callable[[GraphModule, str], object] = lambda *_: None,
    ) -> None:
        if linear_before_transpose(graph, lies):
            check(graph, linear_before_transpose.__name__)
        if sink_transposes(graph, meets):
            check(graph, sink_transposes.__name__)
        for one in rewrites:
            if one(graph):
                check(graph, one.__name__)

    if is_core and merge_movements(module):
        verify(module, merge_movements.__name__)
    layouts = choose_layouts(module, run)
    move_states(module, layouts.states)
    run(module, layouts.meeting.__contains__, layouts.rows.__contains__, verify)
    shrunk = remove_dead_channels(module)
    verify(module, remove_dead_channels.__name__)
    return shrunk
