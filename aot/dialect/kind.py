# SPDX-License-Identifier: Apache-2.0
"""Kinds of values: a type in addition to the dtype. It decides if numbers may be rounded."""

from __future__ import annotations

from enum import Enum

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import border_nodes, edge_of


class Kind(Enum):
    """The kind of a value in the dialect."""

    FLOAT = "float"
    """Reals: float32, or int8 and int16 with a scale. Calibration sets the range."""
    WHOLE = "whole number"
    """Integers of the model with 8 or 16 bits. Every number of their dtype is exact."""
    INDEX = "index"
    """Integers of the model as int32: indices, counts, sums."""
    MASK = "mask"
    """Bools."""


def kind_of(node: Node) -> Kind:
    """Return the kind of a node's value."""
    dtype, quantization = node.meta["val"].dtype, edge_of(node).quantization
    if quantization is not None:
        return Kind.WHOLE if quantization.whole else Kind.FLOAT
    if dtype == torch.bool:
        return Kind.MASK
    return Kind.FLOAT if dtype.is_floating_point else Kind.INDEX


def exact_outputs(module: GraphModule) -> list[bool]:
    """Return, for each output in order, True if no float lies between the inputs and it."""
    floats: set[Node] = set()
    for node in module.graph.nodes:
        is_value = isinstance(node.meta.get("val"), torch.Tensor)
        of_floats = not floats.isdisjoint(node.all_input_nodes)
        if of_floats or (is_value and kind_of(node) is Kind.FLOAT):
            floats.add(node)
    return [node not in floats for node in border_nodes(module)[1]]
