# SPDX-License-Identifier: Apache-2.0
"""Module of imported steps."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from aot.errors import LoweringError
from aot.importers.onnx.importing import Importer
from aot.importers.onnx.steps import NodeStep

_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)


class OnnxModule(torch.nn.Module):
    """A graph of ONNX nodes; each is a submodule with the node's name.

    Attributes:
      input_names: of the file, in the order of forward's arguments.
      output_names: likewise, of its results.
      example: inputs of zeros.
    """

    def __init__(self, importer: Importer, states: Mapping[str, str]) -> None:
        super().__init__()
        self._steps: list[NodeStep] = []
        self._constants: dict[str, str] = {}
        taken = {step.name for step in importer.steps}
        self._states = {name: (_free(f"state_{name}", taken), new) for name, new in states.items()}
        self.input_names = tuple(n for n in importer.inputs if n not in states)
        self.output_names = tuple(n for n in importer.outputs if n not in states.values())
        for name, (buffer, _) in self._states.items():
            value = importer.inputs[name]
            self.register_buffer(buffer, torch.zeros(value.shape, dtype=value.dtype))
        for step in importer.steps:
            self.add_module(step.name, step.module)
            self._steps.append(step)
        for name in self.output_names:
            if name in importer.constants:
                self._constants[name] = _free(f"constant_{name}", taken)
                self.register_buffer(self._constants[name], importer.constants[name])
        self.example = tuple(
            torch.zeros(importer.inputs[n].shape, dtype=importer.inputs[n].dtype)
            for n in self.input_names
        )
        self.eval()

    def forward(self, *inputs: torch.Tensor) -> Any:
        values = dict(zip(self.input_names, inputs, strict=True))
        for name, (buffer, _) in self._states.items():
            values[name] = getattr(self, buffer)
        for step in self._steps:
            given = self._modules[step.name]
            assert given is not None
            results = given(*(values[name] for name in step.inputs))
            if isinstance(results, torch.Tensor):
                results = (results,)
            values.update(zip(step.outputs, results, strict=False))
        for _, (buffer, new) in self._states.items():
            setattr(self, buffer, values[new])
        for name, buffer in self._constants.items():
            values[name] = getattr(self, buffer)
        results = tuple(values[name] for name in self.output_names)
        return results[0] if len(results) == 1 else results


def module_of(importer: Importer, states: Mapping[str, str]) -> OnnxModule:
    """Return the module of imported steps; `states` as for `onnx_module`."""
    for name, new in states.items():
        if name not in importer.inputs or new not in importer.values:
            raise LoweringError(
                f"states: {name!r} must be an input, and {new!r} a computed value of the .onnx file"
            )
        shapes = importer.inputs[name].shape, importer.values[new].shape
        if shapes[0] != shapes[1]:
            raise LoweringError(
                f"states: {name!r} is {[*shapes[0]]}, but {new!r} is {[*shapes[1]]}"
            )
    module = OnnxModule(importer, states)
    if not module.output_names:
        raise LoweringError("the .onnx file has no output besides its states")
    names = [_identifier(name) for name in module.input_names]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    arguments = [inspect.Parameter(name, kind) for name in _distinct(names)]

    def forward(self: OnnxModule, *inputs: torch.Tensor) -> Any:
        return OnnxModule.forward(self, *inputs)

    forward.__signature__ = inspect.Signature([_SELF, *arguments])  # type: ignore[attr-defined]
    module.__class__ = type(OnnxModule.__name__, (OnnxModule,), {"forward": forward})
    return module


def _free(name: str, taken: set[str]) -> str:
    """Return an attribute's name that is not taken, and take it."""
    found = _identifier(name)
    while found in taken:
        found += "_"
    taken.add(found)
    return found


def _identifier(name: str) -> str:
    found = re.sub(r"\W", "_", name) or "input"
    is_special = found[0].isdigit() or keyword.iskeyword(found) or found == "self"
    return f"_{found}" if is_special else found


def _distinct(names: Sequence[str]) -> list[str]:
    counts: dict[str, int] = {}
    found = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        found.append(name if counts[name] == 1 else f"{name}_{counts[name]}")
    return found
