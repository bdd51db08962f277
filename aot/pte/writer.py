# SPDX-License-Identifier: Apache-2.0
"""Writes dialect graphs as a .pte.

A node already has the form of an instruction: an op with a schema and typed values. The method
`forward` therefore lists the nodes in graph order, each op as its out-variant (`pl::<op>.out`).
ExecuTorch's own code describes tensors, plans memory and serialises.

Values come in this order: the used constants, in registration order; the state, with its initial
values in the mutable segment; the inputs; then, for each call, its results and its other arguments.
Bytes shared by several constants are stored once.

The last calls copy the new state. A delegate is a call of ExecuTorch's own kind, on its inputs and
then its results. Payloads follow the constants, each in its own segment with the requested
alignment.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from executorch.extension import pytree
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.delegate import Delegate, delegate_of
from aot.dialect.graph import (
    border_nodes,
    edge_of,
    is_channels_last,
    returned,
    state_nodes,
    state_of,
)
from aot.dialect.io_layout import NOT_MOVED, IoLayout
from aot.dialect.results import is_result, taken_from, values_of
from aot.pte.conventions import (
    FORWARD,
    STATE_WRITE,
    Border,
    Layout,
    Needs,
    constant_methods,
    is_name,
    sealed,
)
from aot.pte.kernel_forms import kernel_form
from aot.upstream.executorch import (
    ALIGNMENT,
    EXECUTORCH_SCHEMA_VERSION,
    MemoryPlanningAlgorithmSuite,
    PTEFile,
    TensorSpec,
    et,
    make_allocation_info,
    make_tensor_value,
    serialize_pte_binary,
    serialized_in_place,
    to_out_variant,
)

_SEGMENT_ALIGNMENT = 128  # ExecuTorch's


def write_pte(module: GraphModule, moved: IoLayout = NOT_MOVED) -> bytes:
    """Serialise a dialect graph. The same graph gives the same bytes.

    Args:
      module: its shapes are static.
      moved: its inputs and outputs with a channels-last shape.

    Raises:
      ValueError: a payload has requirements no device can meet, or its backend's id
        is no name.
    """
    method = _Method(module)
    alignments = [delegate.payload.alignment for delegate in method.delegates]
    methods = [_constant_method(*item) for item in methods_of(module, moved).items()]
    program = et.Program(
        version=EXECUTORCH_SCHEMA_VERSION,
        execution_plan=[method.plan(), *methods],
        constant_buffer=[et.Buffer(b""), *(et.Buffer(data) for data in method.constants)],
        backend_delegate_data=[
            et.BackendDelegateInlineData(delegate.payload.data) for delegate in method.delegates
        ],
        segments=[],
        constant_segment=et.SubsegmentOffsets(0, []),
    )
    state = [et.Buffer(b""), *(et.Buffer(data) for data in method.state)]
    with serialized_in_place():  # nobody reads this program again
        data = serialize_pte_binary(
            PTEFile(program, mutable_data=state[1:] and state),
            extract_delegate_segments=True,
            segment_alignment=max([_SEGMENT_ALIGNMENT, *alignments]),
        )
    return sealed(bytes(data))


def methods_of(module: GraphModule, moved: IoLayout) -> Mapping[str, object]:
    """Return the constant methods of a dialect graph: metadata of its inputs, outputs and ops."""
    inputs, outputs = border_nodes(module)
    return constant_methods(
        [_border(n, i in moved.inputs) for i, n in enumerate(inputs)],
        [_border(n, i in moved.outputs) for i, n in enumerate(outputs)],
        [n.meta["origin"].module for n in instructions(module)] + [""] * len(state_nodes(module)),
    )


def instructions(module: GraphModule) -> list[Node]:
    """Return the nodes of a dialect graph that become instructions. The position is the op's id."""
    calls = ("call_function", "call_module")
    return [n for n in module.graph.nodes if n.op in calls and not is_result(n)]


def layout_of(value: torch.Tensor, moved: bool) -> Layout:
    """Return the layout of an input or output: the meaning of its dimensions, in memory order."""
    if value.dim() == 4:
        return "nhwc" if moved or is_channels_last(value) else "nchw"
    return "nlc" if moved else "row_major"


def _border(node: Node, moved: bool) -> Border:
    edge = edge_of(node)
    name = node.name if node.op == "placeholder" else ""
    return Border(edge.scale, edge.zero_point, layout_of(node.meta["val"], moved), name)


def _structure(tree: object) -> str:
    return str(pytree.tree_flatten(tree)[1].to_str())


def _scalar(value: object) -> et.EValue:
    match value:
        case None:
            return et.EValue(et.Null())
        case bool():
            return et.EValue(et.Bool(value))
        case int():
            return et.EValue(et.Int(value))
        case float():
            return et.EValue(et.Double(value))
        case str():
            return et.EValue(et.String(value))
    raise TypeError(f"a .pte cannot hold the argument {value!r}")


def _constant_method(name: str, value: object) -> et.ExecutionPlan:
    items = value if isinstance(value, list) else [value]
    return et.ExecutionPlan(
        name=name,
        container_meta_type=et.ContainerMetadata("", _structure(value)),
        values=[_scalar(item) for item in items],
        inputs=[],
        outputs=list(range(len(items))),
        chains=[et.Chain([], [], [], None)],
        operators=[],
        delegates=[],
        non_const_buffer_sizes=[0],
    )


def _stored(index: int, delegate: Delegate) -> et.BackendDelegate:
    payload = delegate.payload
    if not is_name(delegate.backend_id) or not payload.data:
        raise ValueError(
            f"backend id {delegate.backend_id!r}, {len(payload.data)} bytes of payload"
        )
    numbers = payload.scratch_bytes, payload.alignment, payload.cache_bytes
    needs = Needs(payload.configuration, *numbers)
    specs = {**payload.compile_specs, **needs.compile_specs()}
    return et.BackendDelegate(
        delegate.backend_id,
        et.BackendDelegateDataReference(et.DataLocation.INLINE, index),
        [et.CompileSpec(key, value) for key, value in specs.items()],
    )


_OUT_VARIANTS = {torch.ops.aten.pow.Tensor_Scalar: torch.ops.aten.pow.Tensor_Scalar_out}
"""Out-variants of ops for which ExecuTorch finds none, because some overloads share one
signature.
"""


class _Method:
    """Builder of the method `forward`, with its constants, initial states and delegates."""

    def __init__(self, module: GraphModule) -> None:
        self.constants: list[bytes] = []
        self.state: list[bytes] = []
        self.delegates: list[Delegate] = []
        self._module = module
        self._values: list[et.EValue] = []
        self._instructions: list[et.Instruction] = []
        self._operators: dict[tuple[str, str], int] = {}
        self._buffer_ids: dict[tuple[int, bytes], int] = {}
        self._ids: dict[Node, int] = {}
        self._results: dict[tuple[Node, int], int] = {}  # by call and result index
        self._specs: dict[Any, TensorSpec] = {}
        self._planned: dict[int, TensorSpec] = {}  # by value, in writing order
        self._inputs, self._outputs = border_nodes(module)
        self._states = state_nodes(module)
        self._add_constants()
        for old, _ in self._states:
            first = self._buffer(state_of(old).initial, self.state)
            self._ids[old] = self._tensor(old.meta["val"], 0, first)
        for node in self._inputs:
            self._ids[node] = self._tensor(node.meta["val"], 0)
        for step, node in enumerate(module.graph.nodes):
            delegate = delegate_of(module, node)
            if delegate is not None:
                self._use(node.all_input_nodes, step)
                self._delegate_call(node, delegate, step)
            elif is_result(node):
                self._ids[node] = self._results[taken_from(node)]
            elif node.op == "call_function":
                self._use(node.all_input_nodes, step)
                self._call(node, step)
        end = len(module.graph.nodes)
        for step, (old, new) in enumerate(self._states, end):
            self._use([new], step)
            state, blocking = self._ids[old], self._add(_scalar(False))
            self._instruct(*STATE_WRITE, [state, self._ids[new], blocking, state])
        self._use([*self._outputs, *(old for old, _ in self._states)], end + len(self._states))
        self._pool_sizes = self._plan_memory()

    def plan(self) -> et.ExecutionPlan:
        results, _ = returned(self._module)
        return et.ExecutionPlan(
            name=FORWARD,
            container_meta_type=et.ContainerMetadata(
                _structure((tuple(0 for _ in self._inputs), {})),
                _structure(map_arg(results, lambda _: 0)),
            ),
            values=self._values,
            inputs=[self._ids[n] for n in self._inputs],
            outputs=[self._ids[n] for n in self._outputs],
            chains=[et.Chain([], [], self._instructions, None)],
            operators=[et.Operator(*name) for name in self._operators],
            delegates=[_stored(i, delegate) for i, delegate in enumerate(self.delegates)],
            non_const_buffer_sizes=self._pool_sizes,
        )

    def _add_constants(self) -> None:
        readers: dict[str, list[Node]] = {}
        for node in self._module.graph.nodes:
            if node.op == "get_attr":
                readers.setdefault(str(node.target), []).append(node)
        for name, tensor in self._module.named_buffers():
            if name in readers:
                spec = self._spec(tensor.detach().contiguous())
                value = make_tensor_value(self._buffer(tensor, self.constants), None, spec)
                self._ids |= dict.fromkeys(readers[name], self._add(et.EValue(value)))

    def _buffer(self, tensor: torch.Tensor, buffers: list[bytes]) -> int:
        """Return the index of a tensor's bytes among buffers; 0 means none."""
        data = tensor.detach().contiguous().numpy().tobytes()
        key = id(buffers), hashlib.sha256(data).digest()
        if key not in self._buffer_ids:
            buffers.append(data)
            self._buffer_ids[key] = len(buffers)
        return self._buffer_ids[key]

    def _call(self, node: Node, step: int) -> None:
        target, inputs, values = kernel_form(node)
        schema = to_out_variant(_OUT_VARIANTS.get(target, target))[0]._schema
        results = [self._tensor(value, step) for value in values]
        args = [
            self._argument(_at(inputs, node.kwargs, i, argument))
            for i, argument in enumerate(schema.arguments)
            if not argument.is_out
        ]
        given = results[0]
        if len(results) > 1:
            given = self._add(et.EValue(et.TensorList(results)))
        self._instruct(schema.name, schema.overload_name, [*args, *results, given])
        self._ids[node] = results[0]
        self._results |= {(node, place): index for place, index in enumerate(results)}

    def _delegate_call(self, node: Node, delegate: Delegate, step: int) -> None:
        inputs = [self._argument(argument) for argument in node.args]
        results = [self._tensor(value, step) for value in values_of(node)]
        call = et.DelegateCall(len(self.delegates), [*inputs, *results])
        self._instructions.append(et.Instruction(call))
        self._results |= {(node, place): index for place, index in enumerate(results)}
        self.delegates.append(delegate)

    def _instruct(self, name: str, overload: str, args: list[int]) -> None:
        index = self._operators.setdefault((name, overload), len(self._operators))
        self._instructions.append(et.Instruction(et.KernelCall(index, args)))

    def _argument(self, value: Any) -> int:
        """Return the value of an argument. A list is a value of its own that refers to
        its items.
        """
        if isinstance(value, Node):
            return self._ids[value]
        if isinstance(value, (list, tuple)):
            items = [self._argument(item) for item in value]
            tensors = len(items) > 0 and all(isinstance(item, Node) for item in value)
            return self._add(et.EValue(et.TensorList(items) if tensors else et.IntList(items)))
        return self._add(_scalar(value))

    def _add(self, value: et.EValue) -> int:
        self._values.append(value)
        return len(self._values) - 1

    def _tensor(self, value: torch.Tensor, step: int, buffer: int = 0) -> int:
        """Return an activation. Memory planning sets its place."""
        spec = self._spec(value)
        spec.lifetime = [step, step]
        index = self._add(et.EValue(make_tensor_value(buffer, None, spec)))
        self._planned[index] = spec
        return index

    def _spec(self, value: torch.Tensor) -> TensorSpec:
        """Return the spec of a tensor; cached, because ExecuTorch takes long to make one."""
        key = value.dtype, value.shape, value.stride()
        if key not in self._specs:
            self._specs[key] = TensorSpec.from_tensor(value)
        return copy.copy(self._specs[key])

    def _use(self, nodes: Sequence[Node], step: int) -> None:
        for node in nodes:
            index = self._ids[node]
            if index in self._planned:
                self._planned[index].lifetime[1] = step

    def _plan_memory(self) -> list[int]:
        """Plan memory for ExecuTorch's own runtime. A Pilotlight plan has its own memory plan."""
        specs = list(self._planned.values())
        sizes = MemoryPlanningAlgorithmSuite()(ALIGNMENT, specs, self._module, None, 0)
        for index, spec in self._planned.items():
            tensor = self._values[index].val
            assert isinstance(tensor, et.Tensor)
            tensor.allocation_info = make_allocation_info(spec.mem_id, spec.mem_offset)
        return [0, *sizes[1:]]


def _at(args: Sequence[Any], kwargs: Mapping[str, Any], index: int, argument: Any) -> Any:
    """Return an argument of a call by its place in the schema."""
    if index < len(args):
        return args[index]
    return kwargs.get(argument.name, argument.default_value)
