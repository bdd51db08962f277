# SPDX-License-Identifier: Apache-2.0
"""Resampling without a kernel, of images and volumes: bicubic, trilinear and antialiased. Each axis
is a product with a matrix of weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.passes.aten.decompositions.builders import Results, source_of, times_matrix

_aten = torch.ops.aten

KEPT = (_aten.upsample_bicubic2d.vec, _aten.upsample_trilinear3d.vec)
"""Ops whose decomposition needs an op for each neighbour of an element."""


def _by_axis(module: GraphModule, node: Node) -> Results:
    """Resample axis by axis, the one with the least growth first."""
    x = source_of(node)
    sizes, results = x.meta["val"].shape[2:], node.meta["val"].shape[2:]
    for axis in sorted(range(len(sizes)), key=lambda k: results[k] / sizes[k]):
        x = times_matrix(module, node, x, axis + 2, _matrix(node, sizes, axis))
    return {0: x}


def _matrix(node: Node, sizes: torch.Size, axis: int) -> torch.Tensor:
    """Return the weights of an axis's input positions for the result's positions.

    Rows of the other axes sum to 1, so any of their positions will do.
    """
    count = sizes[axis]
    shape = [1] * len(sizes)
    shape[axis] = count
    places = torch.eye(count).reshape(1, count, *shape).expand(-1, -1, *sizes)
    result: Any = node.target(places, *node.args[1:], **node.kwargs)  # type: ignore[operator]
    matrix: torch.Tensor = result[0].movedim(axis + 1, 1).flatten(2)[..., 0]
    return matrix


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = dict.fromkeys(
    (*KEPT, _aten._upsample_bilinear2d_aa.default, _aten._upsample_bicubic2d_aa.default),
    _by_axis,
)
