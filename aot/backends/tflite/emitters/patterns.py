# SPDX-License-Identifier: Apache-2.0
"""Builtins replacing several ops of the dialect: PRELU, and LEAKY_RELU of int16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.backends.tflite.export import Export, Refused
from aot.dialect.graph import arguments, calls, quantization_of, tensor_constant
from aot.dialect.quantization import INT8, INT16
from aot.importers.tflite.arithmetic import float32, quantize_multiplier, requantized

Emit = Callable[[Export], None]
_NEIGHBOURS = 4
"""Number of float32 values to try on either side of a slope."""


def whole(module: GraphModule) -> dict[Node, tuple[Emit, frozenset[Node]]]:
    """Return the writers of builtins replacing several ops, by their last op.

    Each comes with the other ops of its pattern. These have no readers outside it.
    """
    found: dict[Node, tuple[Emit, frozenset[Node]]] = {}
    for node in module.graph.nodes:
        pattern = _prelu(node) or _leaky_relu(node)
        if pattern is not None and all(
            len(inner.users) == 1 or set(inner.users) <= {node} for inner in pattern[1]
        ):
            found[node] = pattern
    return found


def _argument(node: Any, name: str, op: str) -> Any:
    """Return an argument of a call of this op; None for other nodes."""
    if not isinstance(node, Node) or not calls(node, op):
        return None
    return arguments(node)[name]


def _prelu(node: Node) -> tuple[Emit, frozenset[Node]] | None:
    """Return the writer for the importer's form of PRELU: where(x >= 0, x by a table, x
    * slope).
    """
    if not calls(node, "where"):
        return None
    mask, positive, negative = node.args[:3]
    x, module = _argument(mask, "input", "lut"), node.graph.owning_module
    slope = _argument(negative, "b", "mul")
    if x is None or module is None or slope is None or _argument(positive, "input", "lut") is not x:
        return None
    assert isinstance(mask, Node) and isinstance(positive, Node) and isinstance(negative, Node)
    of, out, of_slope = quantization_of(x), quantization_of(node), quantization_of(slope)
    a = arguments(negative)
    if a["a"] is not x or of.type is not INT8 or out.type is not INT8:
        return None
    every = of.every_value().to(torch.int64) - of.zero_point
    table = requantized(every, quantize_multiplier(of.scale / out.scale), out)
    signs = tensor_constant(module, arguments(mask)["table"])
    entries = tensor_constant(module, arguments(positive)["table"])
    factor = quantize_multiplier(of.scale * of_slope.scale / out.scale)
    given = a["multiplier"], a["shift"], a["activation_min"], a["activation_max"]
    if (
        signs is None
        or entries is None
        or not torch.equal(signs, every >= 0)
        or not torch.equal(entries, table)
        or given != (*factor, out.type.quant_min, out.type.quant_max)
    ):
        return None

    def emit(export: Export) -> None:
        inputs = [export.tensor(x), export.tensor(slope)]
        export.file.op("PRELU", inputs, [export.give(node)])

    return emit, frozenset((mask, positive, negative))


def _leaky_relu(node: Node) -> tuple[Emit, frozenset[Node]] | None:
    """Return the writer for the importer's form of LEAKY_RELU.

    It is the larger, or smaller, of two multiples of x.
    """
    if not calls(node, "maximum") and not calls(node, "minimum"):
        return None
    positive, negative = node.args[:2]
    x = _argument(positive, "input", "requantize")
    if x is None or _argument(negative, "input", "requantize") is not x:
        return None
    assert isinstance(positive, Node) and isinstance(negative, Node)
    of, out = quantization_of(x), quantization_of(node)
    if of.type is not INT16 or out.type is not INT16:
        return None
    factors = [
        (arguments(part)["multiplier"], arguments(part)["shift"]) for part in (positive, negative)
    ]
    if factors[0] != quantize_multiplier(of.scale / out.scale):
        return None

    def emit(export: Export) -> None:
        alpha = _slope(factors[1], of.scale, out.scale)
        if (alpha <= 1.0) != calls(node, "maximum"):
            raise Refused(f"its slope {alpha} has the wrong sign")
        fields: dict[str, Any] = {"Alpha": alpha}
        inputs, options = [export.tensor(x)], "LeakyReluOptions"
        export.file.op("LEAKY_RELU", inputs, [export.give(node)], options, **fields)

    return emit, frozenset((positive, negative))


def _slope(factor: tuple[int, int], of: float, out: float) -> float:
    """Return the float32 slope for TFLite's multiplier and shift."""
    alpha = float32(factor[0] / 2**31 * 2.0 ** factor[1] * out / of)
    candidates = [alpha]
    for direction in (float("inf"), float("-inf")):
        near = torch.tensor(alpha)
        for _ in range(_NEIGHBOURS):
            near = torch.nextafter(near, torch.tensor(direction))
            candidates.append(float(near))
    for candidate in candidates:
        if candidate > 0.0 and quantize_multiplier(of * candidate / out) == factor:
            return candidate
    raise Refused(f"no slope gives its multiplier, {factor[0]} * 2^({factor[1]} - 31)")
