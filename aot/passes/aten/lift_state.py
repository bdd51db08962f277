# SPDX-License-Identifier: Apache-2.0
"""Makes the buffers that a model changes explicit: each becomes an input of the graph, and its new
value an output (aot.dialect.graph.State).

Buffers whose value reaches no output, a counter of calls or one that is written and never read, are
forgotten; so are writes that leave a buffer as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch._export.verifier import SpecViolationError
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch.fx import Graph, GraphModule, Node
from torch.fx.graph import CodeGen

from aot.dialect.graph import State, tensor_constant
from aot.errors import LoweringError, describe
from kernels.common.tensor import MAX_RANK

_aten = torch.ops.aten


@contextmanager
def assignments_kept(model: torch.nn.Module) -> Iterator[None]:
    """Within it, what forward assigns to a buffer of a submodule is written into the buffer when
    forward ends: torch.export keeps assignments to the model's own buffers only.
    """
    buffers: dict[tuple[torch.nn.Module, str], torch.Tensor] = {}

    def remember(*_: object) -> None:
        for part in [m for m in model.modules() if m is not model]:
            buffers.update({(part, n): b for n, b in part._buffers.items() if b is not None})

    def write(*_: object) -> None:
        for (part, name), buffer in buffers.items():
            value = part._buffers[name]
            if value is not None and value is not buffer:
                _check_write(name, buffer, value)
                buffer.copy_(value)
                part._buffers[name] = buffer

    handles = (model.register_forward_pre_hook(remember), model.register_forward_hook(write))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def make_functional(program: ExportedProgram, decompositions: Mapping[Any, Any]) -> ExportedProgram:
    """The program decomposed, so that it writes buffers at its end only.

    Raises:
      LoweringError: a buffer becomes another shape, shares its memory, or shares its new value with
        another; or it is a parameter that changes.
    """
    for node in program.graph.nodes:
        if node.target is _aten.copy_.default:
            buffer, value = node.args
            _check_write(buffer.name.removeprefix("b_"), buffer.meta["val"], value.meta["val"])
    try:
        functional: ExportedProgram = program.run_decompositions(dict(decompositions))
    except AssertionError as error:  # torch's, of a write to memory that has two names
        shared = _shared_memory({**program.state_dict, **program.constants})
        if not shared:
            raise
        raise LoweringError(
            f"the model changes a buffer that shares its memory with another ({shared}): give each "
            "its own, with .clone()"
        ) from error
    except SpecViolationError as error:
        raise LoweringError(
            "the model gives one value to two buffers, or to a buffer and to an input that it "
            "changes: keep it in one"
        ) from error
    for spec in functional.graph_signature.output_specs:
        if spec.kind is OutputKind.PARAMETER_MUTATION:
            raise LoweringError(
                f"the model changes its parameter {spec.target}: make it a buffer "
                "(register_buffer), which is state"
            )
    return functional


def _check_write(name: str, before: torch.Tensor, value: torch.Tensor) -> None:
    """That a value fits into a buffer: assignments are exported without a look at the shapes."""
    missing = before.dim() - value.dim()
    pairs = zip(value.shape, before.shape[max(missing, 0) :], strict=False)
    if missing < 0 or any(n not in (1, m) for n, m in pairs):
        raise LoweringError(
            f"the model's state {name} is {describe(before)} and becomes {describe(value)}: state "
            "keeps its shape; where it grows, keep the last values only"
        )


def _shared_memory(tensors: Mapping[str, object]) -> str:
    """Pairs of names whose tensors lie in one piece of memory, for a message."""
    owners: dict[int, str] = {}
    pairs = []
    for name, tensor in tensors.items():
        if isinstance(tensor, torch.Tensor):
            owner = owners.setdefault(tensor.untyped_storage().data_ptr(), name)
            if owner != name:
                pairs.append(f"{owner} and {name}")
    return ", ".join(pairs)


def lift_state(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many states it has.

    Args:
      module: a functional graph that ends in `copy_` nodes, which write buffers.

    Raises:
      LoweringError: state of another dtype than float32, without elements, or of too many
        dimensions.
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
    for buffer in live:
        with graph.inserting_after(*last) if last else graph.inserting_before(None):
            state = _placeholder(module, buffer)
        buffer.replace_all_uses_with(state)
        last = [state]
        values = {b: state if v is buffer else v for b, v in values.items()}
    output.args = ((*returned, *(values[buffer] for buffer in live)),)
    # What export has around the graph knows the model's own inputs and outputs only.
    graph.set_codegen(CodeGen())
    module._forward_pre_hooks.clear()
    graph.eliminate_dead_code()
    module.recompile()
    return len(live)


def _live(graph: Graph, values: Mapping[Node, Any]) -> list[Node]:
    """Buffers that outputs depend on, in this run or in a later one, in the graph's order."""
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
            f"the model's state {name} is {describe(initial)}: state that an output depends on is "
            "float32; lowering makes it int8"
        )
    if initial.numel() == 0 or initial.dim() > MAX_RANK:
        raise LoweringError(
            f"the model's state {name} is {describe(initial)}: state has at least one element and "
            f"at most {MAX_RANK} dimensions"
        )
    node = module.graph.placeholder(name.replace(".", "_"))
    node.meta.update(val=buffer.meta["val"], state=State(name, initial.clone().contiguous()))
    return node
