# SPDX-License-Identifier: Apache-2.0
"""Input of an operator's importer: one node's attributes and constant inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import torch
from onnx import AttributeProto, NodeProto, helper

from aot.importers.onnx.file import operator_of

_T = TypeVar("_T")


class UnsupportedNode(Exception):
    """Why a node cannot be imported; one phrase."""


class NodeCall:
    """A node, with inputs by position.

    Constant inputs are read here as plain numbers, so that no shape depends on a tensor.

    Args:
      node: of the file.
      opset: version of the standard operators.
      constants: by input; None for a computed or an omitted one.

    Attributes:
      operator: name, e.g. "Conv" or "com.microsoft::Gelu".
      outputs: number of results.
    """

    def __init__(
        self, node: NodeProto, opset: int, constants: Sequence[torch.Tensor | None]
    ) -> None:
        self.operator = operator_of(node)
        self.opset = opset
        self.outputs = len(node.output)
        self.constants = tuple(constants)
        self._given = [bool(name) for name in node.input]
        self._arrays = [None if c is None else c.detach().numpy() for c in constants]
        self._attributes: Mapping[str, Any] = {a.name: _value(a) for a in node.attribute}

    def attribute(self, name: str, default: _T) -> _T:
        """Return an attribute of the default's type.

        Raises:
          Unsupported: it has another type.
        """
        value = self._attributes.get(name, default)
        if type(value) is not type(default):
            raise UnsupportedNode(f"attribute {name} is {value!r:.40}")
        return value

    def optional(self, name: str) -> Any:
        """Return an attribute without a default; None if it is not given."""
        return self._attributes.get(name)

    def has(self, index: int) -> bool:
        """Return True if the node has this input."""
        return index < len(self._given) and self._given[index]

    def is_constant(self, index: int) -> bool:
        return index < len(self.constants) and self.constants[index] is not None

    def numbers(self, index: int) -> list[float]:
        """Return the elements of a constant input in one list.

        Raises:
          Unsupported: the input is computed, or not given.
        """
        array = self._arrays[index] if index < len(self._arrays) else None
        if array is None:
            state = "computed by the model" if self.has(index) else "missing"
            raise UnsupportedNode(f"input {index} is {state}; it must be a constant")
        return list(array.reshape(-1).tolist())

    def ints(self, index: int) -> list[int]:
        """Return the same as integers."""
        return [int(value) for value in self.numbers(index)]

    def number(self, index: int) -> float:
        """Return the only element of a constant input.

        Raises:
          Unsupported: it has several elements, or is not constant.
        """
        values = self.numbers(index)
        if len(values) != 1:
            raise UnsupportedNode(f"input {index} has {len(values)} elements; it must have one")
        return float(values[0])

    def axes(self, index: int) -> list[int] | None:
        """Return dimensions given as an attribute (older opsets) or as an input; None: all."""
        if self.has(index):
            return self.ints(index)
        given = self.optional("axes")
        return None if given is None else [int(axis) for axis in given]


def _value(attribute: AttributeProto) -> Any:
    if attribute.type in (AttributeProto.GRAPH, AttributeProto.TENSOR):
        return attribute
    value = helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str | int | float):
        return value
    items = list(value)
    return [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in items]
