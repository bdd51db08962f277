# SPDX-License-Identifier: Apache-2.0
"""Makes a model's changed buffers explicit: each becomes an input of the graph, and its new value
an output (aot.dialect.graph.State).

Drops buffers without effect on an output: a counter of calls, or a buffer written and never read.
Drops writes without effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind, OutputSpec
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import PendingUnbackedSymbolNotFound
from torch.fx.graph import CodeGen

from aot.dialect.graph import State, drop_dead_code, state_of, tensor_constant
from aot.errors import WRITTEN_OUT, LoweringError, describe, node_of, op_name, place, place_of
from aot.passes.aten.decompositions.run_decompositions import run_decompositions
from aot.upstream.torch import (
    OpOverload,
    SpecViolationError,
    is_functorch_wrapped_tensor,
    tree_map_only,
)
from kernels.common.tensor import MAX_RANK

_aten = torch.ops.aten

_EXECUTING = re.compile(r"While executing %(\w+)")


@contextmanager
def assignments_kept(model: torch.nn.Module) -> Iterator[None]:
    """Write forward's assignments to buffers into them at its end, within the context.

    torch.export does this for the model's own buffers only, not for submodules. It also uses the
    assigned value itself. The program is wrong if the value is an input or another buffer, or if
    the old value is a result. Therefore values and results are copied before anything is written.
    """
    buffers: dict[tuple[torch.nn.Module, str], tuple[str, torch.Tensor | None]] = {}

    def remember(*_: object) -> None:
        for path, part in model.named_modules():
            for name, buffer in part._buffers.items():
                buffers[part, name] = f"{path}.{name}".removeprefix("."), buffer

    def write(_module: torch.nn.Module, _inputs: object, results: Any) -> Any:
        copies: dict[tuple[torch.nn.Module, str], torch.Tensor] = {}
        for (part, name), (full_name, buffer) in buffers.items():
            value = part._buffers[name]
            if value is not buffer:
                if buffer is None or value is None or _spec(value) != _spec(buffer):
                    raise _changed(full_name, buffer, value)
                copies[part, name] = value.clone()
        if not copies:
            return results
        results = tree_map_only(torch.Tensor, torch.clone, results)
        for (part, name), value in copies.items():
            _, buffer = buffers[part, name]
            if part is model:
                setattr(part, name, value)  # visible to export
            elif buffer is not None:
                buffer.copy_(value)
                part._buffers[name] = buffer
        return results

    handles = (model.register_forward_pre_hook(remember), model.register_forward_hook(write))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def make_functional(program: ExportedProgram, kept: Iterable[Any]) -> ExportedProgram:
    """Return the decomposed program, without the kept ops. It writes buffers at its end only.

    Raises:
      LoweringError: a buffer changes its shape, shares its memory, or shares its new
        value with another; or a changed tensor is no buffer.
    """
    _separate_names(program)
    for node in program.graph.nodes:
        if node.target is _aten.copy_.default:
            buffer, value = node.args
            _check_write(buffer.name.removeprefix("b_"), buffer.meta["val"], value.meta["val"])
    try:
        functional = run_decompositions(program, kept)
    except SpecViolationError as error:
        raise LoweringError(
            "the model writes one value to two buffers, or to a buffer and an input. Keep it in "
            "one of them"
        ) from error
    except (AssertionError, RuntimeError) as error:  # torch's
        constants = {**program.state_dict, **program.constants}
        if any(map(_is_wrapped, constants.values())):
            raise LoweringError(
                "the model transforms a function in a way that torch.export cannot trace "
                f"(torch.func.grad, jvp and similar)\n    instead: {WRITTEN_OUT}"
            ) from error
        shared = _shared_memory(constants)
        if shared and isinstance(error, AssertionError):
            raise LoweringError(
                f"the model changes a buffer that shares its memory with another ({shared}). Give "
                "each its own memory with .clone()"
            ) from error
        if isinstance(error, PendingUnbackedSymbolNotFound):
            raise
        raise _not_decomposed(program, error) from error
    for spec in functional.graph_signature.output_specs:
        if spec.kind is OutputKind.PARAMETER_MUTATION and _is_renormed(functional, spec):
            layer = str(spec.target).rpartition(".")[0] or "the model"
            raise LoweringError(
                f"max_norm of {layer} changes the weight in each call. Apply it once, under "
                "torch.no_grad(): weight.copy_(weight.renorm(norm_type, 0, max_norm)), then set "
                "layer.max_norm = None"
            )
        if spec.kind is OutputKind.PARAMETER_MUTATION:
            raise LoweringError(
                f"the model changes its parameter {spec.target}: make it a buffer "
                "(register_buffer), which is state"
            )
    return functional


def _separate_names(program: ExportedProgram) -> None:
    """Give the other names of a buffer memory of their own: export reads and writes one name only,
    and leaves the others without a reader.
    """
    readers = {node.name: node.users for node in program.graph.nodes if node.op == "placeholder"}
    for spec in program.graph_signature.input_specs:
        if spec.kind is not InputKind.BUFFER:
            continue
        for tensors in (program.state_dict, program.constants):
            tensor = tensors.get(spec.target or "")
            if isinstance(tensor, torch.Tensor) and not readers.get(spec.arg.name, True):
                tensors[str(spec.target)] = tensor.clone()


def _not_decomposed(program: ExportedProgram, error: Exception) -> LoweringError:
    """Return the error for an op without decomposition: memory, or torch's own reason."""
    node = _failed_at(program, error)
    at = f"\n    at {place(op_name(node), place_of(node))}" if node else ""
    text = [*str(error).strip().splitlines(), ""][0]
    is_written = any(
        isinstance(n.target, OpOverload) and n.target._schema.is_mutable
        for n in program.graph.nodes
    )
    if is_written:
        return LoweringError(
            f"torch.export cannot follow what the model changes: {text}{at}\n"
            "    instead: make it a buffer (register_buffer) with memory of its own, and change it "
            "in place or assign to it"
        )
    return LoweringError(
        f"torch.export cannot decompose an op of the model: {text}{at}\n    instead: other "
        "functions that compute the same (docs/operators.md)"
    )


def _failed_at(program: ExportedProgram, error: Exception) -> Node | None:
    """Return torch's current node of a program, from its frames or from the error's text."""
    names = {node.name: node for node in program.graph.nodes if node.op == "call_function"}
    found = _EXECUTING.search(str(error))
    node = node_of(error)
    name = found[1] if found else node.name if node else ""
    return names.get(name)


def _is_renormed(program: ExportedProgram, spec: OutputSpec) -> bool:
    """Return True if a parameter's new value comes from max_norm of an embedding."""
    nodes = [n for n in program.graph.nodes if n.name == spec.arg.name]
    return any(n.target is torch.ops.aten.embedding_renorm.default for n in nodes)


def _check_write(name: str, before: torch.Tensor, value: torch.Tensor) -> None:
    """Raise LoweringError if a value does not fit into a buffer: export does not check shapes of
    writes.
    """
    missing = before.dim() - value.dim()
    pairs = zip(value.shape, before.shape[max(missing, 0) :], strict=False)
    if missing < 0 or any(n not in (1, m) for n, m in pairs):
        raise _changed(name, before, value)


def _spec(value: torch.Tensor) -> tuple[torch.Size, torch.dtype]:
    return value.shape, value.dtype


def _changed(name: str, before: object, value: object) -> LoweringError:
    return LoweringError(
        f"the model's state {name} is {describe(before)} and becomes {describe(value)}: state "
        "keeps its shape and dtype from before the first run; where it grows, keep the last values "
        "only"
    )


def _is_wrapped(value: object) -> bool:
    """Return True for a tensor of a torch.func transformation; it has no memory."""
    return isinstance(value, torch.Tensor) and is_functorch_wrapped_tensor(value)


def _shared_memory(tensors: Mapping[str, object]) -> str:
    """Return pairs of names whose tensors share memory, for a message."""
    owners: dict[int, str] = {}
    pairs = []
    for name, tensor in tensors.items():
        if isinstance(tensor, torch.Tensor):
            owner = owners.setdefault(tensor.untyped_storage().data_ptr(), name)
            if owner != name:
                pairs.append(f"{owner} and {name}")
    return ", ".join(pairs)


def lift_state(module: GraphModule) -> int:
    """Lift the state in place; return the number of states.

    Args:
      module: a functional graph ending in `copy_` nodes; these write buffers.

    Raises:
      LoweringError: state of another dtype than float32, before or after, without
        elements, or with too many dimensions.
    """
    graph = module.graph
    writes = {n.args[0]: n.args[1] for n in graph.nodes if n.target is _aten.copy_.default}
    for node in list(graph.nodes):
        if node.target is _aten.copy_.default:
            node.replace_all_uses_with(node.args[1])
            graph.erase_node(node)
    output = graph.output_node()
    returned: Any = output.args[0]
    values = {b: v for b, v in writes.items() if isinstance(b, Node) and b is not v}
    live = _live(graph, values)
    if not live:
        return 0
    last = [n for n in graph.nodes if n.op == "placeholder"][-1:]
    states: list[Node] = []
    for buffer in live:
        with graph.inserting_after(*last) if last else graph.inserting_before(None):
            state = _placeholder(module, buffer)
        buffer.replace_all_uses_with(state)
        last = [state]
        states.append(state)
        values = {b: state if v is buffer else v for b, v in values.items()}
    with graph.inserting_before(output):
        new = [_fitting(values[buffer], state) for buffer, state in zip(live, states, strict=True)]
    output.args = ((*returned, *new),)
    take_tensors(module)
    drop_dead_code(graph)
    module.recompile()
    return len(live)


def take_tensors(module: GraphModule) -> None:
    """Make a graph take and give tensors one by one: export's wrapper only knows the model's own
    inputs and outputs.
    """
    module.graph.set_codegen(CodeGen())
    module._forward_pre_hooks.clear()


def _live(graph: Graph, values: Mapping[Node, Any]) -> list[Node]:
    """Return the buffers with effect on an output, in this run or a later one, in graph order."""
    seen: set[Node] = set()
    waiting = list(graph.output_node().all_input_nodes)
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += node.all_input_nodes
            if isinstance(values.get(node), Node):
                waiting.append(values[node])
    return [node for node in graph.nodes if node in values and node in seen]


def _placeholder(module: GraphModule, buffer: Node) -> Node:
    name = str(buffer.target)
    initial = tensor_constant(module, buffer)
    assert initial is not None
    if initial.dtype != torch.float32:
        raise LoweringError(
            f"the model's state {name} is {describe(initial)}; state that an output depends on "
            "must be float32, and lowering quantizes it"
        )
    if initial.numel() == 0 or initial.dim() > MAX_RANK:
        raise LoweringError(
            f"the model's state {name} is {describe(initial)}; state must have one element or "
            f"more, and at most {MAX_RANK} dimensions"
        )
    node = module.graph.placeholder(name.replace(".", "_"))
    node.target = node.name  # nothing else's, be it an input or a buffer of another module
    node.meta.update(val=buffer.meta["val"], state=State(name, initial.clone().contiguous()))
    return node


def _fitting(value: Node, state: Node) -> Node:
    """Return the value written to a state, repeated to the state's shape as copy_ does."""
    before, after = state.meta["val"], value.meta["val"]
    if before.dtype != after.dtype:
        raise _changed(state_of(state).name, before, after)
    if before.shape == after.shape:
        return value
    expand, shape = _aten.expand.default, list(before.shape)
    node = value.graph.call_function(expand, (value, shape))
    node.meta = {**value.meta, "val": expand(after, shape)}
    return node
