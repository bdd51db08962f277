# SPDX-License-Identifier: Apache-2.0
"""What lowering gives, wherever the model comes from, and the rewrites on the way there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch.fx import GraphModule

from aot.dialect.moved import Moved
from aot.dialect.reference import Reference
from aot.dialect.verifier import verify
from aot.passes.rewrite.choose_layouts import choose_layouts, move_states
from aot.passes.rewrite.compose_luts import compose_luts
from aot.passes.rewrite.drop_dead_constants import drop_dead_constants
from aot.passes.rewrite.fold_blocks_into_conv import fold_blocks_into_conv
from aot.passes.rewrite.fold_transpose_into_bmm import fold_transpose_into_bmm
from aot.passes.rewrite.fold_transpose_into_linear import fold_transpose_into_linear
from aot.passes.rewrite.fuse_pad import fuse_pad
from aot.passes.rewrite.merge_gathers import merge_gathers
from aot.passes.rewrite.merge_movements import merge_movements
from aot.passes.rewrite.own_state import own_state
from aot.passes.rewrite.simplify_movement import simplify_movement
from aot.passes.rewrite.sink_transposes import sink_transposes
from aot.passes.rewrite.split_before_slices import split_before_slices
from aot.targets.target import Target

_REWRITES: tuple[Callable[[GraphModule], int], ...] = (
    fold_blocks_into_conv,
    fold_transpose_into_linear,
    fold_transpose_into_bmm,
    fuse_pad,
    compose_luts,
    merge_gathers,
    simplify_movement,
    split_before_slices,
    own_state,
    drop_dead_constants,
)


@dataclass(frozen=True)
class Artefact(Reference):
    """A lowered model.

    Attributes:
      moved: inputs and outputs that the artefact has in another order of dimensions than the model.
      pte: the ExecuTorch program.
      report: JSON-serialisable: what every op became, and why.
      exported: the model in the format of the target's exporter, such as a .tflite file; None where
        the target has none.
    """

    moved: Moved
    pte: bytes
    report: dict[str, Any]
    exported: bytes | None


def export(module: GraphModule, target: Target) -> bytes | None:
    """The file of the target's exporter; None if it has none."""
    return None if target.exporter is None else target.exporter.write(module)


def rewrite(module: GraphModule) -> None:
    """Runs all rewrites on a verified dialect graph, in place; verifies it after each change."""
    if merge_movements(module):
        verify(module, merge_movements.__name__)
    layouts = choose_layouts(module, _rewrite)
    move_states(module, layouts.states)
    _rewrite(module, layouts.meeting.__contains__, verify)


def _rewrite(
    module: GraphModule,
    meets: Callable[[str], bool],
    check: Callable[[GraphModule, str], object] = lambda *_: None,
) -> None:
    if sink_transposes(module, meets):
        check(module, sink_transposes.__name__)
    for one in _REWRITES:
        if one(module):
            check(module, one.__name__)
