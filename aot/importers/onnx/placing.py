# SPDX-License-Identifier: Apache-2.0
"""Quantize and dequantize nodes of an exported file, moved to the places where lowering reads them.

Quantizers leave out nodes around ops that only move values, and keep constants as integers. Here
each op gets quantized inputs, and each weight its integers.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

import aot.upstream.torchao  # noqa: F401 (registers torch.ops.quantized_decomposed)
from aot.dialect.graph import tensor_constant
from aot.dialect.qdq import DEQUANTIZE, QUANTIZE
from aot.dialect.quantization import INT8, INT8_WEIGHT, INT16, Quantization
from aot.dialect.rule import Rule, Shares, argument
from aot.errors import LoweringError, Problem, problem_at
from aot.importers.onnx.call import UnsupportedNode
from aot.importers.onnx.quantized import QuantizedConstants
from aot.passes.aten.build import call, constant
from aot.rules import rule_for
from aot.rules.weights import channel_axis

_aten = torch.ops.aten
_PER_CHANNEL = torch.ops.quantized_decomposed.dequantize_per_channel.default
_ROUNDS = (_aten.avg_pool1d.default, _aten.avg_pool2d.default)
"""Ops that compute, although their result shares a quantization."""


def place_quantization(module: GraphModule, constants: QuantizedConstants) -> None:
    """Rewrite an exported graph in place, for fold_qdq.

    Raises:
      LoweringError: weights have a zero point, or scales not by output channel.
    """
    while _behind_moves(module) or _before_moves(module):
        pass
    _constants(module, constants)
    _requantize_shared(module)
    _weights(module, constants)
    module.graph.lint()
    module.recompile()


def _moving_rule(node: Node) -> Rule | None:
    """Return the rule of an op that only moves values, else None."""
    if node.op != "call_function" or node.target in (QUANTIZE, DEQUANTIZE, *_ROUNDS):
        return None
    rule = rule_for(node)
    return rule if rule is not None and isinstance(rule.output, Shares) else None


def _pair(value: Node, quantization: tuple[object, ...]) -> Node:
    """Return a dequantize of a quantize of a value, after it."""
    with value.graph.inserting_after(value):
        quantized = call(value, QUANTIZE, value, *quantization)
    with value.graph.inserting_after(quantized):
        return call(value, DEQUANTIZE, quantized, *quantization)


def _behind_moves(module: GraphModule) -> bool:
    """Quantize results of moves of quantized values like these; return True if one changed."""
    changed = False
    for node in list(module.graph.nodes):
        rule = _moving_rule(node)
        if rule is None or not node.users or any(u.target is QUANTIZE for u in node.users):
            continue
        sources = rule.activations(node)
        if any(s.target is not DEQUANTIZE for s in sources):
            continue
        quantizations = {s.args[1:] for s in sources}
        if len(quantizations) == 1:
            users = list(node.users)
            made = _pair(node, quantizations.pop())
            for user in users:
                user.replace_input_with(node, made)
            changed = True
    return changed


def _before_moves(module: GraphModule) -> bool:
    """Quantize the source of a move that is quantized behind it; return True if one changed."""
    changed = False
    for node in list(module.graph.nodes):
        if node.target is not QUANTIZE or _moving_rule(node.args[0]) is None:
            continue
        move = node.args[0]
        sources = move.all_input_nodes
        if len(sources) != 1 or len(move.users) != 1 or len(sources[0].users) != 1:
            continue
        source = sources[0]
        if source.op in ("call_function", "placeholder") and source.target is not DEQUANTIZE:
            made = _pair(source, node.args[1:])
            move.replace_input_with(source, made)
            changed = True
    return changed


def _constants(module: GraphModule, constants: QuantizedConstants) -> None:
    """Quantize constants that are operands of quantized values."""
    for node in list(module.graph.nodes):
        rule = rule_for(node) if node.op == "call_function" else None
        if rule is None or node.target in (QUANTIZE, DEQUANTIZE):
            continue
        sources = rule.activations(node)
        others = [s for s in sources if s.target is DEQUANTIZE]
        for source in sources:
            value = tensor_constant(module, source)
            if value is None or not others or not value.is_floating_point():
                continue
            found = constants.find(value)
            given = None if found is None else found[0].quantization()
            dtype = others[0].args[-1]
            if given is None or given.type.dtype is not dtype:
                given = _range_of(value, dtype is torch.int16)
            made = _pair(source, _arguments(given))
            node.replace_input_with(source, made)


def _arguments(quantization: Quantization) -> tuple[object, ...]:
    kind = quantization.type
    limits = kind.quant_min, kind.quant_max, kind.dtype
    return quantization.scale, quantization.zero_point, *limits


def _range_of(value: torch.Tensor, is_wide: bool) -> Quantization:
    """Return the narrowest quantization of a constant."""
    least, most = min(float(value.min()), 0.0), max(float(value.max()), 0.0)
    if is_wide:
        return Quantization(max(-least, most, 1e-12) / INT16.quant_max, 0, INT16)
    scale = max(most - least, 1e-12) / (INT8.quant_max - INT8.quant_min)
    return Quantization(scale, round(INT8.quant_min - least / scale), INT8)


def _requantize_shared(module: GraphModule) -> None:
    """Give the inputs of moves, such as concatenations, the quantization of their result."""
    for node in list(module.graph.nodes):
        if node.target is not QUANTIZE or node.args[0].op != "call_function":
            continue
        op = node.args[0]
        rule = rule_for(op) if op.target not in (QUANTIZE, DEQUANTIZE) else None
        if rule is None or not isinstance(rule.output, Shares):
            continue
        for source in dict.fromkeys(rule.activations(op)):
            if source.target is DEQUANTIZE and source.args[1:] != node.args[1:]:
                op.replace_input_with(source, _pair(source, node.args[1:]))


def _weights(module: GraphModule, constants: QuantizedConstants) -> None:
    """Give layers of quantized values their integer weights, and biases without rounding."""
    problems: list[Problem] = []
    for node in list(module.graph.nodes):
        rule = None if node.target in (QUANTIZE, DEQUANTIZE, _PER_CHANNEL) else rule_for(node)
        weights = None if rule is None else rule.weights(node)
        if rule is None or weights is None:
            continue
        if any(source.target is not DEQUANTIZE for source in rule.activations(node)):
            continue
        for weight in [weights] if isinstance(weights, Node) else [*weights]:
            real = tensor_constant(module, weight)
            if real is None:
                continue
            try:
                values, scales = _integers(constants, real, channel_axis(node))
            except UnsupportedNode as reason:
                hint = "weights of int8 around zero, with one scale or one for each output channel"
                problems.append(problem_at(node, str(reason), hint))
                continue
            with module.graph.inserting_before(node):
                arguments = (
                    constant(module, weight, "values", values),
                    constant(module, weight, "scales", scales),
                    constant(module, weight, "zeros", torch.zeros(len(scales), dtype=torch.int64)),
                )
                limits = (INT8_WEIGHT.quant_min, INT8_WEIGHT.quant_max, torch.int8)
                made = call(weight, _PER_CHANNEL, *arguments, channel_axis(node), *limits)
            node.replace_input_with(weight, made)
            step = rule.activations(node)[0].args[1]
            assert isinstance(step, float)
            _bias(module, constants, node, step * scales.to(torch.float64))
    if problems:
        raise LoweringError("the .onnx file cannot be lowered:", problems)


def _integers(
    constants: QuantizedConstants, real: torch.Tensor, axis: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a weight's integers, and its scales by output channel."""
    found = constants.weight(real)
    if found is None:  # real in the file
        rows = real.detach().movedim(axis, 0).flatten(1).abs().amax(1).clamp(min=1e-12)
        scales = rows / INT8_WEIGHT.quant_max
        shape = [-1 if d == axis else 1 for d in range(real.dim())]
        values = (real.detach() / scales.reshape(shape)).round().to(torch.int8)
        return values, scales
    values, full, is_symmetric = found
    if not is_symmetric:
        raise UnsupportedNode("its weights have a zero point")
    if values.dtype is not torch.int8:
        raise UnsupportedNode(f"its weights are {values.dtype}")
    rows = full.movedim(axis, 0).flatten(1)
    if bool((rows != rows[:, :1]).any()):
        raise UnsupportedNode("its weights have scales along another axis than the output channels")
    return values.contiguous(), rows[:, 0].contiguous()


def _bias(
    module: GraphModule, constants: QuantizedConstants, node: Node, step: torch.Tensor
) -> None:
    """Replace a bias by its value in float64: int32 has more digits than float32.

    A bias in steps of input and weights, which is the usual one, keeps its integers.
    """
    names = [entry.name for entry in node.target._schema.arguments]  # type: ignore[union-attr]
    bias = argument(node, "bias") if "bias" in names else None
    value = tensor_constant(module, bias)
    found = None if value is None else constants.find(value)
    if not isinstance(bias, Node) or value is None or found is None:
        return
    if found[0].values.dtype is not torch.int32:
        return
    bias_scales = found[0].scales().to(torch.float64).reshape(-1)
    exact = found[0].real(torch.float64).reshape(value.shape)
    if bias_scales.shape == step.shape and torch.allclose(bias_scales, step, 1e-6, 0.0):
        exact = found[0].values.to(torch.float64).reshape(value.shape) * step
    with module.graph.inserting_before(node):
        node.replace_input_with(bias, constant(module, bias, "exact", exact))
