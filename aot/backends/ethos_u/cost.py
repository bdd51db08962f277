# SPDX-License-Identifier: Apache-2.0
"""Worth of a region on the NPU: the core's cycles against the cycles of a call.

A call takes cycles of the core, and of the NPU for its program. All numbers are rough and use the
same clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch.fx import Node

from aot.backends.ethos_u.emit import ADOPTED
from aot.dialect.graph import dialect_op, inputs_of, value_of
from aot.partition.cut import results_of, sources_of

CALL = 1000
"""Cycles of the core for a call: registers, cache maintenance, an interrupt or polling."""

_BORDER_BYTES = 8  # copied, cleaned or invalidated by the core per cycle
_CONSTANT_BYTES = 1  # read from flash per cycle, as in Vela's configuration of U55
_MACS = 2.0
MACS = {
    "bmm": 0.7,
    "depthwise_conv2d": 0.6,
}
"""Multiply-accumulates of a Cortex-M55 with Helium per cycle, from measure/bench.

Other ops take `_MACS`.
"""

CYCLES = {
    "adaptive_avg_pool2d": 4.0,
    "add": 9.0,
    "avg_pool2d": 2.0,
    "cat": 2.5,
    "cumsum": 6.5,
    "equal": 3.0,
    "less": 3.0,
    "log_softmax": 11.0,
    "logsumexp": 11.0,
    "lut": 1.5,
    "masked_softmax": 18.0,
    "mean": 0.75,
    "mean_pool2d": 3.0,
    "mul": 5.0,
    "normalize": 14.0,
    "prelu": 9.0,
    "requantize": 3.0,
    "reshape": 0.0,
    "resize_bilinear": 10.0,
    "second_moment": 8.0,
    "softmax": 10.5,
    "transpose": 2.5,
}
"""Cycles of a Cortex-M55 with Helium per value, from measure/bench.

The count of values is the larger of those read and those written. Other ops take 1.
"""


def core_cycles(node: Node) -> int:
    op = dialect_op(node)
    assert op is not None
    if op.macs is not None:
        macs = MACS.get(op.name.removeprefix(ADOPTED), _MACS)
        return math.ceil(op.macs(*map(value_of, node.args)) / macs)
    values = max(map(_size, (node, *inputs_of(node))))
    return math.ceil(values * CYCLES.get(op.name.removeprefix(ADOPTED), 1.0))


def constant_cycles(node: Node) -> int:
    """Return the core's cycles for a first read of an op's constants."""
    constants = [n for n in node.all_input_nodes if n.op == "get_attr"]
    return sum(map(_bytes, constants)) // _CONSTANT_BYTES


def not_worth(nodes: Sequence[Node], npu_cycles: int = 0) -> str:
    """Return why a region, a list of its ops, should stay on the core; "" if it should not.

    Args:
      npu_cycles: of the program, where there is one.
    """
    core = sum(map(core_cycles, nodes))
    border = sum(map(border_cycles, (*sources_of(nodes), *results_of(nodes))))
    call = CALL + math.floor(border) + npu_cycles
    if core > call:
        return ""
    whose = f", {npu_cycles} of them its own" if npu_cycles else ""
    what = "it" if len(nodes) == 1 else f"these {len(nodes)} ops"
    return f"the core takes some {core} cycles for {what}, and {call} for a call of the NPU{whose}"


def _size(node: Node) -> int:
    value: torch.Tensor = node.meta["val"]
    return value.numel()


def border_cycles(node: Node) -> float:
    """Return the core's cycles for a value between it and the NPU."""
    return _bytes(node) / _BORDER_BYTES


def _bytes(node: Node) -> int:
    value: torch.Tensor = node.meta["val"]
    return value.numel() * value.element_size()
