# SPDX-License-Identifier: Apache-2.0
"""Whether a region is worth a call of the NPU: what the core would take for it against what a call
takes the core. Both are rough; they decide for regions of a few hundred values only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch.fx import Node

from aot.dialect.graph import dialect_op, shape_of, value_of
from aot.partition.cut import results_of, sources_of

_CALL = 1000
"""Cycles of the core for a call: registers, cache maintenance, an interrupt or polling."""

_BORDER_BYTES = 8  # that the core copies, cleans or invalidates in a cycle
_MACS = 2  # of the core with Helium in a cycle
_CYCLES = {
    "add": 3,
    "avg_pool2d": 8,
    "lut": 2,
    "masked_softmax": 20,
    "mean_pool2d": 8,
    "mul": 3,
    "normalize": 8,
    "requantize": 2,
    "resize_bilinear": 10,
    "softmax": 20,
    "where": 2,
}
"""Of the core for a value; others, and moves, take 1."""


def core_cycles(node: Node) -> int:
    op = dialect_op(node)
    assert op is not None
    if op.macs is not None:
        return math.ceil(op.macs(*map(value_of, node.args)) / _MACS)
    return math.prod(shape_of(node)) * _CYCLES.get(op.name, 1)


def not_worth(nodes: Sequence[Node]) -> str:
    """Why a region, a list of its ops, should stay on the core, "" if it should not."""
    core = sum(map(core_cycles, nodes))
    border = sum(math.prod(shape_of(n)) for n in (*sources_of(nodes), *results_of(nodes)))
    call = _CALL + border // _BORDER_BYTES
    if core > call:
        return ""
    return f"the core takes some {core} cycles for it, and {call} for a call of the NPU"
