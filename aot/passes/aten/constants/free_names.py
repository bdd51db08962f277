# SPDX-License-Identifier: Apache-2.0
"""Renames weights and buffers with names of GraphModule's own attributes: it could not
hold them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule

_TAKEN = frozenset(dir(GraphModule(torch.nn.Module(), Graph())))


def free_names(program: ExportedProgram) -> ExportedProgram:
    """Return the program with free names; the given program stays unchanged.

    The names `code`, `graph` and `meta` get an underscore at the end. So does a submodule with such
    a name within the names of its contents.
    """
    tensors = {**program.state_dict, **program.constants}
    parts = {full.partition(".")[0] for full in tensors}
    new_parts = {part: _free(part, parts) for part in parts & _TAKEN}
    if not new_parts:
        return program

    def name(full: str) -> str:
        part, dot, rest = full.partition(".")
        return new_parts.get(part, part) + dot + rest

    def named(given: Mapping[str, Any]) -> dict[str, Any]:
        return {name(full): tensor for full, tensor in given.items()}

    def targeted(specs: Iterable[Any]) -> list[Any]:
        return [replace(s, target=name(s.target)) if s.target in tensors else s for s in specs]

    signature = program.graph_signature
    renamed = copy.copy(program)
    renamed._graph_signature = replace(
        signature,
        input_specs=targeted(signature.input_specs),
        output_specs=targeted(signature.output_specs),
    )
    renamed._state_dict = named(program.state_dict)
    renamed._constants = named(program.constants)
    return renamed


def _free(part: str, others: set[str]) -> str:
    while part in others or part in _TAKEN:
        part += "_"
    return part
