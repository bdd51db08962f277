# SPDX-License-Identifier: Apache-2.0
"""Composite ATen ops become the ops that they consist of, but for those that are kept whole."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from absl import logging
from torch.export import ExportedProgram
from torch.export.decomp_utils import PRESERVED_ATEN_CIA_OPS

from aot.passes.aten.decompositions.decompose_nodes import NotByNode, decompose_nodes
from aot.upstream.torch import (
    core_aten_decompositions,
    decompose_exported_program,
    is_preservable_composite,
    preserved_composite,
)


@functools.cache
def _core_decompositions() -> Mapping[Any, Callable[..., Any]]:
    decompositions: Mapping[Any, Callable[..., Any]] = core_aten_decompositions()
    return decompositions


def run_decompositions(program: ExportedProgram, kept: Iterable[Any] = ()) -> ExportedProgram:
    """What ExportedProgram.run_decompositions gives with the default table without the ops kept.

    That method registers a decomposition of each of 500 composite ops anew in every call, for the
    few that should stay: three quarters of a small model's lowering. Here only those that stay are
    registered; the others decompose by the kernels that they have anyway. And it traces the whole
    program again, which only some programs need.

    Args:
      program: as torch.export gives it.
      kept: ops that are left as they are, where they neither alias nor change what they take.
    """
    kept = set(kept)
    decompositions = {op: f for op, f in _core_decompositions().items() if op not in kept}
    composite = {
        op: decompositions.pop(op, preserved_composite)
        for op in {*kept, *PRESERVED_ATEN_CIA_OPS}
        if is_preservable_composite(op)
    }
    try:
        return decompose_nodes(program, composite, decompositions)
    except NotByNode as reason:
        logging.debug("decomposed as a whole: %s", reason)
    decomposed: ExportedProgram = decompose_exported_program(
        program,
        cia_to_decomp=composite,
        python_decomp_table=decompositions,
        joint_loss_index=None,
        decompose_custom_triton_ops=False,
    )
    return decomposed
