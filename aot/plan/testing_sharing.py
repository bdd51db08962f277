# SPDX-License-Identifier: Apache-2.0
"""Simple form of share_memory for comparison. It lays out every candidate from scratch."""

from dataclasses import replace

from aot.plan.graph import Alias, Graph, Step, cat_offsets
from aot.plan.layout import ALIGNMENT, Conflict, Layout
from aot.plan.planner import lower_bound
from aot.plan.sharing import Sharing


def share_memory_simply(graph: Graph) -> Sharing:
    """Join concatenations, then in-place calls."""
    layout = Layout(graph, graph.steps, graph.aliases, {})
    for step in graph.steps:
        layout = _better(layout, _with_concatenation(graph, layout, step))
    for index, step in enumerate(layout.steps, 1):
        for pair in step.kernel.in_place:
            if index not in layout.in_place:
                layout = _better(layout, _with_in_place(graph, layout, index, pair))
    return Sharing(layout.steps, layout.blocks, layout.locations, layout.aliases, layout.in_place)


def _better(layout: Layout, candidate: Layout | None) -> Layout:
    return layout if candidate is None or _bound(candidate) > _bound(layout) else candidate


def _bound(layout: Layout) -> int:
    return lower_bound([replace(block, over=()) for block in layout.blocks], ALIGNMENT)


def _with_concatenation(graph: Graph, layout: Layout, step: Step) -> Layout | None:
    """Return the layout with the step's inputs inside its result; None if impossible."""
    offsets = cat_offsets(step.op)
    inputs = step.op.tensors("inputs") if offsets is not None else ()
    if offsets is None or any(value.constant is not None for value in inputs):
        return None
    result = step.op.output().name
    added = (Alias(v.name, result, offset) for v, offset in zip(inputs, offsets, strict=True))
    steps = tuple(other for other in layout.steps if other is not step)
    try:
        return Layout(graph, steps, (*layout.aliases, *added), layout.in_place)
    except Conflict:
        return None


def _with_in_place(
    graph: Graph, layout: Layout, index: int, pair: tuple[str, str]
) -> Layout | None:
    """Return the layout with the step's result over its input; None if impossible."""
    step = layout.steps[index - 1]
    source, result = pair
    if source not in {value.name for value in step.reads}:
        return None
    try:
        candidate = Layout(graph, layout.steps, layout.aliases, {**layout.in_place, index: pair})
    except Conflict:
        return None
    others = [value.name for value in step.reads if value.name != source]
    if any(_meet(graph, candidate, name, result) for name in others):
        return None
    return candidate


def _meet(graph: Graph, layout: Layout, name: str, other: str) -> bool:
    a, b = layout.locations[name], layout.locations[other]
    return (
        a.block == b.block
        and a.offset < b.offset + graph.activations[other].bytes
        and b.offset < a.offset + graph.activations[name].bytes
    )
