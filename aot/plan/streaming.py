# SPDX-License-Identifier: Apache-2.0
"""Streamed input: the app provides rows on demand, and the whole input is never in memory.

A step makes it, like any other tensor. It may therefore be in a row group, and in a row ring
buffer.
"""

from dataclasses import replace

from aot.plan.graph import Graph, Step
from aot.plan.rows import Rows, with_groups
from kernels.common.kernel import KernelCall, KernelError, OpCall
from kernels.common.rows import ByRows, row_count

INPUT = "pl_input_rows"


def with_streamed_input(graph: Graph) -> Graph:
    """Return the graph with an additional step that produces its input.

    Raise KernelError if it does not have exactly one input of rows.
    """
    ports = graph.program.inputs
    if len(ports) != 1:
        raise KernelError(
            f"has {len(ports)} inputs; only a model with one input can take it row by row"
        )
    value = ports[0].value
    rows = row_count(value.shape)
    if rows == 1:
        raise KernelError(
            f"input {value.name} {list(value.shape)} is one row. To come row by row, it needs two "
            "dimensions with more than one element"
        )
    kernel = KernelCall(INPUT, "firmware/runtime/rows.h", {}, {}, {}, rows=ByRows(rows, {}, {}))
    step = Step(OpCall("input", {}, (value,)), kernel, (), (value,))
    return replace(graph, steps=(step, *graph.steps), streamed=value)


def in_a_group(graph: Graph) -> Graph:
    """Return the graph with the step that produces the input in a row group."""
    if graph.streamed is None or graph.steps[0].rows is not None:
        return graph
    group = Rows(graph).group(0, 1)
    if group is None:
        raise KernelError(f"input {graph.streamed.name} is not used, so it cannot come row by row")
    return with_groups(graph, {0: group})
