# SPDX-License-Identifier: Apache-2.0
"""Checks a dialect graph after every pass: each op's operands have the dtype, shape, layout and
quantization it asks for.
"""

from __future__ import annotations

from typing import Any

from torch.fx import GraphModule, Node

from aot.dialect.graph import NHWC, arguments, dialect_op, edge_of, shape_of
from aot.dialect.library import Op
from aot.dialect.quantization import ACTIVATION_TYPES
from aot.errors import place
from kernels.common.tensor import MAX_RANK


class VerificationError(Exception):
    """A pass left a graph that would compute something else; names the pass, op, tensor and source
    line.
    """


def verify(module: GraphModule, after: str) -> None:
    """Checks every node.

    Args:
      module: a dialect graph.
      after: the pass that ran last, for the message.

    Raises:
      VerificationError: on the first node that breaks its op's schema.
    """
    for node in module.graph.nodes:
        if node.op != "call_function":
            continue
        problem = _problem(node)
        if problem:
            origin = node.meta["origin"]
            where = place(origin.module, origin.source)
            where = f" (from {where})" if where else ""
            raise VerificationError(f"after {after}: {node.target} `{node.name}`{where}: {problem}")


def _problem(node: Node) -> str:
    op = dialect_op(node)
    if op is None:
        return _float_problem(node)
    values = arguments(node)
    return (
        _dtype_problem(op, values)
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
    for name, dtypes in op.dtypes.items():
        for tensor in _tensors(values, name):
            dtype = tensor.meta["val"].dtype
            if dtype not in dtypes:
                return f"{name} is {dtype}, not one of {', '.join(map(str, dtypes))}"
    return ""


def _shape_problem(op: Op, node: Node) -> str:
    def value(argument: Any) -> Any:
        if isinstance(argument, Node):
            return argument.meta["val"]
        return [value(a) for a in argument] if isinstance(argument, (list, tuple)) else argument

    shape, dtype = op.infer(*(value(a) for a in node.args))
    if 0 in shape or len(shape) > MAX_RANK:
        return f"gives {dtype}{list(shape)}: no elements, or more than {MAX_RANK} dimensions"
    if tuple(shape) != shape_of(node) or dtype != node.meta["val"].dtype:
        marked = f"{node.meta['val'].dtype}{list(shape_of(node))}"
        return f"gives {dtype}{list(shape)}, but is marked {marked}"
    return ""


def _quantization_problem(op: Op, node: Node, values: dict[str, Any]) -> str:
    for name, owned_by in op.zero_points.items():
        owner = node if owned_by == "output" else values[owned_by]
        expected = edge_of(owner).zero_point
        if values[name] != expected:
            return f"{name} is {values[name]}, but `{owner.name}` has zero_point {expected}"
    if op.shares_quantization:
        for tensor in _tensors(values, next(iter(op.dtypes))):
            if edge_of(tensor).quantization != edge_of(node).quantization:
                return f"`{tensor.name}` and the result differ in scale or zero_point"
    return _marked_quantization_problem(node)


def _marked_quantization_problem(node: Node) -> str:
    """That a value is quantized if its dtype says so, and as its dtype allows."""
    dtype, quantization = node.meta["val"].dtype, edge_of(node).quantization
    if quantization is None:
        return f"{dtype} without a scale" if dtype in ACTIVATION_TYPES else ""
    if quantization.type.dtype != dtype:
        return f"gives {dtype}, but its scale is of {quantization.type.dtype}"
    return quantization.problem


def _layout_problem(op: Op, node: Node, values: dict[str, Any]) -> str:
    if not op.spatial:
        return ""
    for tensor in (values["input"], node):
        if edge_of(tensor).layout != NHWC:
            return f"`{tensor.name}` has layout {edge_of(tensor).layout}, not {NHWC}"
    return ""
