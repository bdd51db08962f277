# SPDX-License-Identifier: Apache-2.0
"""What another quantizer asks for, as far as the device has it: int8, or int16 around zero, with
one scale for a value; weights of int8 around zero, with a scale for each channel or one for all;
biases as it likes, for lowering makes its own of them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import tensor_constant
from aot.dialect.quantization import ACTIVATION_TYPES, INT8_WEIGHT, WEIGHT_TYPES
from aot.dialect.results import is_result
from aot.errors import LoweringError, Problem, problem_at
from aot.quantizer.qdq import DEQUANTIZE, QUANTIZE
from aot.rules import rule_for
from aot.rules.weights import channel_axis

_PER_CHANNEL = torch.ops.quantized_decomposed.dequantize_per_channel.default
_HINT = (
    "int8 of -128 to 127, or int16 of -32768 to 32767 with zero_point 0, one scale for a value; "
    "weights of int8 with zero_point 0; or leave the op to Pilotlight's quantizer"
)


def take_others(module: GraphModule) -> None:
    """Makes of torchao's converted graph, in place, one that has nothing but what lowering knows:
    quantized biases become float constants, which they are once they are dequantized.

    Raises:
      LoweringError: an op of the graph has a quantization that the device does not.
    """
    problems: dict[Node, Problem] = {}
    for node in list(module.graph.nodes):
        if not _quantizes(node):
            continue
        constant = tensor_constant(module, node.args[0])
        if node.target is DEQUANTIZE and constant is not None and constant.dtype == torch.int32:
            _fold(module, node)
        elif reason := _reason(node, constant is not None):
            at = _op_at(node)
            problems.setdefault(at, problem_at(at, f"asked for is {reason}", _HINT))
    if problems:
        text = "the quantizer asks for what the device does not have:"
        raise LoweringError(text, list(problems.values()))
    module.recompile()


def _fold(module: GraphModule, node: Node) -> None:
    values = tensor_constant(module, node.args[0])
    _, *arguments = node.args
    name = f"float_{node.name}"
    module.register_buffer(name, node.target(values, *arguments))  # type: ignore[operator]
    with module.graph.inserting_before(node):
        constant = module.graph.get_attr(name)
    constant.meta = dict(node.args[0].meta)  # type: ignore[union-attr]
    constant.meta["val"] = getattr(module, name)
    node.replace_all_uses_with(constant)
    module.graph.erase_node(node)


def _quantizes(node: Node) -> bool:
    return str(node.target).startswith("quantized_decomposed.")


def _reason(node: Node, is_constant: bool) -> str:
    """What a quantize or dequantize node is that the device does not have; "" if it does."""
    readers = [n for n in node.users if node in _weights_of(n)]
    arguments: Any = node.args
    if node.target is _PER_CHANNEL:
        _, _, zero_points, axis, _, quant_max, dtype = arguments
        kind = WEIGHT_TYPES.get(quant_max, INT8_WEIGHT)
        zeros = tensor_constant(node.graph.owning_module, zero_points)  # type: ignore[arg-type]
        if not readers:
            return "a scale for each channel of what is no weight"
        if zeros is None or bool(zeros.any()) or dtype != kind.dtype:
            return f"weights of {_name(dtype)} with zero points"
        other = any(axis != channel_axis(n) for n in readers)
        return f"weights with a scale for each index of dimension {axis}" if other else ""
    if node.target not in (QUANTIZE, DEQUANTIZE):
        return "a quantization that is made as the model runs"
    _, _, zero_point, least, largest, dtype = arguments
    known = ACTIVATION_TYPES.get(dtype)
    ranges = [] if known is None else [(known.quant_min, known.quant_max)]
    symmetric = known is not None and known.symmetric
    what = ""
    if is_constant and readers:
        ranges += [(INT8_WEIGHT.quant_min, INT8_WEIGHT.quant_max)]
        symmetric, what = True, "weights of "
    is_known = (least, largest) in ranges and not (symmetric and zero_point != 0)
    return (
        "" if is_known else f"{what}{_name(dtype)} of {least} to {largest}, zero_point {zero_point}"
    )


def _op_at(node: Node) -> Node:
    """The op that a quantization is of: what gives the value, or what reads it where that is
    nowhere in the model.
    """
    source = node
    while _quantizes(source) and isinstance(source.args[0], Node):
        source = source.args[0]
    if source.op == "call_function":
        return source
    reader = node
    while _quantizes(reader) and reader.users:
        reader = next(iter(reader.users))
    return reader


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _weights_of(node: Node) -> list[Node]:
    """The weights that an op, or one of its results, has."""
    found: list[Node] = []
    for result in (node, *(n for n in node.users if is_result(n))):
        rule = rule_for(result)
        weights = (rule.weights(result) if rule is not None else None) or ()
        found += [weights] if isinstance(weights, Node) else weights
    return found
