# SPDX-License-Identifier: Apache-2.0
"""Node by node decomposition of composite ATen ops.

torch traces the whole program again for it, through all of its modes. Here unaffected ops are
copied; only calls of the others are traced. Harder cases are left to torch: writes into memory
shared by several values, or not owned by the program.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import drop_dead_code
from aot.upstream.torch import (
    OpOverload,
    TorchDispatchMode,
    detect_fake_mode,
    dispatch_has_kernel,
    enable_python_dispatcher,
    is_composite,
    override_composite_decomposition,
    preserved_composite,
    tree_flatten,
    tree_leaves,
    tree_map_only,
    tree_unflatten,
)

Decompositions = Mapping[Any, Callable[..., Any]]

_aten = torch.ops.aten

_IDENTITIES = (_aten.alias.default, _aten.detach.default, _aten.lift_fresh.default)
"""Ops without a trace in torch's result."""

_COPY = _aten.lift_fresh_copy.default
"""Op traced by torch as a clone."""

_WHOLE = _aten.mkldnn_rnn_layer.default
"""Op in place of single ops, run by torch without tracing."""


class NotByNode(Exception):
    """The program has to be traced as a whole."""


def decompose_nodes(
    program: ExportedProgram, composite: Decompositions, decompositions: Decompositions
) -> ExportedProgram:
    """Return torch's result for the same tables.

    Args:
      program: from torch.export; it is left unchanged.
      composite: replacements of torch's own decompositions (CompositeImplicitAutograd),
        by op.
      decompositions: the decomposition of each other op.

    Raises:
      NotByNode: it needs more than one node at a time.
    """
    nodes = list(program.graph.nodes)
    fake = detect_fake_mode([node.meta.get("val") for node in nodes])
    with (
        torch.no_grad(),
        fake or nullcontext(),
        override_composite_decomposition(composite),
        enable_python_dispatcher(),
    ):
        rewriter = _Rewriter(composite, decompositions)
        for node in nodes:
            rewriter.take(node)
    graph = rewriter.graph
    drop_dead_code(graph)
    module = GraphModule(torch.nn.Module(), graph)
    module.meta.update(program.graph_module.meta)
    signature = program.graph_signature
    outputs = copy.deepcopy(signature.output_specs)
    values: Any = graph.output_node().args[0]
    for spec, value in zip(outputs, values, strict=True):
        if isinstance(value, Node):
            spec.arg.name = value.name
    return ExportedProgram(
        root=module,
        graph=graph,
        graph_signature=ExportGraphSignature(copy.deepcopy(signature.input_specs), outputs),
        state_dict=program.state_dict,
        range_constraints=program.range_constraints,
        module_call_graph=program.module_call_graph,
        example_inputs=program.example_inputs,
        constants=program.constants,
    )


class _Rewriter:
    """Builder of a graph from the nodes of another one, given in order."""

    def __init__(self, composite: Decompositions, decompositions: Decompositions) -> None:
        self.graph = Graph()
        self._composite = composite
        self._decompositions = decompositions
        self._values: dict[Node, Any] = {}
        self._owners: dict[Node, Node] = {}  # target of an in-place op, by its result
        self._shared: set[Node] = set()  # values that may share memory with others

    def take(self, node: Node) -> None:
        if node.op == "placeholder":
            new = self.graph.placeholder(str(node.target))
            new.name = node.name
            new.meta = dict(node.meta)
            self._values[node] = new
            self._shared.add(node)
        elif node.op == "output":
            new = self.graph.output(*map_arg(node.args, self._new))
            new.meta = dict(node.meta)
        elif node.target is operator.getitem:
            self._shared.add(node)
            given: Any = map_arg(node.args, self._new)
            results, index = given
            is_one = isinstance(results, Node)
            self._values[node] = (
                self._emit(node, node.target, given, {}) if is_one else results[index]
            )
        elif node.op == "call_function" and isinstance(node.target, OpOverload):
            self._call(node, node.target)
        else:
            raise NotByNode(f"{node.op} {node.target}")

    def _new(self, node: Node) -> Any:
        return self._values[self._owners.get(node, node)]

    def _call(self, node: Node, op: OpOverload) -> None:
        if not any(isinstance(x, torch.Tensor) for x in tree_leaves(node.meta.get("val"))):
            raise NotByNode(f"{op} gives no tensor")
        if any(
            x.is_complex() for x in tree_leaves(node.meta["val"]) if isinstance(x, torch.Tensor)
        ):
            raise NotByNode(f"{op} gives complex numbers, which may be a view of their conjugates")
        written = None
        op = _aten.clone.default if op is _COPY else op
        if op._schema.is_mutable:
            written, op = self._out_of_place(node, op)
        args, kwargs = map_arg((node.args, node.kwargs), self._new)
        if self.stays(op):
            result, is_own = self._emit(node, op, args, kwargs), not _aliases(op)
        else:
            result, is_own = _Recorder(self, node).run(op, args, kwargs)
        if written is not None:
            if not isinstance(result, Node) or _spec(result) != _spec(written):
                raise NotByNode(f"{op} gives another kind of value than it writes into")
            self._owners[node] = written
            self._values[written] = result
        else:
            self._values[node] = result
        if not is_own:
            inputs = (self._owners.get(n, n) for n in node.all_input_nodes)
            self._shared.update((self._owners.get(node, node), *inputs))

    def _out_of_place(self, node: Node, op: OpOverload) -> tuple[Node, OpOverload]:
        """Return the target of an in-place op, and the op with a new value instead."""
        written = node.args[0]
        name, overload = op.overloadpacket.__name__, op._overloadname
        packet = getattr(_aten, name.removesuffix("_"), None)
        other = getattr(packet, overload, None) if name.endswith("_") else None
        if not isinstance(written, Node) or other is None or op.namespace != "aten":
            raise NotByNode(f"{op} has no other form")
        parameters = ([a.name for a in x._schema.arguments] for x in (op, other))
        written = self._owners.get(written, written)
        if other._schema.is_mutable or next(parameters) != next(parameters):
            raise NotByNode(f"{op} has no other form")
        if written in self._shared:
            raise NotByNode(f"{op} writes into what others may read")
        return written, other

    def stays(self, op: OpOverload) -> bool:
        if op in self._decompositions or op in _IDENTITIES:
            return False
        return not is_composite(op) or self._composite.get(op) is preserved_composite

    def decomposition(self, op: OpOverload) -> Callable[..., Any] | None:
        return self._decompositions.get(op)

    def _emit(self, node: Node, target: Any, args: Any, kwargs: Any) -> Node:
        """Return a copy of a node."""
        return self.emit(target, args, kwargs, dict(node.meta))

    def emit(self, target: Any, args: Any, kwargs: Any, meta: dict[str, Any]) -> Node:
        packet = target.overloadpacket if isinstance(target, OpOverload) else target
        name = self.graph._target_to_str(packet.__name__)
        new = self.graph.create_node("call_function", target, args, kwargs, name=name)
        new.meta = meta
        return new


class _Recorder(TorchDispatchMode):
    """Records the ops that an op calls as nodes, all with the origin of its node."""

    def __init__(self, rewriter: _Rewriter, origin: Node) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._rewriter = rewriter
        self._origin = origin
        self._nodes: list[tuple[torch.Tensor, Node]] = []
        self._aliases = False

    def run(self, op: OpOverload, args: Any, kwargs: Any) -> tuple[Any, bool]:
        """Call an op on nodes of the new graph.

        Return the result, and True if it surely has memory of its own.
        """
        flat, spec = tree_flatten((args, kwargs))
        for node in (x for x in flat if isinstance(x, Node)):
            self._nodes.append((node.meta["val"], node))
        given = [node for _, node in self._nodes]
        values, keywords = tree_unflatten(
            [x.meta["val"] if isinstance(x, Node) else x for x in flat], spec
        )
        with self:
            result = op(*values, **keywords)
        result = tree_map_only(torch.Tensor, self._node, result)
        return result, not self._aliases and not any(x in given for x in tree_leaves(result))

    def _node(self, value: torch.Tensor) -> Node:
        for known, node in self._nodes:
            if known is value:
                return node
        raise NotByNode(f"{self._origin.target} has constants of its own")

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        decomposition = self._rewriter.decomposition(func)
        if decomposition is not None:
            with self:
                return decomposition(*args, **kwargs)
        has_kernel = dispatch_has_kernel(func.name())  # a query has none
        if has_kernel and not self._rewriter.stays(func) and func not in _IDENTITIES:
            with self:
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        if func is _WHOLE or func._schema.is_mutable:
            raise NotByNode(f"{self._origin.target} calls {func}")
        result = func(*args, **kwargs)
        if has_kernel and result is None:
            raise NotByNode(f"{self._origin.target} calls {func}, for what it does")
        if not any(isinstance(x, torch.Tensor) for x in tree_leaves(result)):
            return result
        self._aliases |= _aliases(func)
        if func in _IDENTITIES:
            self._nodes.append((result, self._node(args[0])))
            return result
        given = _without_defaults(func, args), kwargs
        new_args, new_kwargs = tree_map_only(torch.Tensor, self._node, given)
        meta = {**self._origin.meta, "val": result}
        new = self._rewriter.emit(func, new_args, new_kwargs, meta)
        if isinstance(result, torch.Tensor):
            self._nodes.append((result, new))
        else:
            for index, value in enumerate(result):
                item = self._rewriter.emit(operator.getitem, (new, index), {}, dict(meta))
                item.meta["val"] = value
                self._nodes.append((value, item))
        return result


def _aliases(op: OpOverload) -> bool:
    """Return True if an op's result may share memory with its arguments."""
    return any(value.alias_info is not None for value in op._schema.returns)


def _without_defaults(op: OpOverload, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments without trailing defaults, like torch."""
    while args:
        parameter = op._schema.arguments[len(args) - 1]
        value = args[-1]
        if isinstance(value, torch.Tensor) or not parameter.has_default_value():
            break
        if type(value) is not type(parameter.default_value) or value != parameter.default_value:
            break
        args = args[:-1]
    return args


def _spec(node: Node) -> tuple[Any, ...]:
    value = node.meta["val"]
    return value.shape, value.dtype, value.stride()
