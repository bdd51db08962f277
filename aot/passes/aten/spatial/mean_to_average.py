# SPDX-License-Identifier: Apache-2.0
"""mean(x, rows and columns) -> avg_pool2d(x) over all of them; it keeps the scale of x.

For engines whose pools take fewer cycles than sums with a scale of their own. Matches means over
exactly the last two of four dimensions. Leaves means not wanted by the caller, and images larger
than the largest window.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch.fx import GraphModule, Node

from aot.dialect.rule import argument, reduction
from aot.passes.aten.build import call

_aten = torch.ops.aten
_RANK = 4
LARGEST_WINDOW = 256
"""Rows, or columns."""


def mean_to_average(module: GraphModule, wanted: Callable[[Node, int], bool]) -> int:
    """Rewrite the graph in place; return the number of new pools.

    Args:
      module: the graph.
      wanted: returns True if the mean of an image, with this number of pixels, should be
        a pool.
    """
    count = 0
    for node in list(module.graph.nodes):
        if node.target is not _aten.mean.dim or not _is_of_images(node):
            continue
        source = node.args[0]
        kernel = list(source.meta["val"].shape[2:])
        if wanted(source, math.prod(kernel)):
            with module.graph.inserting_before(node):
                result = call(node, _aten.avg_pool2d.default, source, kernel)
                if not argument(node, "keepdim"):
                    shape = list(node.meta["val"].shape)
                    result = call(node, _aten.view.default, result, shape)
            node.replace_all_uses_with(result)
            module.graph.erase_node(node)
            count += 1
    return count


def _is_of_images(node: Node) -> bool:
    source = node.args[0]
    assert isinstance(source, Node)
    shape = source.meta["val"].shape
    return (
        len(shape) == _RANK
        and reduction(node, _RANK)[0] == [2, 3]
        and shape[2] * shape[3] > 1
        and max(shape[2:]) <= LARGEST_WINDOW
    )
