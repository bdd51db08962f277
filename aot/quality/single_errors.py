# SPDX-License-Identifier: Apache-2.0
"""Effect of each quantized value alone on a model's outputs, with all other values in float."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import torch
from torch.fx import Node

from aot.dialect.qdq import DEQUANTIZE, QUANTIZE, activation_quantization
from aot.quality.decibels import power
from aot.quality.nodes import call, last_readings, source_of

_RANK = 4
"""Rank of images."""

_ELEMENTS = 1 << 24
"""Upper limit for elements of a value held at once, for several errors one after another."""

Environment = dict[Node, Any]
"""Result of each node of a graph."""


class SingleErrors:
    """Runner of a quantized graph in float, with the error of one value at a time.

    Args:
      nodes: of the graph, without its output node.
      outputs: its results.
    """

    def __init__(self, nodes: Sequence[Node], outputs: Sequence[Node]) -> None:
        self._nodes = nodes
        self._outputs = outputs
        self._done = last_readings(nodes, outputs)

    def noises(
        self, exact: Environment, errors: Iterable[tuple[Node, torch.Tensor]]
    ) -> Iterator[list[float]]:
        """Yield for each error the energy of its noise in the outputs.

        Args:
          exact: results of the nodes without any error.
          errors: each with its quantize node, in the order of the graph.
        """
        size = max([1, *(exact[n].numel() for n in self._nodes if n.target is QUANTIZE)])
        errors = iter(errors)
        while some := list(islice(errors, max(1, _ELEMENTS // size))):
            changed = self._changed(exact, some)
            for i in range(len(some)):
                found = (changed.get(n, {}).get(i) for n in self._outputs)
                pairs = zip(self._outputs, found, strict=True)
                yield [0.0 if x is None else energy(exact[n], x) for n, x in pairs]

    def _changed(
        self, exact: Environment, errors: Sequence[tuple[Node, torch.Tensor]]
    ) -> dict[Node, dict[int, Any]]:
        """Return the changed outputs, by the index of the error.

        The graph runs node by node, so inputs other than the values, such as weights, stay in the
        caches.
        """
        places = {node: (i, error) for i, (node, error) in enumerate(errors)}
        changed: dict[Node, dict[int, Any]] = {}
        for node in self._nodes:
            read = [n for n in node.all_input_nodes if n in changed]
            found: dict[int, Any] = {}
            if read and node.target is DEQUANTIZE:
                found = changed[source_of(node)]
            elif read and node.target is QUANTIZE:
                low, high = activation_quantization(node).ends
                # NaN comes from infinities and from inputs for which an op is undefined.
                found = {
                    i: x.nan_to_num(0.0, high, low) for i, x in changed[source_of(node)].items()
                }
            elif read and _is_of_images(node, read, exact):
                found = _of_images(node, changed[read[0]], exact)
            elif read:
                for i in sorted({i for n in read for i in changed[n]}):
                    mine = {n: changed[n][i] for n in read if i in changed[n]}
                    found[i] = call(node, ChainMap(mine, exact).__getitem__)
            if node in places:
                i, error = places[node]
                found |= {i: exact[node] + error} if bool(error.any()) else {}
            if found:
                changed[node] = found
            for n in self._done[node]:
                changed.pop(n, None)
        return changed


def _is_of_images(node: Node, changed: Sequence[Node], exact: Environment) -> bool:
    """Return True if a node is a convolution of changed images with unchanged weights."""
    is_convolution = (
        node.target is torch.ops.aten.convolution.default and exact[node].dim() == _RANK
    )
    return bool(is_convolution and list(changed) == [source_of(node)])


def _of_images(node: Node, images: dict[int, Any], exact: Environment) -> dict[int, Any]:
    """Run one convolution for all errors: with few pixels it takes a quarter of the time."""
    together: Environment = {source_of(node): torch.cat(list(images.values()))}
    result = call(node, ChainMap(together, exact).__getitem__)
    return dict(zip(images, result.split(len(exact[node])), strict=True))


def energy(expected: torch.Tensor, actual: torch.Tensor | None) -> float:
    """Return the energy of a signal, or of its difference from another.

    The energy is the sum of squares for floats and a count for integers.
    """
    if not expected.is_floating_point():
        return float(expected.numel() if actual is None else int((actual != expected).sum()))
    # Infinities of the float model are measured nowhere.
    return power((expected if actual is None else actual - expected).nan_to_num(0.0, 0.0, 0.0))
