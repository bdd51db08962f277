# SPDX-License-Identifier: Apache-2.0
"""avg_pool2d(x) over whole axes -> mean(x): its result has its own quantization.

Matches avg_pool2d and adaptive_avg_pool2d. Along each axis the window is the whole input or one
element; at least one axis is whole. Leaves pools with padding or a divisor of their own.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.rule import argument, pair

_aten = torch.ops.aten
_ADAPTIVE = _aten.adaptive_avg_pool2d.default
_POOL = _aten.avg_pool2d.default


def _averaged(node: Node) -> list[int]:
    """Return the axes, counted from the end, of a pool's mean; none if it is no mean."""
    source = node.args[0]
    assert isinstance(source, Node)
    before, after = source.meta["val"].shape[-2:], node.meta["val"].shape[-2:]
    if node.target is _POOL:
        kernel = pair(argument(node, "kernel_size"))
        if any(pair(argument(node, "padding"))) or argument(node, "divisor_override"):
            return []
    else:
        kernel = [size // out for size, out in zip(before, after, strict=True)]
    axes = []
    for axis, window, size, out in zip((-2, -1), kernel, before, after, strict=True):
        if out == 1 and window == size:
            axes.append(axis)
        elif (window, out) != (1, size):
            return []
    return axes


def average_to_mean(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many pools became means."""
    count = 0
    for node in list(module.graph.nodes):
        axes = _averaged(node) if node.target in (_ADAPTIVE, _POOL) else []
        if axes:
            node.target, node.kwargs = _aten.mean.dim, {}
            node.args = (node.args[0], axes, True)
            count += 1
    return count
