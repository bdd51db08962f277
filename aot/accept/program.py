# SPDX-License-Identifier: Apache-2.0
"""Signature of an exported program: argument structure, constant arguments, returned results."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind

from aot.upstream.torch import keystr, tree_flatten_with_path, tree_unflatten


def tensor_names(program: ExportedProgram) -> list[str]:
    """Return the placeholder names of the program's tensor inputs, in order."""
    return [spec.arg.name for spec in _given(program) if not _is_constant(spec)]


def arguments_of(
    program: ExportedProgram, tensors: Sequence[object]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the positional and the keyword arguments of a program, with these tensors in them."""
    left = iter(tensors)
    leaves = [spec.arg.value if _is_constant(spec) else next(left) for spec in _given(program)]
    args, kwargs = tree_unflatten(leaves, program.call_spec.in_spec)
    return tuple(args), dict(kwargs)


def signature_of(program: ExportedProgram) -> inspect.Signature:
    """Return the signature of the exported forward; constants are defaults."""
    args, kwargs = arguments_of(program, [inspect.Parameter.empty] * len(tensor_names(program)))
    entry = program.module_call_graph[0].signature
    names = entry.forward_arg_names if entry is not None else None
    names = names or [f"args_{i}" for i in range(len(args))]
    positional = zip(names, args, strict=False)
    return inspect.Signature(
        [
            *(_parameter(n, v, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n, v in positional),
            *(_parameter(n, v, inspect.Parameter.KEYWORD_ONLY) for n, v in kwargs.items()),
        ]
    )


def by_name(program: ExportedProgram, tensors: Sequence[object]) -> Mapping[str, Any]:
    """Return the arguments of a program by name, with these tensors in them."""
    args, kwargs = arguments_of(program, tensors)
    return signature_of(program).bind(*args, **kwargs).arguments


def result_paths(program: ExportedProgram) -> list[str]:
    """Return the place of each flat result in the program's return value.

    Places are in Python's notation: "['boxes'][0]", ".logits", or "" for a single returned tensor.
    A number stands where a type has no names.
    """
    spec = program.call_spec.out_spec
    count = spec.num_leaves
    try:
        leaves, _ = tree_flatten_with_path(tree_unflatten(list(range(count)), spec))
    except ValueError:
        return [f"[{i}]" for i in range(count)]
    return [keystr(path) for path, _ in leaves]


def _given(program: ExportedProgram) -> list[Any]:
    specs = program.graph_signature.input_specs
    return [spec for spec in specs if spec.kind is InputKind.USER_INPUT]


def _is_constant(spec: Any) -> bool:
    return isinstance(spec.arg, ConstantArgument)


def _parameter(name: str, value: object, kind: Any) -> inspect.Parameter:
    plain = value is None or isinstance(value, bool | int | float | str | torch.dtype)
    return inspect.Parameter(name, kind, default=value if plain else inspect.Parameter.empty)
