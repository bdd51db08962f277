# SPDX-License-Identifier: Apache-2.0
"""Ranges of channels: the least and the greatest integer that a channel can have.

They follow from the weights for every input, not from samples. A channel of one integer is
constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.arithmetic import INT32_MAX, INT32_MIN, requantize_sums
from aot.dialect.graph import arguments, calls, dialect_op, edge_of, shape_of, tensor_constant
from aot.dialect.library import Op
from aot.dialect.quantization import ACTIVATION_TYPES
from aot.passes.rewrite.channel_maps import Sources, is_value, passed_on

_MONOTONE = ("add", "mul", "maximum", "minimum", "requantize")
"""Elementwise ops whose extremes lie at ends of their operands' ranges."""
_WITHIN = (
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "amax",
    "amin",
    "cat",
    "gather",
    "max_pool2d",
    "reshape",
    "resize_bilinear",
    "slice",
    "transpose",
)
"""Ops whose results lie between their operands."""
_WIDEST_SUM = 2**46
"""Sums of int16 values are smaller (arithmetic.requantize_wide)."""


@dataclass(frozen=True)
class Range:
    """The least and the greatest integer of each channel, int64 [C]."""

    least: torch.Tensor
    most: torch.Tensor

    @property
    def constant(self) -> torch.Tensor:
        """True for each channel of one integer only."""
        return self.least == self.most

    def joined(self, other: Range) -> Range:
        """Return the range of values of either."""
        return Range(torch.minimum(self.least, other.least), torch.maximum(self.most, other.most))

    def of(self, index: torch.Tensor) -> Range:
        """Return the range of channels of a result, from the channels that they are."""
        return Range(self.least[index], self.most[index])


@dataclass(frozen=True)
class ChannelTaps:
    """Weights between each output and input, summed over some taps of a window.

    Attributes:
      sums: [O, C] in float64; of depthwise layers C is 1.
      sizes: sums of their magnitudes.
    """

    sums: torch.Tensor
    sizes: torch.Tensor

    @property
    def read(self) -> torch.Tensor:
        """True where not all weights are 0."""
        return self.sizes != 0

    def ends(
        self, low: torch.Tensor, high: torch.Tensor, depthwise: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the least and the greatest sum of products, exact below 2^52."""
        middle, half = (low + high).double() / 2, (high - low).double() / 2
        if depthwise:
            centre, reach = self.sums[:, 0] * middle, self.sizes[:, 0] * half
        else:
            centre, reach = self.sums @ middle, self.sizes @ half
        return centre - reach, centre + reach


@dataclass(frozen=True)
class ChannelLayer:
    """A layer whose outputs are sums over taps of its inputs, with constant weights.

    Attributes:
      inside: taps inside the input at every pixel.
      border: taps that may be in the padding.
      bias: int64 [O].
      zero_point: of the input.
    """

    inside: ChannelTaps
    border: ChannelTaps
    bias: torch.Tensor
    zero_point: int

    def sums(self, values: Range, depthwise: bool) -> Range:
        """Return the range of the sums, with the bias."""
        low, high = values.least - self.zero_point, values.most - self.zero_point
        always = self.inside.ends(low, high, depthwise)
        sometimes = self.border.ends(low.clamp(max=0), high.clamp(min=0), depthwise)
        ends = ((a + b).long() + self.bias for a, b in zip(always, sometimes, strict=True))
        return Range(*ends)


def layer_of(module: GraphModule, node: Node) -> ChannelLayer | None:
    """Return the layer that a node calls; None of other ops, and of layers in groups."""
    op = dialect_op(node)
    if op is None or op.name not in _TAPS:
        return None
    values = arguments(node)
    weight, bias = (tensor_constant(module, values[name]) for name in ("weight", "bias"))
    if weight is None or bias is None or values.get("groups", 1) != 1:
        return None
    taps = _TAPS[op.name](weight)
    ever, always = _reach(op.name, node)
    inside, border = _taps(taps[:, always]), _taps(taps[:, ever & ~always])
    return ChannelLayer(inside, border, bias.long(), values["input_zero_point"])


def _taps(weight: torch.Tensor) -> ChannelTaps:
    values = weight.float()  # exact below 2^24: 2^17 taps
    return ChannelTaps(values.sum(1).double(), values.abs_().sum(1).double())


_TAPS = {
    "linear": lambda weight: weight[:, None],
    "conv2d": lambda weight: weight.flatten(1, 2),
    "transpose_conv2d": lambda weight: weight.flatten(1, 2),
    "depthwise_conv2d": lambda weight: weight.flatten(0, 1).T[:, :, None],
}


def _reach(name: str, node: Node) -> tuple[torch.Tensor, torch.Tensor]:
    """Return for each tap if it meets the input at one pixel at least, and if at all pixels."""
    values = arguments(node)
    if name == "linear":
        return torch.tensor([True]), torch.tensor([True])
    weight = shape_of(values["weight"])
    kernel = weight[:2] if name == "depthwise_conv2d" else weight[1:3]
    if name == "transpose_conv2d":
        taps = kernel[0] * kernel[1]
        return torch.ones(taps, dtype=torch.bool), torch.zeros(taps, dtype=torch.bool)
    axes = []
    for d in (0, 1):
        places = torch.arange(kernel[d])[:, None] * values["dilation"][d] - values["padding"][2 * d]
        places = places + torch.arange(shape_of(node)[1 + d]) * values["stride"][d]
        meets = (places >= 0) & (places < shape_of(values["input"])[1 + d])
        axes.append((meets.any(1), meets.all(1)))
    (ever_y, always_y), (ever_x, always_x) = axes
    return (ever_y[:, None] & ever_x).flatten(), (always_y[:, None] & always_x).flatten()


def layers_of(module: GraphModule) -> dict[Node, ChannelLayer]:
    """Return the layers of a graph, in order."""
    found = ((node, layer_of(module, node)) for node in module.graph.nodes)
    return {node: layer for node, layer in found if layer is not None}


def channel_ranges(module: GraphModule, layers: Mapping[Node, ChannelLayer]) -> dict[Node, Range]:
    """Return the ranges of all values with a quantization."""
    found: dict[Node, Range] = {}
    for node in module.graph.nodes:
        if is_value(node) and node.meta["val"].dtype in ACTIVATION_TYPES:
            if node in layers:
                found[node] = _of_layer(module, node, layers[node], found)
            else:
                found[node] = _range(module, node, found)
    return found


def _range(module: GraphModule, node: Node, found: dict[Node, Range]) -> Range:
    op = dialect_op(node)
    if op is None:
        return _any(node)
    if op.transposes is not None and op.transposes.elementwise:
        return _elementwise(module, op, node, found)
    sources = passed_on(module, node)
    if sources is None:
        return _any(node)
    if op.name in ("mean", "mean_pool2d"):
        return _reduced(op, node, found)
    if op.name == "avg_pool2d" and arguments(node)["divisor_override"] > 0:
        return _any(node)
    if op.name in _WITHIN or op.name in ("avg_pool2d", "pad"):
        within = _within(module, sources, found)
        if within is None:
            return _any(node)
        beside = _beside(op, node)
        return within if beside is None else within.joined(Range(beside, beside))
    return _any(node)


def _any(node: Node) -> Range:
    """Return the range of an op without a rule: its clamp, or the whole type."""
    values = arguments(node) if dialect_op(node) is not None else {}
    kind = ACTIVATION_TYPES[node.meta["val"].dtype]
    channels = shape_of(node)[-1]
    least = values.get("activation_min", kind.quant_min)
    most = values.get("activation_max", kind.quant_max)
    return Range(torch.full((channels,), least), torch.full((channels,), most))


def _of_layer(
    module: GraphModule, node: Node, layer: ChannelLayer, found: dict[Node, Range]
) -> Range:
    values, dtype = arguments(node), node.meta["val"].dtype
    before, channels = found[values["input"]], shape_of(node)[-1]
    depthwise = calls(node, "depthwise_conv2d")
    if depthwise:
        before = before.of(torch.arange(channels) // (channels // len(before.least)))
    sums = layer.sums(before, depthwise)
    low, high = (INT32_MIN, INT32_MAX) if dtype is torch.int8 else (-_WIDEST_SUM, _WIDEST_SUM)
    multiplier, shift = (tensor_constant(module, values[name]) for name in ("multiplier", "shift"))
    assert multiplier is not None
    assert shift is not None
    ends = [
        requantize_sums(end.clamp(low, high), multiplier, shift, dtype)
        + values["output_zero_point"]
        for end in (sums.least, sums.most)
    ]
    return _clamped(node, ends)


def _clamped(node: Node, ends: Sequence[torch.Tensor]) -> Range:
    """Return the range between ends, within the clamp of an op."""
    limits, stacked = _any(node), torch.stack(list(ends)).long()
    least, most = stacked.amin(0), stacked.amax(0)
    return Range(
        torch.minimum(torch.maximum(least, limits.least), limits.most),
        torch.minimum(torch.maximum(most, limits.least), limits.most),
    )


def _operand(
    module: GraphModule, value: object, channels: int, found: dict[Node, Range]
) -> Range | None:
    """Return the range of an operand of an elementwise op, by channels of the result."""
    assert isinstance(value, Node)
    known = tensor_constant(module, value)
    if known is not None:
        flat = known.long().reshape(-1, known.shape[-1] if known.dim() else 1)
        known_range = Range(flat.amin(0), flat.amax(0))
    elif value in found:
        known_range = found[value]
    else:
        return None
    same = len(known_range.least) == channels
    return known_range if same else known_range.of(torch.zeros(channels, dtype=torch.long))


def _elementwise(module: GraphModule, op: Op, node: Node, found: dict[Node, Range]) -> Range:
    assert op.transposes is not None
    values, channels = arguments(node), shape_of(node)[-1]
    for name, value in values.items():
        if isinstance(value, Node) and name not in op.transposes.tensors:
            values[name] = tensor_constant(module, value)
    names = op.transposes.tensors
    operands = [_operand(module, values[name], channels, found) for name in names]
    types = [values[name].meta["val"].dtype for name in names]
    if any(x is None for x in operands):
        return _any(node)
    ranges = [x for x in operands if x is not None]
    if op.name == "lut":
        return _looked_up(op, ranges[0], types[0], values)
    if op.name not in _MONOTONE and not all(bool(x.constant.any()) for x in ranges):
        return _any(node)
    ends = [
        op.reference(**values | dict(zip(names, map(torch.Tensor.to, corner, types), strict=True)))
        for corner in product(*((x.least, x.most) for x in ranges))
    ]
    whole, exact = _any(node), _clamped(node, ends)
    if op.name in _MONOTONE:
        return exact
    known = torch.stack([x.constant for x in ranges]).all(0)
    return Range(
        torch.where(known, exact.least, whole.least), torch.where(known, exact.most, whole.most)
    )


def _looked_up(op: Op, before: Range, dtype: torch.dtype, values: dict[str, Any]) -> Range:
    kind = ACTIVATION_TYPES[dtype]
    every = torch.arange(kind.quant_min, kind.quant_max + 1).to(dtype)
    results = op.reference(every, values["table"]).long()
    pairs, place = torch.stack([before.least, before.most], 1).unique(dim=0, return_inverse=True)
    ends = [
        torch.stack(results[a - kind.quant_min : b - kind.quant_min + 1].aminmax())
        for a, b in pairs.tolist()
    ]
    return Range(*torch.stack(ends)[place].T)


def _reduced(op: Op, node: Node, found: dict[Node, Range]) -> Range:
    """Return the range of sums: they rise with each summand, or fall with it."""
    values = arguments(node)
    read, before = values["input"], found[values["input"]]
    kind = read.meta["val"].dtype
    ends = []
    for end in (before.least, before.most):
        result = op.reference(**values | {"input": end.to(kind).expand(shape_of(read))}).long()
        result = result.reshape(-1, result.shape[-1])
        ends += [result.amin(0), result.amax(0)]
    return _clamped(node, ends)


def _within(module: GraphModule, sources: Sources, found: dict[Node, Range]) -> Range | None:
    result: Range | None = None
    for source, index in sources:
        before = _operand(module, source, shape_of(source)[-1], found)
        if before is None:
            return None
        taken, none = before.of(index.clamp(min=0)), index < 0
        far = torch.iinfo(torch.int64)
        taken = Range(taken.least.masked_fill(none, far.max), taken.most.masked_fill(none, far.min))
        result = taken if result is None else result.joined(taken)
    return result


def _beside(op: Op, node: Node) -> torch.Tensor | None:
    """Return the integer of padding, which a pool or pad may also have in its result."""
    values = arguments(node)
    if op.name == "pad":
        return torch.full(shape_of(node)[-1:], values["value"])
    counts = op.name == "avg_pool2d" and values["count_include_pad"] and any(values["padding"])
    return torch.full(shape_of(node)[-1:], edge_of(node).zero_point) if counts else None
