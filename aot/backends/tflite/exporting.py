# SPDX-License-Identifier: Apache-2.0
"""A graph of the dialect as a .tflite file."""

from __future__ import annotations

from collections.abc import Sequence

from torch.fx import GraphModule, Node

from aot.backends.tflite.emitters import EMITTERS
from aot.backends.tflite.emitters.patterns import whole
from aot.backends.tflite.emitters.recurrence import keeps_its_own
from aot.backends.tflite.export import Export, Refused
from aot.backends.tflite.file import TfliteFile
from aot.dialect.graph import (
    Origin,
    arguments,
    border_nodes,
    dialect_op,
    edge_of,
    inputs_of,
    state_nodes,
    state_of,
)
from aot.dialect.results import is_result, results_of
from aot.errors import LoweringError, Problem, describe, place

_HINT = 'a target without a .tflite file, such as "cortex-m", which runs it'
_STEPS = "its steps written out, with linear layers, sigmoid and tanh"
_HINTS = {
    "pl.gru": f"{_STEPS}; or {_HINT}",
    "pl.lstm": f"{_STEPS}; or {_HINT}",
    "pl.rnn": f"{_STEPS}; or {_HINT}",
    "pl.log_softmax": f"softmax, whose order is the same; or {_HINT}",
    "pl.lut": "a function that TFLite has, such as hardswish for SiLU or GELU, or two functions "
    f"with a layer between them; or {_HINT}",
    "pl.normalize": f"BatchNorm, which becomes a part of the layer before it; or {_HINT}",
    "pl.prelu": f"LeakyReLU, or relu(x) - slope * relu(-x); or {_HINT}",
}


def to_tflite(module: GraphModule) -> bytes:
    """Return the .tflite file of a whole dialect graph; TFLite Micro computes the same bits.

    docs/tflite.md lists the exceptions.

    Args:
      module: verified, possibly rewritten. A pointwise function's table may differ from
        TFLite's own by 1. It then becomes TFLite's table, in place: the graph is the
        reference of the file.

    Raises:
      LoweringError: lists all ops without such a form, with their places and reasons.
    """
    # Emitters use the definitions above.

    export = Export(module)
    problems: list[Problem] = []
    inputs, outputs = border_nodes(module)
    every = state_nodes(module)
    export.kept = {old for old, new in every if keeps_its_own(old, new)}
    states = [(old, new) for old, new in every if old not in export.kept]
    patterns = whole(module)
    inside = {inner for _, nodes in patterns.values() for inner in nodes}
    for node in module.graph.nodes:
        if node.op not in ("placeholder", "call_function") or node in inside | export.kept:
            continue
        try:
            if node.op == "placeholder":
                _placeholder(export, node, first=bool(states) and node is states[0][0])
            elif node in patterns:
                patterns[node][0](export)
            elif not is_result(node):
                _emit(export, node)
        except (Refused, ValueError) as reason:
            problems.append(_problem(node, str(reason)))
            for result in (node, *results_of(node)) if node.op == "call_function" else (node,):
                export.give(result, 0)
    if problems:
        what = "1 op has" if len(problems) == 1 else f"{len(problems)} ops have"
        raise LoweringError(f"{what} no equivalent in a .tflite file with the same bits:", problems)
    for old, new in states:
        handle = _handle(export.file, state_of(old).name)
        export.file.op("ASSIGN_VARIABLE", [handle, export.tensor(new)], [], "AssignVariableOptions")
    export.finish()
    export.file.border([export.tensor(n) for n in inputs], [export.tensor(n) for n in outputs])
    if states:
        _initial_graph(export, [old for old, _ in states])
    return export.file.bytes()


def refusal(node: Node) -> str:
    """Return why a node of the dialect cannot be written to a file; "" if it can.

    Nothing is changed.
    """
    module = node.graph.owning_module
    assert module is not None
    export = Export(module)
    try:
        for source in inputs_of(node):
            export.give(source)
        _emit(export, node)
    except (Refused, ValueError) as reason:
        return str(reason)
    return ""


def _emit(export: Export, node: Node) -> None:
    # Emitters use the definitions above.
    op = dialect_op(node)
    if op is None or op.name not in EMITTERS:
        raise Refused("TFLite has no op for it")
    EMITTERS[op.name](export, node, arguments(node))


def _placeholder(export: Export, node: Node, first: bool) -> None:
    """Add an input, or a state. The first state is read after all are initialized."""
    tensor = export.give(node)
    if "state" not in node.meta:
        return
    if first:
        export.file.op("CALL_ONCE", [], [], "CallOnceOptions", InitSubgraphIndex=1)
    handle = _handle(export.file, state_of(node).name)
    export.file.op("READ_VARIABLE", [handle], [tensor], "ReadVariableOptions")


def _handle(file: TfliteFile, name: str) -> int:
    handle = file.tensor(f"{name}_handle", (), "resource")
    file.op("VAR_HANDLE", [], [handle], "VarHandleOptions", SharedName=name)
    return handle


def _initial_graph(export: Export, states: Sequence[Node]) -> None:
    export.file.graph()
    for node in states:
        state, of = state_of(node), edge_of(node).quantization
        handle = _handle(export.file, state.name)
        value = export.file.tensor(
            f"{state.name}_initial",
            state.initial.shape,
            str(state.initial.dtype).removeprefix("torch."),
            () if of is None else (of.scale,),
            0 if of is None else of.zero_point,
            data=state.initial.contiguous().numpy(),
        )
        export.file.op("ASSIGN_VARIABLE", [handle, value], [], "AssignVariableOptions")
    export.file.border([], [])


def _problem(node: Node, reason: str) -> Problem:
    origin = node.meta.get("origin", Origin())
    op = dialect_op(node)
    name = f"pl.{op.name}" if op is not None else str(node.target)
    written = f"{', '.join(origin.ops)} ({name})" if origin.ops else name
    where = place(origin.module, origin.source)
    hint = _HINTS.get(name, f"{_HINT}; or write it with ops that TFLite has (docs/tflite.md)")
    return Problem(written, describe(node.meta["val"]), where, reason, hint)
