# SPDX-License-Identifier: Apache-2.0
"""Steps of an ONNX graph: constants, shapes and branches are folded, other nodes become modules.

Shapes are fixed first. Each node then runs on values without memory, for its results' shapes. A
node of constants runs on their values and vanishes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from onnx import AttributeProto, GraphProto, NodeProto, ValueInfoProto, helper

from aot.errors import LoweringError, describe
from aot.importers.onnx.call import NodeCall, UnsupportedNode
from aot.importers.onnx.compose import compose
from aot.importers.onnx.file import (
    DAMAGE,
    MOST_ELEMENTS,
    MOST_NODES,
    OnnxFile,
    check_shape,
    damage_named,
    dtype_named,
    operator_of,
)
from aot.importers.onnx.ops.quantization import quantized_constant
from aot.importers.onnx.quantized import QuantizedConstant
from aot.importers.onnx.registry import FUNCTIONS, LAYERS
from aot.importers.onnx.steps import RESERVED, NodeStep, OnnxNode
from aot.upstream.torch import FakeTensorMode
from aot.upstream.torch_export import export_silent

FOLDED = {
    "Constant": "No text, no sparse values.",
    "ConstantOfShape": "Constant shape.",
    "If": "Constant condition: bind the input that decides it.",
}
"""Operators that vanish in folding, with their limits."""

_FOLDED_BYTES = 2**29  # of all constants made while folding


class Importer:
    """Folds a graph into steps.

    Args:
      file: to import.
      shapes: sizes of dimensions by name, or whole shapes by input.
      bind: constant values of inputs.
      outputs: names of the wanted values; None: the graph's outputs.

    Attributes:
      inputs: names and example values, without memory.
      steps: in order.
      constants: by name.
      values: computed values by name, without memory.
      quantized: constants of the file with integers.
    """

    def __init__(
        self,
        file: OnnxFile,
        shapes: Mapping[str, int | Sequence[int]],
        bind: Mapping[str, Any],
        outputs: Sequence[str] | None,
    ) -> None:
        self._file = file
        self._fake = FakeTensorMode(allow_non_fake_inputs=True)
        self._names: set[str] = set()
        self._folded = self._visited = 0
        self.constants: dict[str, torch.Tensor] = {}
        self.values: dict[str, torch.Tensor] = {}
        self.steps: list[NodeStep] = []
        self.quantized: list[QuantizedConstant] = []
        graph = file.model.graph
        with damage_named():
            self._import(graph, shapes, bind, outputs)

    def _import(
        self,
        graph: GraphProto,
        shapes: Mapping[str, int | Sequence[int]],
        bind: Mapping[str, Any],
        outputs: Sequence[str] | None,
    ) -> None:
        self._add_constants(graph)
        given = [i for i in graph.input if i.name not in self.constants]
        names = {i.name for i in given}
        dims = {d.dim_param for i in given for d in i.type.tensor_type.shape.dim}
        _check_known("bind", bind, names)
        _check_known("shapes", shapes, names | dims - {""})
        for name, value in bind.items():
            info = next(i for i in given if i.name == name)
            self.constants[name] = torch.as_tensor(value).to(_dtype(info))
        self.outputs = [o.name for o in graph.output] if outputs is None else [*outputs]
        for info in given:
            if info.name not in bind:
                shape = _frozen(info, shapes)
                with self._fake:
                    self.values[info.name] = torch.empty(shape, dtype=_dtype(info))
        self.inputs = {i.name: self.values[i.name] for i in given if i.name not in bind}
        self._run(graph, self.outputs)
        self.steps = compose(self.steps, self.outputs, self.values)
        for name in self.outputs:
            if name not in self.values and name not in self.constants:
                raise LoweringError(f"the .onnx file has no value {name!r} for an output")

    def _add_constants(self, graph: GraphProto) -> None:
        if graph.sparse_initializer:
            raise LoweringError("the .onnx file has sparse constants")
        for tensor in graph.initializer:
            self.constants[tensor.name] = self._file.constant(tensor)

    def _run(self, graph: GraphProto, outputs: Iterable[str]) -> None:
        needed = _needed(graph, outputs)
        self._visited += len(graph.node)
        if self._visited > MOST_NODES:
            raise LoweringError(f"the .onnx file has more than {MOST_NODES} nodes")
        for node in graph.node:
            if not needed.isdisjoint(node.output):
                self._node(node)

    def _node(self, node: NodeProto) -> None:
        operator = operator_of(node)
        where = f"node {node.name or next(iter(node.output), '')!r} {operator}"
        try:
            for name in filter(None, node.input):
                if name not in self.constants and name not in self.values:
                    raise UnsupportedNode(f"its input {name!r} is not computed before it")
            if operator == "If":
                self._branch(node)
            elif operator == "Constant":
                self._define(node.output[0], self._constant(node))
            elif operator == "DequantizeLinear" and node.input[0] in self.constants:
                self._define(node.output[0], self._dequantized(node))
            elif operator == "ConstantOfShape":
                self._define(node.output[0], self._constant_of_shape(node))
            else:
                self._call(node, operator)
        except UnsupportedNode as reason:
            raise LoweringError(f"{where}: {reason}") from reason
        except LoweringError:
            raise
        except DAMAGE as error:
            said = [*str(error).strip().splitlines(), type(error).__name__][0]
            raise LoweringError(f"{where}: its arguments make no sense: {said}") from error

    def _define(self, name: str, value: torch.Tensor) -> None:
        self._folded += value.numel() * value.element_size()
        if self._folded > _FOLDED_BYTES:
            raise UnsupportedNode("folded constants need more than 512 MB")
        self.constants[name] = value

    def _constant(self, node: NodeProto) -> torch.Tensor:
        (attribute,) = node.attribute
        if attribute.name == "value":
            return self._file.constant(attribute.t)
        if attribute.name in ("value_float", "value_floats", "value_int", "value_ints"):
            value = helper.get_attribute_value(attribute)
            dtype = torch.float32 if "float" in attribute.name else torch.int64
            return torch.tensor(value, dtype=dtype)
        raise UnsupportedNode(f"attribute {attribute.name}")

    def _dequantized(self, node: NodeProto) -> torch.Tensor:
        call = NodeCall(node, self._file.opset, [self.constants.get(n) for n in node.input])
        found = quantized_constant(call)
        self.quantized.append(found)
        return found.real()

    def _constant_of_shape(self, node: NodeProto) -> torch.Tensor:
        shape = NodeCall(node, self._file.opset, [self.constants.get(node.input[0])]).ints(0)
        check_shape("its result", shape)
        given = [self._file.constant(a.t) for a in node.attribute if a.name == "value"]
        value = given[0].reshape(()) if given else torch.tensor(0.0)
        return value.expand(shape).clone()

    def _branch(self, node: NodeProto) -> None:
        if node.input[0] not in self.constants:
            raise UnsupportedNode(
                "its condition is computed by the model; bind the input that decides it"
            )
        taken = (
            "then_branch" if bool(self.constants[node.input[0]].reshape(-1)[0]) else "else_branch"
        )
        graphs = {a.name: a.g for a in node.attribute if a.type == AttributeProto.GRAPH}
        branch = graphs[taken]
        self._add_constants(branch)
        names = [output.name for output in branch.output]
        self._run(branch, names)
        for outer, inner in zip(node.output, names, strict=True):
            if inner in self.constants:
                self.constants[outer] = self.constants[inner]
            else:
                self.values[outer] = self.values[inner]
                self._step(node, torch.nn.Identity(), [inner], [outer])

    def _call(self, node: NodeProto, operator: str) -> None:
        if operator not in FUNCTIONS and operator not in LAYERS:
            raise UnsupportedNode("is not supported (docs/onnx.md lists the operators)")
        constants = [self.constants.get(name) for name in node.input]
        call = NodeCall(node, self._file.opset, constants)
        made = LAYERS[operator](call) if operator in LAYERS else None
        if made is None and operator not in FUNCTIONS:
            raise UnsupportedNode("its weights must be constants")
        module = made if made is not None else OnnxNode(call)
        computed = [name for name in node.input if name and name not in self.constants]
        with torch.no_grad(), export_silent(), self._fake:
            results = _results(module(*(self.values[name] for name in computed)))
        for result in results:
            check_shape("its result", result.shape)
        if computed and operator not in ("Shape", "Size"):
            self._step(node, module, computed, [*node.output])
            for name, result in zip(node.output, results, strict=False):
                self.values[name] = result
            return
        if sum(result.numel() for result in results) > MOST_ELEMENTS:
            raise UnsupportedNode("its results are too large")
        if computed:  # only the shapes of its inputs count
            values = [torch.empty(self.values[n].shape, device="meta") for n in computed]
            results = _results(module(*values))
        else:
            with torch.no_grad():
                results = _results(module())
        for name, result in zip(node.output, results, strict=False):
            if name:
                self._define(name, result.detach().clone())

    def _step(
        self, node: NodeProto, module: torch.nn.Module, inputs: list[str], outputs: list[str]
    ) -> None:
        name = re.sub(r"\W+", "_", node.name or outputs[0]).strip("_") or node.op_type
        if name[0].isdigit() or name in RESERVED or hasattr(torch.nn.Module, name):
            name = f"n_{name}"
        count = 1
        unique = name
        while unique in self._names:
            count += 1
            unique = f"{name}_{count}"
        self._names.add(unique)
        if isinstance(module, OnnxNode):  # errors and reports name the operator
            module.__class__ = type(node.op_type, (OnnxNode,), {})
        self.steps.append(NodeStep(unique, module, tuple(inputs), tuple(outputs)))


def _results(given: Any) -> tuple[torch.Tensor, ...]:
    return (given,) if isinstance(given, torch.Tensor) else tuple(given)


def _needed(graph: GraphProto, outputs: Iterable[str]) -> set[str]:
    """Return the names of values that the outputs depend on."""
    needed = set(outputs)
    for node in reversed(graph.node):
        if not needed.isdisjoint(node.output):
            needed.update(node.input)
            for attribute in node.attribute:
                if attribute.type == AttributeProto.GRAPH:
                    needed.update(_read(attribute.g))
    return needed


def _read(graph: GraphProto) -> set[str]:
    """Return all names read in a subgraph."""
    found = {output.name for output in graph.output}
    for node in graph.node:
        found.update(node.input)
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                found.update(_read(attribute.g))
    return found


def _dtype(info: ValueInfoProto) -> torch.dtype:
    number = info.type.tensor_type.elem_type
    try:
        name = helper.tensor_dtype_to_np_dtype(number).name
    except KeyError as error:
        raise LoweringError(f"input {info.name!r} of the .onnx file is no tensor") from error
    return dtype_named(name)


def _frozen(info: ValueInfoProto, shapes: Mapping[str, int | Sequence[int]]) -> list[int]:
    """Return an input's fixed shape."""
    given = shapes.get(info.name)
    if isinstance(given, Sequence):
        sizes = [int(size) for size in given]
    else:
        sizes = []
        for place, dim in enumerate(info.type.tensor_type.shape.dim):
            size = dim.dim_value if dim.dim_value > 0 else shapes.get(dim.dim_param)
            if size is None and place > 0:
                name = dim.dim_param or f"dimension {place}"
                raise LoweringError(
                    f"input {info.name!r} of the .onnx file has no fixed size for {name}. Give "
                    f"shapes={{{(dim.dim_param or info.name)!r}: ...}}."
                )
            if size is not None and not isinstance(size, int):
                raise LoweringError(f"shapes: {dim.dim_param!r} is {describe(size)}; give a number")
            sizes.append(1 if size is None else size)
    check_shape(f"input {info.name!r} of the .onnx file", sizes)
    return sizes


def _check_known(setting: str, given: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted({*given} - {*known})
    if unknown:
        raise LoweringError(
            f"{setting}: the .onnx file has no {', '.join(unknown)}; it has "
            f"{', '.join(sorted({*known})) or 'none'}"
        )
