# SPDX-License-Identifier: Apache-2.0
"""Small quantized .onnx files, and their integers by onnxruntime and by the dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from onnx import NodeProto, helper

from aot.dialect.graph import border_nodes, edge_of
from aot.dialect.reference import Reference
from aot.importers.onnx.testing.graphs import Array, GraphCase, file
from aot.importers.onnx.testing.oracle import expected, session
from aot.onnx_import import import_quantized
from aot.targets import target_named

_LAYERS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
_OPSET_OF_16_BITS = 21
_OFFSETS = {np.dtype(np.uint8): 128, np.dtype(np.uint16): 2**15}


@dataclass(frozen=True)
class Scale:
    """Scale and zero point for the values of an array."""

    scale: np.float32
    zero_point: Array

    @classmethod
    def of(cls, values: Array, dtype: type) -> Scale:
        """Return the scale of an array's range; 16-bit types have it around 0."""
        info: Any = np.iinfo(dtype)
        least, most = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
        if info.bits == 16:
            middle = (info.max + info.min + 1) // 2
            scale = max(-least, most) / (info.max - middle)
            return cls(np.float32(scale), np.array(middle, dtype))
        scale = (most - least) / 255
        return cls(np.float32(scale), np.array(round(info.min - least / scale), dtype))

    def constants(self, name: str) -> dict[str, Array]:
        """Return both as constants with names."""
        return {f"{name}_s": np.array(self.scale), f"{name}_z": self.zero_point}


def quantized(case: GraphCase, dtype: type = np.int8) -> bytes:
    """Return a file with the case's node between DequantizeLinear and QuantizeLinear."""
    wanted = expected(case.bytes(), case.feeds)
    nodes: list[NodeProto] = []
    constants: dict[str, Array] = {}
    names: list[str] = []
    scales: dict[int, Array] = {}
    for index, value in enumerate(case.inputs):
        name = f"x{index}"
        array = value[0] if isinstance(value, list) else value
        if array is None or array.dtype != np.float32 or case.operator == "Resize" and index:
            names.append("" if array is None else name)
            if array is not None:
                constants[name] = array
            continue
        if case.operator in _LAYERS and isinstance(value, list):
            integers, scale, axis = _weight(case, index, array, scales)
            constants |= {f"{name}_q": integers, f"{name}_s": scale}
            inputs = [f"{name}_q", f"{name}_s"]
            nodes.append(_node("Dequantize", inputs, f"{name}_d", axis=axis))
            scales[index] = scale
        else:
            given = Scale.of(array, dtype)
            scales[index] = np.array(given.scale)
            constants |= given.constants(name)
            inputs = [f"{name}_q", f"{name}_s", f"{name}_z"]
            if isinstance(value, list):
                steps = np.rint(array / given.scale) + given.zero_point
                constants[f"{name}_q"] = steps.astype(dtype)
            else:
                nodes.append(_node("Quantize", [name, *inputs[1:]], f"{name}_q"))
            nodes.append(_node("Dequantize", inputs, f"{name}_d"))
        names.append(f"{name}_d")
    made = [f"y{i}_f" for i in range(case.outputs)]
    nodes.append(helper.make_node(case.operator, names, made, "node", **case.attributes))
    outputs = []
    for index, value in enumerate(wanted):
        name = f"y{index}"
        constants |= _result(case, value, dtype, index, constants)
        inputs = [f"{name}_f", f"{name}_s", f"{name}_z"]
        nodes.append(_node("Quantize", inputs, f"{name}_q"))
        nodes.append(_node("Dequantize", [f"{name}_q", *inputs[1:]], name))
        outputs.append(name)
    shapes = {name: value.shape for name, value in case.feeds.items()}
    opset = case.opset if np.iinfo(dtype).bits == 8 else _OPSET_OF_16_BITS
    return file(nodes, shapes, outputs, constants, opset)


def _result(
    case: GraphCase, value: Array, dtype: type, index: int, constants: Mapping[str, Array]
) -> dict[str, Array]:
    if case.operator in ("MaxPool", "Transpose", "Reshape", "Slice", "Split"):
        return {f"y{index}_s": constants["x0_s"], f"y{index}_z": constants["x0_z"]}
    if case.operator == "Softmax":  # as quantizers write it
        value = np.array([0, 255 / 256])
    return Scale.of(value, dtype).constants(f"y{index}")


def _node(verb: str, inputs: list[str], output: str, **attributes: Any) -> NodeProto:
    return helper.make_node(f"{verb}Linear", inputs, [output], **attributes)


def _weight(
    case: GraphCase, index: int, array: Array, scales: Mapping[int, Array]
) -> tuple[Array, Array, int]:
    """Return integers, scales by output channel, and the axis, of a weight or a bias."""
    if index == 2:
        scale = (np.float64(scales[0]) * scales[1]).astype(np.float32)
        return np.rint(array / scale).astype(np.int32), scale, 0
    is_turned = bool(case.attributes.get("transB", 0))
    axis = {"Conv": 0, "ConvTranspose": 1, "Gemm": 0 if is_turned else 1, "MatMul": 1}
    place = axis[case.operator]
    others = tuple(d for d in range(array.ndim) if d != place)
    scale = (np.abs(array).max(others) / 127).astype(np.float32)
    shape = [-1 if d == place else 1 for d in range(array.ndim)]
    return np.rint(array / scale.reshape(shape)).astype(np.int8), scale, place


def integers_by_onnxruntime(data: bytes, feeds: Mapping[str, Array]) -> list[Array]:
    """Return the results of a file in the steps of the dialect's outputs."""
    folded = import_quantized(data, target_named("cortex-m"))[2]
    found = []
    for node, value in zip(border_nodes(folded)[1], session(data).run(None, feeds), strict=True):
        quantization = edge_of(node).quantization
        assert quantization is not None
        if value.dtype == np.float32:
            value = np.rint(value / np.float32(quantization.scale)) + quantization.zero_point
        else:
            value = value.astype(np.int64) - _OFFSETS.get(value.dtype, 0)
        found.append(value.astype(np.int64))
    return found


def integers_by_dialect(data: bytes, feeds: Mapping[str, Array]) -> list[Array]:
    """Return the same by the dialect's reference."""
    module, _, folded = import_quantized(data, target_named("cortex-m"))
    given = [torch.from_numpy(np.asarray(feeds[name])) for name in module.input_names]
    return [y.to(torch.int64).numpy() for y in Reference(folded).reference(given)]


def agreement(data: bytes, feeds: Mapping[str, Array]) -> tuple[float, int]:
    """Return the share of equal integers, and the largest difference."""
    pairs = zip(integers_by_onnxruntime(data, feeds), integers_by_dialect(data, feeds), strict=True)
    steps = np.concatenate([np.abs(a - b).reshape(-1) for a, b in pairs])
    return float((steps == 0).mean()), int(steps.max())
