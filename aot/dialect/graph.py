# SPDX-License-Identifier: Apache-2.0
"""The typed graph of the dialect: the contents of each edge, and the creation of nodes.

A dialect graph is a torch.fx graph. Its compute nodes call `torch.ops.pl.*`, or ATen ops with float
fallback. Each node giving a tensor has `meta["val"]` (shape and dtype, on the meta device) and
`meta["edge"]` (quantization and layout). Calls with several results: see results.py.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.library import OPS, Op
from aot.dialect.quantization import Quantization
from aot.dialect.results import take, values_of

NHWC = "NHWC"
ROW_MAJOR = "row_major"


@dataclass(frozen=True)
class Edge:
    """Properties of a value in addition to its shape and dtype.

    Attributes:
      quantization: meaning of its integers; None if it is not quantized.
      layout: NHWC if the dimensions are known to be those; ROW_MAJOR otherwise.
    """

    quantization: Quantization | None = None
    layout: str = ROW_MAJOR

    @property
    def scale(self) -> float:
        """0.0 where the value is not quantized, as reports and .pte files have it."""
        return 0.0 if self.quantization is None else self.quantization.scale

    @property
    def zero_point(self) -> int:
        """0 where the value is not quantized."""
        return 0 if self.quantization is None else self.quantization.zero_point


@dataclass(frozen=True)
class Origin:
    """Part of the user's model that a node represents.

    Attributes:
      ops: the ATen ops, e.g. ("aten.convolution", "aten.relu").
      source: line of the model, "" if unknown.
      module: the model's module, e.g. "features.2.0 (Conv2d)", "" if unknown.
      quantized: name of the node with the same value in torchao's quantized graph, "" if
        there is none.
    """

    ops: tuple[str, ...] = ()
    source: str = ""
    module: str = ""
    quantized: str = ""


@dataclass(frozen=True)
class State:
    """A value that the model keeps between runs.

    An ATen graph or a dialect graph takes it as a placeholder after the inputs; its `meta["state"]`
    is this object. The graph returns its new value after the outputs, in the same order.

    Attributes:
      name: of the buffer in the user's model.
      initial: the value for the first run, of the placeholder's shape and dtype.
    """

    name: str
    initial: torch.Tensor


def edge_of(node: Node) -> Edge:
    edge = node.meta["edge"]
    assert isinstance(edge, Edge)
    return edge


def quantization_of(node: Node) -> Quantization:
    """Return the quantization of a node with a quantized value."""
    quantization = edge_of(node).quantization
    assert quantization is not None, node
    return quantization


def shape_of(node: Node) -> tuple[int, ...]:
    return tuple(node.meta["val"].shape)


def dialect_op(node: Node) -> Op | None:
    """Return the dialect op that a node calls, or None."""
    return _op_called(node.target) if node.op == "call_function" else None


@cache  # passes ask it of every node, again and again
def _op_called(target: object) -> Op | None:
    if getattr(target, "namespace", "") != "pl":
        return None
    return OPS[str(target).split(".")[1]]


def calls(node: object, name: str) -> bool:
    """Return True if an argument is a node calling pl::name."""
    if not isinstance(node, Node):
        return False
    op = dialect_op(node)
    return op is not None and op.name == name


def arguments(node: Node) -> dict[str, Any]:
    """Return a dialect node's arguments by name."""
    return {**dict(zip(argument_names(node.target), node.args, strict=False)), **node.kwargs}


@cache
def argument_names(target: Any) -> tuple[str, ...]:
    """Return the argument names of an op, in order."""
    return tuple(argument.name for argument in target._schema.arguments)


def tensor_constant(module: GraphModule, node: object) -> torch.Tensor | None:
    """Return the tensor of a get_attr node, or None for any other argument."""
    if not isinstance(node, Node) or node.op != "get_attr":
        return None
    target: Any = module
    for part in str(node.target).split("."):
        target = getattr(target, part)
    return target.detach() if isinstance(target, torch.Tensor) else None


def new_buffer(module: GraphModule, name: str, value: torch.Tensor) -> str:
    """Add a buffer to a module; return its name.

    The name starts with `name`. It differs from those of other buffers, because torch would replace
    them.
    """
    unique, count = name, 0
    while hasattr(module, unique):
        count += 1
        unique = f"{name}_{count}"
    module.register_buffer(unique, value)
    return unique


class Builder:
    """Makes typed nodes in a graph, at the graph's current insertion point."""

    def __init__(self, module: GraphModule, graph: Graph) -> None:
        self._module = module
        self._graph = graph

    @property
    def graph(self) -> Graph:
        """Return the graph for new nodes."""
        return self._graph

    def placeholder(self, name: str, value: torch.Tensor, edge: Edge) -> Node:
        node = self._graph.placeholder(name)
        node.meta.update(val=value, edge=edge, origin=Origin())
        return node

    def constant(self, name: str, tensor: torch.Tensor, edge: Edge | None = None) -> Node:
        """Return a get_attr node of a new buffer whose name starts with `name`."""
        # Copy with new strides: `contiguous` keeps the stride of a dimension of size 1, even if 0.
        dense = tensor.detach().clone(memory_format=torch.contiguous_format)
        node = self._graph.get_attr(new_buffer(self._module, name.replace(".", "_"), dense))
        value = torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")
        node.meta.update(val=value, edge=edge or Edge(), origin=Origin())
        return node

    def constant_value(self, node: Node) -> torch.Tensor | None:
        """Return the tensor of a constant of the graph, None of any other node."""
        return tensor_constant(self._module, node)

    def call(self, op: Op, *args: Any, edge: Edge, origin: Origin) -> Node:
        """Return a call of a dialect op; shape and dtype come from the op's own rule.

        The edge of an op with several results is empty: `result` takes each one out with its own.
        """
        node = self._graph.call_function(op.overload, args)
        return _marked(node, op.returned(op.values(*map(value_of, args))), edge, origin)

    def result(self, call: Node, index: int, *, edge: Edge, origin: Origin) -> Node:
        """Return one of a call's several results."""
        node = take(self._graph, call, index)
        return _marked(node, values_of(call)[index], edge, origin)


def _marked(node: Node, value: Any, edge: Edge, origin: Origin) -> Node:
    node.meta.update(val=value, edge=edge, origin=origin)
    if origin.source:
        node.meta["stack_trace"] = origin.source
    return node


def value_of(argument: Any) -> Any:
    """Return an argument of a call with nodes replaced by their values."""
    if isinstance(argument, Node):
        return argument.meta["val"]
    if isinstance(argument, (list, tuple)):
        return [value_of(a) for a in argument]
    return argument


def with_layout(edge: Edge, layout: str) -> Edge:
    return replace(edge, layout=layout)


def inputs_of(node: Node) -> Sequence[Node]:
    """Return the activation inputs: node arguments that are not constants."""
    return [n for n in node.all_input_nodes if n.op != "get_attr"]


def copied(module: GraphModule) -> GraphModule:
    """Return a graph to change in place of another one; they share the tensors."""
    return GraphModule(module, copy.deepcopy(module.graph))


def drop_dead_code(graph: Graph) -> bool:
    """Erase nodes without readers and effects. Return True if there were any."""
    # Torch's own function checks each node for effects, and the whole graph for mistakes.
    unread = (n.op not in ("placeholder", "output") and not n.users for n in graph.nodes)
    return any(unread) and graph.eliminate_dead_code()


def border_nodes(module: GraphModule) -> tuple[list[Node], list[Node]]:
    """Return input placeholders and returned nodes, in order with duplicates, without state."""
    inputs = [n for n in module.graph.nodes if n.op == "placeholder" and "state" not in n.meta]
    outputs: list[Node] = []
    map_arg(returned(module)[0], outputs.append)
    return inputs, outputs


def state_nodes(module: GraphModule) -> list[tuple[Node, Node]]:
    """Return the placeholder of each state and its new value, in order."""
    return list(zip(_states(module), returned(module)[1], strict=True))


def state_of(node: Node) -> State:
    """Return the state of its placeholder."""
    state = node.meta["state"]
    assert isinstance(state, State)
    return state


def initial_state(module: GraphModule) -> tuple[torch.Tensor, ...]:
    """Return a graph's state inputs for the first run."""
    return tuple(state_of(node).initial for node in _states(module))


def returned(module: GraphModule) -> tuple[Any, list[Node]]:
    """Return a graph's results: the structure of its outputs, and the new values of its state."""
    results: Any = module.graph.output_node().args[0]
    count = len(_states(module))
    return (results[:-count], list(results[-count:])) if count else (results, [])


def _states(module: GraphModule) -> list[Node]:
    return [n for n in module.graph.nodes if n.op == "placeholder" and "state" in n.meta]


def is_channels_last(value: torch.Tensor) -> bool:
    """Return True if a tensor lies in memory as NHWC and not as NCHW.

    If the bytes are the same in both orders, it counts as NCHW.
    """
    return (
        value.dim() == 4
        and not value.is_contiguous()
        and value.is_contiguous(memory_format=torch.channels_last)
    )
