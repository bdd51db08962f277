# SPDX-License-Identifier: Apache-2.0
"""Constants in comparisons. They must be exact multiples of the scale."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch.fx import Node

from aot.dialect.graph import tensor_constant

_aten = torch.ops.aten
_COMPARISONS = {
    getattr(getattr(_aten, name), overload)
    for name in ("eq", "ne", "lt", "le", "gt", "ge")
    for overload in ("Scalar", "Tensor")
}
_MOST = 16  # limit for the constants of one tensor in comparisons with a value


def comparison_constants(nodes: Iterable[Node]) -> dict[Node, set[float]]:
    """Return, for each value of a graph, the finite nonzero constants compared with it.

    The elements of a constant count as its own, too.
    """
    found: dict[Node, set[float]] = {}
    for node in nodes:
        if node.target in _COMPARISONS:
            constants = {n for operand in node.args[:2] for n in _constants(node, operand)}
            for value in node.all_input_nodes:
                found.setdefault(value, set()).update(constants)
    return found


def _constants(node: Node, value: object) -> set[float]:
    if isinstance(value, Node):
        module = node.graph.owning_module
        assert module is not None
        known = tensor_constant(module, value)
        if known is None or known.is_complex():
            return set()
        numbers = known.unique()
        values = numbers.tolist() if numbers.numel() <= _MOST else []
    else:
        values = [value]
    return {float(number) for number in values if number and math.isfinite(number)}
