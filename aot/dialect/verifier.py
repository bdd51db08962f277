# SPDX-License-Identifier: Apache-2.0
"""Checks a dialect graph after every pass: each op's operands have the dtype, shape, layout and
quantization it asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.delegate import delegate_of
from aot.dialect.graph import NHWC, arguments, border_nodes, dialect_op, edge_of, value_of
from aot.dialect.kind import Kind, kind_of
from aot.dialect.library import Op
from aot.dialect.quantization import ACTIVATION_TYPES, ACTIVATIONS
from aot.dialect.results import is_result, results_of, taken_from, values_of
from aot.errors import describe, place
from kernels.common.tensor import MAX_RANK


class VerificationError(Exception):
    """A graph with other results after a pass; the text contains the pass, op, tensor and source
    line.
    """


def verify(module: GraphModule, after: str) -> None:
    """Check every node, in delegates too.

    Args:
      module: a dialect graph.
      after: the last pass, for the message.

    Raises:
      VerificationError: on the first node against its op's schema.
    """
    for node in module.graph.nodes:
        if node.op == "call_module":
            problem = _delegate_problem(module, node, after)
        elif node.op == "call_function":
            problem = _result_problem(module, node) if is_result(node) else _problem(node)
        else:
            continue
        if problem:
            origin = node.meta["origin"]
            where = place(origin.module, origin.source)
            where = f" (from {where})" if where else ""
            raise VerificationError(f"after {after}: {node.target} `{node.name}`{where}: {problem}")


def _delegate_problem(module: GraphModule, call: Node, after: str) -> str:
    delegate = delegate_of(module, call)
    if delegate is None:
        return "calls a module that is no delegate"
    verify(delegate.region, f"{after}, in `{call.name}`")
    inputs, outputs = border_nodes(delegate.region)
    if len(call.args) != len(inputs) or len(values_of(call)) != len(outputs):
        return (
            f"has {len(call.args)} inputs and {len(values_of(call))} results, its region "
            f"{len(inputs)} and {len(outputs)}"
        )
    for argument, inside in zip(call.args, inputs, strict=True):
        assert isinstance(argument, Node)
        if not _same_value(argument, inside):
            return f"`{argument.name}` is {_value(argument)}, in its region {_value(inside)}"
    return ""


def _result_problem(module: GraphModule, node: Node) -> str:
    call, index = taken_from(node)
    values = values_of(call)
    if not 0 <= index < len(values):
        return f"takes result {index} of {len(values)} of `{call.name}`"
    given, marked = _text(values[index]), _text(node.meta["val"])
    if given != marked:
        return f"is marked {marked}, but `{call.name}` gives {given}"
    delegate = delegate_of(module, call)
    if delegate is None:
        return ""
    inside = border_nodes(delegate.region)[1][index]
    if not _same_value(node, inside):
        return f"is {_value(node)}, in the delegate {_value(inside)}"
    return ""


def _same_value(a: Node, b: Node) -> bool:
    x, y = a.meta["val"], b.meta["val"]
    same_tensor = (x.shape, x.dtype, x.stride()) == (y.shape, y.dtype, y.stride())
    return same_tensor and edge_of(a) == edge_of(b)


def _value(node: Node) -> str:
    return f"{describe(node.meta['val'])} with {edge_of(node)}"


def _problem(node: Node) -> str:
    op = dialect_op(node)
    if op is None:
        return _float_problem(node)
    values = arguments(node)
    return (
        _dtype_problem(op, values)
        or _length_problem(op, values)
        or _shape_problem(op, node)
        or _quantization_problem(op, node, values)
        or _layout_problem(op, node, values)
    )


def _float_problem(node: Node) -> str:
    for operand in node.all_input_nodes:
        dtype = operand.meta["val"].dtype
        if dtype in ACTIVATION_TYPES:
            kind = str(dtype).removeprefix("torch.")
            return f"an op without an {kind} form reads {kind} values of `{operand.name}`"
    return ""


def _tensors(values: dict[str, Any], name: str) -> list[Node]:
    value = values[name]
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _dtype_problem(op: Op, values: dict[str, Any]) -> str:
    activations: dict[torch.dtype, str] = {}
    for name, dtypes in op.dtypes.items():
        for tensor in _tensors(values, name):
            dtype = tensor.meta["val"].dtype
            if dtype not in dtypes:
                return f"{name} is {dtype}, not one of {', '.join(map(str, dtypes))}"
            if dtypes is ACTIVATIONS:
                activations[dtype] = name
    if len(activations) > 1:
        return " and ".join(f"{name} is {dtype}" for dtype, name in activations.items())
    return ""


def _length_problem(op: Op, values: dict[str, Any]) -> str:
    for name, length in op.signature.lengths.items():
        if len(values[name]) != length:
            return f"{name} has {len(values[name])} numbers, not {length}"
    return ""


def _shape_problem(op: Op, node: Node) -> str:
    given, marked = op.values(*map(value_of, node.args)), values_of(node)
    for value in given:
        if 0 in value.shape or value.dim() > MAX_RANK:
            return f"gives {_text(value)}: no elements, or more than {MAX_RANK} dimensions"
    if [_text(value) for value in given] != [_text(value) for value in marked]:
        return f"gives {_texts(given)}, but is marked {_texts(marked)}"
    return ""


def _text(value: torch.Tensor) -> str:
    return f"{value.dtype}{list(value.shape)}"


def _texts(values: Sequence[torch.Tensor]) -> str:
    return " and ".join(map(_text, values))


def _quantization_problem(op: Op, node: Node, values: dict[str, Any]) -> str:
    for name, owned_by in op.zero_points.items():
        owner = node if owned_by == "output" else values[owned_by]
        expected = edge_of(owner).zero_point
        if values[name] != expected:
            return f"{name} is {values[name]}, but `{owner.name}` has zero_point {expected}"
    for result in results_of(node):
        problem = _scale_problem(result) or _kind_problem(op, result, values)
        if problem:
            return problem
        quantization = edge_of(result).quantization
        if quantization is None or not op.shares_quantization:
            continue
        tensors = [tensor for name in op.dtypes for tensor in _tensors(values, name)]
        for tensor in tensors:
            is_quantized = tensor.meta["val"].dtype in ACTIVATION_TYPES
            if is_quantized and edge_of(tensor).quantization != quantization:
                return f"`{tensor.name}` and the result differ in scale or zero_point"
    return ""


def _scale_problem(node: Node) -> str:
    """Return the problem of a value's scale: a missing one, or one not allowed for its dtype."""
    dtype, quantization = node.meta["val"].dtype, edge_of(node).quantization
    if quantization is None:
        return f"{dtype} without a scale" if dtype in ACTIVATION_TYPES else ""
    if quantization.type.dtype != dtype:
        return f"gives {dtype}, but its scale is of {quantization.type.dtype}"
    return quantization.problem


def _kind_problem(op: Op, result: Node, values: dict[str, Any]) -> str:
    """Return the problem of an integer value.

    It must not come from rounded values, or from a rounding op.
    """
    if kind_of(result) is not Kind.WHOLE:
        return ""
    if op.averages:
        return "gives averages, but is marked as whole numbers"
    if op.name == "lut" and values["input"].meta["val"].dtype == torch.int16:
        return "gives whole numbers of lines between a table's entries"
    tensors = [tensor for name in op.dtypes for tensor in _tensors(values, name)]
    floats = [t for t in tensors if edge_of(t).quantization and kind_of(t) is Kind.FLOAT]
    return f"gives whole numbers of `{floats[0].name}`, which may be rounded" if floats else ""


def _layout_problem(op: Op, node: Node, values: dict[str, Any]) -> str:
    if not op.spatial:
        return ""
    for tensor in (values["input"], *results_of(node)):
        if edge_of(tensor).layout != NHWC:
            return f"`{tensor.name}` has layout {edge_of(tensor).layout}, not {NHWC}"
    return ""
