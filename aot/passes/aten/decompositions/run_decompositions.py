# SPDX-License-Identifier: Apache-2.0
"""Decomposition of composite ATen ops, except those kept whole."""

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
    """Return the result of ExportedProgram.run_decompositions with the default table without the
    kept ops.

    The method registers a decomposition of each of 500 composite ops in every call, for the few
    kept ones. This takes three quarters of a small model's lowering. Here only the kept ones are
    registered; the others decompose by their own kernels. The method also traces the whole program
    again; only some programs need this.

    Args:
      program: from torch.export.
      kept: ops to leave as they are, if they neither alias nor change their inputs.
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
