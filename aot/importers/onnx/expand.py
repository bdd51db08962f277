# SPDX-License-Identifier: Apache-2.0
"""Quantized operators as float operators between DequantizeLinear and QuantizeLinear.

Three forms of quantized files become one: operators on integers (QLinearConv and others), float
operators that move integers, and integer inputs and outputs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from aot.errors import LoweringError
from aot.importers.onnx.file import OnnxFile, damage_named

# Operators whose result has the quantization of their first input.
_MOVES = (
    *("Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "Identity", "MaxPool", "Pad"),
    *("Relu", "Reshape", "Resize", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile"),
    *("Transpose", "Unsqueeze", "Upsample"),
)
_INTEGERS = (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16)
_OWN_DOMAIN = "com.microsoft"
_STANDARD_TOO = ("QuantizeLinear", "DequantizeLinear", "Gelu")
_QUANTIZATION = 2  # scale and zero point


def expanded(file: OnnxFile) -> OnnxFile:
    """Return the file with quantized arithmetic as QuantizeLinear and DequantizeLinear only.

    Raises:
      LoweringError: a quantized operator lacks a constant scale.
    """
    model = ModelProto()
    model.CopyFrom(file.model)
    with damage_named():
        for node in model.graph.node:
            if node.domain == _OWN_DOMAIN and node.op_type in _STANDARD_TOO:
                node.domain = ""
        expander = _Expander(replace(file, model=model))
        expander.operators()
        expander.moves_and_border()
    return replace(file, model=model)


class _Expander:
    def __init__(self, file: OnnxFile) -> None:
        self._file = file
        self._graph: GraphProto = file.model.graph
        self._nodes: list[NodeProto] = []
        self._constants = {tensor.name: tensor for tensor in self._graph.initializer}
        for node in self._graph.node:
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                self._constants[node.output[0]] = node.attribute[0].t
        self._count = 0

    def _new(self, name: str) -> str:
        self._count += 1
        return f"{name}__{self._count}"

    def _value(self, name: str) -> torch.Tensor:
        if name not in self._constants:
            raise LoweringError(f"the .onnx file has a quantized op without a constant {name!r}")
        return self._file.constant(self._constants[name])

    def _dequantized(self, inputs: Sequence[str], axis: int | None = None) -> str:
        """Return the name of the real value of an input, a scale, and a zero point."""
        name = self._new(inputs[0])
        several = axis is not None and self._value(inputs[1]).numel() > 1
        attributes: dict[str, Any] = {"axis": axis} if several else {}
        self._nodes.append(helper.make_node("DequantizeLinear", inputs, [name], **attributes))
        return name

    def _quantized(self, node: NodeProto, name: str, quantization: Sequence[str]) -> None:
        made = helper.make_node("QuantizeLinear", [name, *quantization], [node.output[0]])
        self._nodes.append(made)

    def _bias(self, name: str, source: str, weight: str) -> str:
        """Return the name of the real bias: its integers have the product of two scales."""
        scale = self._value(source).double() * self._value(weight).double()
        scale_name = self._new(f"{name}_scale")
        values = scale.reshape(-1) if scale.numel() > 1 else scale.reshape(())
        tensor = numpy_helper.from_array(values.float().numpy(), scale_name)
        self._graph.initializer.append(tensor)
        self._constants[scale_name] = tensor
        return self._dequantized([name, scale_name], axis=0)

    def _replace(self) -> None:
        del self._graph.node[:]
        self._graph.node.extend(self._nodes)
        self._nodes = []

    def operators(self) -> None:
        """Expand operators on integers, in place."""
        for node in [*self._graph.node]:
            kind = node.op_type
            if not kind.startswith(("QLinear", "QGemm")):
                self._nodes.append(node)
                continue
            names, made = [*node.input], self._new(node.output[0])
            operator = kind.removeprefix("QLinear").removeprefix("Q")
            if operator in ("Conv", "MatMul", "Gemm"):
                inputs, last = self._layer(operator, node, names)
            elif operator in ("Add", "Mul"):
                inputs = [self._dequantized(names[0:3]), self._dequantized(names[3:6])]
                last = 6
            elif operator == "Concat":
                inputs = [self._dequantized(names[i : i + 3]) for i in range(2, len(names), 3)]
                last = 0
            else:
                inputs, last = [self._dequantized(names[0:3])], 3
            float_node = helper.make_node(operator, inputs, [made], node.name)
            dropped = ("channels_last", "opset") if node.domain else ()
            float_node.attribute.extend(a for a in node.attribute if a.name not in dropped)
            if any(a.name == "channels_last" and a.i for a in node.attribute):
                raise LoweringError(f"node {node.name!r} {kind}: channels_last")
            self._nodes.append(float_node)
            self._quantized(node, made, names[last : last + _QUANTIZATION])
        self._replace()

    def _layer(self, operator: str, node: NodeProto, names: list[str]) -> tuple[list[str], int]:
        """Return the inputs of a float layer, and the place of its result's scale."""
        is_turned = any(a.name == "transB" and a.i for a in node.attribute)
        axis = 0 if operator == "Conv" or is_turned else 1
        inputs = [self._dequantized(names[0:3]), self._dequantized(names[3:6], axis)]
        bias, last = {"Conv": (8, 6), "Gemm": (6, 7), "MatMul": (9, 6)}[operator]
        if bias < len(names) and names[bias]:
            inputs.append(self._bias(names[bias], names[1], names[4]))
        return inputs, last

    def moves_and_border(self) -> None:
        """Expand operators that move integers, and integer inputs and outputs, in place."""
        known = {n.output[0]: [*n.input[1:]] for n in self._graph.node if _is(n, "Quantize")}
        renamed = self._inputs(known)
        self._nodes = [*self._quantized_inputs]
        for node in self._graph.node:
            node.input[:] = [renamed.get(name, name) for name in node.input]
            if node.op_type not in _MOVES or not node.input or node.input[0] not in known:
                self._nodes.append(node)
                continue
            quantization = known[node.input[0]]
            if node.op_type == "Pad" and len(node.input) > 2 and node.input[2]:
                node.input[2] = self._real(node.input[2], quantization)
            for place, name in enumerate(node.input):
                if name in known:
                    node.input[place] = self._dequantized([name, *known[name]])
            results = [*node.output]
            node.output[:] = [self._new(name) for name in results]
            self._nodes.append(node)
            for made, name in zip(node.output, results, strict=True):
                self._nodes.append(
                    helper.make_node("QuantizeLinear", [made, *quantization], [name])
                )
                known[name] = quantization
        for output in self._graph.output:
            if output.type.tensor_type.elem_type in _INTEGERS and output.name in known:
                output.name = self._dequantized([output.name, *known[output.name]])
                output.type.tensor_type.elem_type = TensorProto.FLOAT
        self._replace()

    def _inputs(self, known: dict[str, list[str]]) -> dict[str, str]:
        """Make integer inputs real; return their old names with those of the integers."""
        readers: dict[str, list[NodeProto]] = defaultdict(list)
        for node in self._graph.node:
            for name in node.input:
                readers[name].append(node)
        renamed = {}
        self._quantized_inputs: list[NodeProto] = []
        for info in self._graph.input:
            if info.type.tensor_type.elem_type not in _INTEGERS or info.name in self._constants:
                continue
            waiting, seen = [info.name], {info.name}
            while waiting:
                for node in readers[waiting.pop()]:
                    if _is(node, "Dequantize"):
                        known.setdefault(info.name, [*node.input[1:]])
                    elif node.op_type in _MOVES and node.output[0] not in seen:
                        seen.add(node.output[0])
                        waiting.append(node.output[0])
            if info.name not in known:
                continue  # numbers as they are
            integers = self._new(info.name)
            renamed[info.name] = integers
            known[integers] = known[info.name]
            info.type.tensor_type.elem_type = TensorProto.FLOAT
            self._quantized_inputs.append(
                helper.make_node("QuantizeLinear", [info.name, *known[info.name]], [integers])
            )
        return renamed

    def _real(self, name: str, quantization: Sequence[str]) -> str:
        """Return the name of the real value for a padding of integers."""
        scale = float(self._value(quantization[0]))
        zero_point = float(self._value(quantization[1])) if len(quantization) > 1 else 0.0
        made = self._new(name)
        value = np.array((float(self._value(name)) - zero_point) * scale, np.float32)
        self._graph.initializer.append(numpy_helper.from_array(value, made))
        return made


def _is(node: NodeProto, verb: str) -> bool:
    return bool(node.op_type == f"{verb}Linear")
