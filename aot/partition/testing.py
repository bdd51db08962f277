# SPDX-License-Identifier: Apache-2.0
"""Nets for the partition, and their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule, Node

from aot.backends.cortex_m import CORTEX_M
from aot.backends.target import Target
from aot.backends.traits import Traits
from aot.dialect.delegate import delegate_of
from aot.dialect.graph import border_nodes, dialect_op
from aot.dialect.verifier import verify
from aot.passes.fold_qdq import fold_qdq
from aot.passes.rewrite.compose_luts import compose_luts
from aot.passes.rewrite.simplify_movement import simplify_movement
from aot.passes.rewrite.sink_transposes import sink_transposes
from aot.targets import target_named
from aot.testing.fixtures import model, quantized, samples

IMAGE = (1, 3, 8, 6)


def rewritten(
    function: Callable[..., object],
    *parts: nn.Module,
    shapes: Any,
    traits: Mapping[str, Traits] | None = None,
) -> GraphModule:
    """Return the graph before the partition, quantized with a target's traits."""
    graph = fold_qdq(quantized(model(function, *parts), samples(*shapes), traits))
    for rewrite in (sink_transposes, compose_luts, simplify_movement):
        rewrite(graph)
    verify(graph, "the layout passes")
    return graph


def residual() -> GraphModule:
    def forward(a: Any, b: Any, c: Any, d: Any, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(a(x))
        x = F.relu(x + b(F.relu(c(x))))
        return torch.sigmoid(d(x.mean((2, 3))))

    convs = [nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)]
    return rewritten(forward, *convs, nn.Linear(4, 5), shapes=[IMAGE])


def two_ends() -> GraphModule:
    """Return two outputs of two inputs that meet in one op."""

    def forward(a: Any, b: Any, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x, y = a(x), b(y)
        z = torch.cat([x, y], 1)
        return torch.tanh(z), F.max_pool2d(z, 2)

    return rewritten(forward, nn.Conv2d(3, 4, 3), nn.Conv2d(3, 4, 3), shapes=[IMAGE, IMAGE])


def dense() -> GraphModule:
    """Return each layer reads all before it."""

    def forward(a: Any, b: Any, c: Any, x: torch.Tensor) -> torch.Tensor:
        for layer in (a, b, c):
            x = torch.cat([x, F.hardswish(layer(x))], 1)
        return x

    return rewritten(forward, nn.Linear(6, 4), nn.Linear(10, 4), nn.Linear(14, 4), shapes=[(2, 6)])


def outer_returned() -> GraphModule:
    """Return a graph with a value read inside and outside of the region, and returned twice."""

    def forward(a: Any, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = a(x)
        return y, y.mean(1), y, (y + x[:, :3]) * 0.5

    return rewritten(forward, nn.Linear(6, 3), shapes=[(2, 6)])


def unplaced(name: str, *more: str) -> Target:
    """Return a named target whose engines take regions whole, for tests of their programs."""
    target = target_named(name, *more)
    engines = (replace(engine, place=None) for engine in target.engines)
    return replace(target, backends=(*engines, CORTEX_M))


NETS: dict[str, Callable[[], GraphModule]] = {
    "residual": residual,
    "two ends": two_ends,
    "dense": dense,
    "returned": outer_returned,
}


def everything(module: GraphModule) -> list[tuple[Node, bool]]:
    """Return every op, with True if it is in a delegate."""
    found = []
    for node in module.graph.nodes:
        if delegate := delegate_of(module, node):
            found += [(n, True) for n in delegate.region.graph.nodes if dialect_op(n)]
        elif dialect_op(node):
            found.append((node, False))
    return found


@dataclass(frozen=True)
class Calls:
    """Calls of a partitioned net: of each delegate its ops, inputs and outputs; the CPU's ops."""

    delegates: list[tuple[list[str], int, int]]
    cpu: list[str]


def calls(module: GraphModule) -> Calls:
    delegates, cpu = [], []
    for node in module.graph.nodes:
        if delegate := delegate_of(module, node):
            ops = [op.name for n in delegate.region.graph.nodes if (op := dialect_op(n))]
            inputs, outputs = border_nodes(delegate.region)
            delegates.append((ops, len(inputs), len(outputs)))
        elif op := dialect_op(node):
            cpu.append(op.name)
    return Calls(delegates, cpu)
