# SPDX-License-Identifier: Apache-2.0
"""Reader of NXP's converter output: a .tflite file with one custom op, NeutronGraph, the NPU's
program.

Its last inputs are microcode, weights and kernels. Its last outputs are memory that it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aot.errors import LoweringError
from aot.importers.tflite.file import DAMAGE, TfliteGraph, TfliteOperator, blob, read
from npu.neutron.payload import NeutronProgram

_PROGRAM = "CUSTOM NeutronGraph"
_BLOBS = 3  # microcode, weights, kernels
_MEMORIES = {0: 1, 1: 3}
"""Extra outputs by version: scratch; or scratch, profile and debug."""


class Leftover(Exception):
    """The converter left an op to the core; `node` is the region's op containing it."""

    def __init__(self, node: str, builtin: str) -> None:
        super().__init__(f"NXP's converter leaves its {builtin} to the core")
        self.node = node


def program_of(
    sent: bytes, converted: bytes, nodes: Sequence[str], parts: Mapping[str, str]
) -> NeutronProgram:
    """Return the program in the converter's file.

    Args:
      sent: the .tflite file of the region.
      converted: the converter's result.
      nodes: the region's ops, in order.
      parts: the op that a sent tensor is a result of, by the tensor's name.

    Raises:
      Leftover: there is more than the program, or none.
      LoweringError: the file has an unexpected form.
    """
    before, graph = _graph(sent, "sent to"), _graph(converted, "of")
    others = [op for op in graph.operators if op.name != _PROGRAM]
    if others:
        raise _leftover(before, graph, others, nodes, parts)
    if len(graph.operators) != 1:
        raise _damaged(
            f"the converted file has {len(graph.operators)} operators where one is expected"
        )
    (op,) = graph.operators
    inputs, blobs = op.inputs[:-_BLOBS], op.inputs[-_BLOBS:]
    extra = len(op.outputs) - len(graph.outputs)
    versions = [version for version, memories in _MEMORIES.items() if memories == extra]
    if not inputs or -1 in (*op.inputs, *op.outputs) or not versions:
        raise _damaged(f"its operator has {len(op.inputs)} inputs and {len(op.outputs)} outputs")
    try:
        microcode, weights, kernels = (blob(converted, index) for index in blobs)
    except DAMAGE as error:
        raise _damaged(f"its payload cannot be read: {error}") from error
    return NeutronProgram(
        _places(before, before.inputs, graph, inputs, "takes"),
        _places(before, before.outputs, graph, op.outputs[: len(graph.outputs)], "gives"),
        microcode,
        weights,
        kernels,
        versions[0],
    )


def _graph(data: bytes, whose: str) -> TfliteGraph:
    try:
        graphs = read(data)
    except LoweringError as error:
        raise LoweringError(f"the file {whose} NXP's converter: {error}") from error
    if len(graphs) != 1:
        raise _damaged(f"the converted file has {len(graphs)} graphs; one is expected")
    return graphs[0]


def _damaged(what: str) -> LoweringError:
    return LoweringError(f"NXP's converter gives a file that is not understood here: {what}")


def _places(
    before: TfliteGraph,
    border: Sequence[int],
    graph: TfliteGraph,
    tensors: Sequence[int],
    verb: str,
) -> tuple[int, ...]:
    """Return the positions of values among the sent file's inputs or outputs, by their names."""
    names = [before.tensors[index].name for index in border]
    wanted = [graph.tensors[index].name for index in tensors]
    for name in wanted:
        if names.count(name) != 1:
            raise _damaged(f"its program {verb} `{name}`, of {', '.join(names)}")
    return tuple(map(names.index, wanted))


def _leftover(
    before: TfliteGraph,
    graph: TfliteGraph,
    others: Sequence[TfliteOperator],
    nodes: Sequence[str],
    parts: Mapping[str, str],
) -> Exception:
    """Return the error for the first remaining op of the region."""
    found = {}
    for op in others:
        name = graph.tensors[op.outputs[0]].name if op.outputs else ""
        found[_node(before, name, parts)] = op.name
    for node in nodes:
        if node in found:
            return Leftover(node, found[node])
    return _damaged(f"an op {others[0].name} that was not sent")


def _node(before: TfliteGraph, name: str, parts: Mapping[str, str]) -> str:
    """Return the op of a tensor: a result of it, or on the way to one; "" if none."""
    while name not in parts:
        readers = [
            op
            for op in before.operators
            if any(i >= 0 and before.tensors[i].name == name for i in op.inputs)
        ]
        if not readers:
            return ""
        name = before.tensors[readers[0].outputs[0]].name
    return parts[name]
