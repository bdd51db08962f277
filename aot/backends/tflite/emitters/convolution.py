# SPDX-License-Identifier: Apache-2.0
"""Export of convolutions and matrix products: multipliers become the scales of weights again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from ethosu.vela.tflite.Padding import Padding
from torch.fx import Node

from aot.backends.tflite.export import Export, Refused
from aot.backends.tflite.file import PER_CHANNEL_FULLY_CONNECTED
from aot.dialect.graph import quantization_of, shape_of
from aot.dialect.quantization import INT16
from aot.importers.tflite.arithmetic import float32, sums_multiplier
from aot.importers.tflite.windows import paddings

_NEIGHBOURS = (0, 1, -1, 2, -2)
_NEAR = 1 << 8
"""Largest distance of 31-bit multipliers from one product of scales, in float32 or not."""


def conv2d(export: Export, node: Node, a: dict[str, Any]) -> None:
    weight = export.constant(a["weight"])
    _convolution(export, node, a, weight, weight.shape[1:3], 0, "CONV_2D", "Conv2DOptions", {})


def depthwise_conv2d(export: Export, node: Node, a: dict[str, Any]) -> None:
    weight = export.constant(a["weight"]).unsqueeze(0)
    more = {"DepthMultiplier": weight.shape[3] // shape_of(a["input"])[3]}
    name, options = "DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions"
    _convolution(export, node, a, weight, weight.shape[1:3], 3, name, options, more)


def _convolution(
    export: Export,
    node: Node,
    a: dict[str, Any],
    weight: torch.Tensor,
    kernel: Sequence[int],
    axis: int,
    name: str,
    options: str,
    more: dict[str, int],
) -> None:
    x, padding = padded(export, a, kernel)
    fields = {
        "Padding": padding,
        "StrideH": a["stride"][0],
        "StrideW": a["stride"][1],
        "DilationHFactor": a["dilation"][0],
        "DilationWFactor": a["dilation"][1],
        "FusedActivationFunction": export.activation(node, a),
        **more,
    }
    constants = _constants(export, node, a, weight, axis)
    export.file.op(name, [x, *constants], [export.give(node)], options, **fields)


def padded(export: Export, a: dict[str, Any], kernel: Sequence[int]) -> tuple[int, int]:
    """Return the input and TFLite's constant for the padding; another padding becomes a PAD."""
    x, given = a["input"], list(a["padding"])
    size = shape_of(x)[1:3]
    dilation = a.get("dilation", (1, 1))
    for padding in (Padding.VALID, Padding.SAME):
        wanted = [0] * 4 if padding == Padding.VALID else None
        if wanted is None:
            wanted = paddings(padding, size, kernel, a["stride"], dilation)
        if wanted == given:
            return export.tensor(x), padding
    return with_border(export, x, given, quantization_of(x).zero_point), Padding.VALID


def with_border(export: Export, x: Node, amounts: Sequence[int], value: int) -> int:
    """Return an image with pixels of a value around it; amounts are (top, bottom, left, right)."""
    n, h, w, c = shape_of(x)
    top, bottom, left, right = amounts
    larger = export.like(f"{x.name}_padded", (n, h + top + bottom, w + left + right, c), x)
    inputs = [export.tensor(x), export.integers("paddings", [0, 0, *amounts, 0, 0], (4, 2))]
    if value == quantization_of(x).zero_point:
        export.file.op("PAD", inputs, [larger], "PadOptions")
    else:
        export.file.op("PADV2", [*inputs, export.one(x, value)], [larger], "PadV2Options")
    return larger


def transpose_conv2d(export: Export, node: Node, a: dict[str, Any]) -> None:
    if a["groups"] != 1 or list(a["dilation"]) != [1, 1]:
        raise Refused("TFLite has no groups or dilation in a transposed convolution")
    weight = export.constant(a["weight"])
    size = whole = list(a["output_size"])
    for padding in (Padding.VALID, Padding.SAME):
        if padding == Padding.VALID and (np.array(size) < weight.shape[1:3]).any():
            continue
        top, _, left, _ = paddings(padding, size, weight.shape[1:3], a["stride"], (1, 1))
        back = [
            -(-s // step) if padding == Padding.SAME else (s - k) // step + 1
            for s, k, step in zip(size, weight.shape[1:3], a["stride"], strict=True)
        ]
        if [top, left] == list(a["padding"]) and back == list(shape_of(a["input"])[1:3]):
            break
    else:  # no padding; a SLICE takes a part of it
        padding = Padding.VALID
        taps = zip(shape_of(a["input"])[1:3], weight.shape[1:3], a["stride"], strict=True)
        least = [(n - 1) * step + k for n, k, step in taps]
        whole = [max(before + s, n) for before, s, n in zip(a["padding"], size, least, strict=True)]
        if any(s - n >= step for s, n, step in zip(whole, least, a["stride"], strict=True)):
            raise Refused(f"TFLite has no padding {list(a['padding'])} for size {size}")
    fields = {"Padding": padding, "StrideH": a["stride"][0], "StrideW": a["stride"][1]}
    fields["FusedActivationFunction"] = export.activation(node, a)
    if fields["FusedActivationFunction"] != 0:
        raise Refused("TFLite fuses no activation with a transposed convolution")
    weights, bias = _constants(export, node, a, weight, 0)
    n, _, _, c = shape_of(node)
    shape = [n, *whole, c]
    result = export.give(node) if whole == size else export.like(f"{node.name}_whole", shape, node)
    inputs = [export.integers("shape", shape), weights, export.tensor(a["input"]), bias]
    export.file.op("TRANSPOSE_CONV", inputs, [result], "TransposeConvOptions", **fields)
    if whole != size:
        places = ([0, *a["padding"], 0], shape_of(node))
        part = [result, *(export.integers("range", values) for values in places)]
        export.file.op("SLICE", part, [export.give(node)], "SliceOptions")


def linear(export: Export, node: Node, a: dict[str, Any]) -> None:
    activation = export.activation(node, a)
    weight = export.constant(a["weight"])
    per_tensor = weight.shape[0] == 1
    try:
        constants = _constants(export, node, a, weight, 0, float32_product=per_tensor)
    except Refused:
        factors = zip(export.constant(a["multiplier"]), export.constant(a["shift"]), strict=True)
        if len({(int(m), int(s)) for m, s in factors}) > 1:
            raise
        per_tensor = True
        constants = _constants(export, node, a, weight, 0, float32_product=True)
    rank = len(shape_of(a["input"]))
    export.file.op(
        "FULLY_CONNECTED",
        [export.tensor(a["input"]), *constants],
        [export.give(node)],
        "FullyConnectedOptions",
        0 if per_tensor else PER_CHANNEL_FULLY_CONNECTED,
        FusedActivationFunction=activation,
        KeepNumDims=rank != 2,
    )


def _constants(
    export: Export,
    node: Node,
    a: dict[str, Any],
    weight: torch.Tensor,
    axis: int,
    float32_product: bool = False,
) -> tuple[int, int]:
    """Return weight and bias."""
    of = export.quantization(a["input"])
    scales = _scales(export, node, a, float32_product)
    w = export.file.tensor(
        f"{node.name}_weight", weight.shape, "int8", scales, 0, axis, weight.contiguous().numpy()
    )
    bias = export.constant(a["bias"])
    wide = of.type is INT16
    b = export.file.tensor(
        f"{node.name}_bias",
        bias.shape,
        "int64" if wide else "int32",
        [float32(of.scale * scale) for scale in scales],
        data=bias.to(torch.int64 if wide else torch.int32).numpy(),
    )
    return w, b


def _scales(export: Export, node: Node, a: dict[str, Any], float32_product: bool) -> list[float]:
    """Return the scales of the weights, by channel.

    There is one scale if the factor comes from TFLite's float32 product. A layer with one output
    has no other form. If no scale has such a product, the layer gets the factor of the nearest one.
    """
    of, out = export.quantization(a["input"]), export.quantization(node)
    multipliers, shifts = export.constant(a["multiplier"]), export.constant(a["shift"])
    factors = list(zip(multipliers.tolist(), shifts.tolist(), strict=True))
    given = of.scale, out.scale, of.type.dtype
    if not float32_product:
        return [weight_scale(factor, *given) for factor in factors]
    try:
        return [weight_scale(factors[0], *given, float32_product=True)]
    except Refused:
        if len(factors) > 1:
            raise
    scale = weight_scale(factors[0], *given)
    factor = sums_multiplier(float32(of.scale * scale) / out.scale, of.type.dtype)
    for name, value in zip(("multiplier", "shift"), factor, strict=True):
        export.adopt(a[name], torch.tensor([value], dtype=torch.int32))
    return [scale]


def weight_scale(
    factor: tuple[int, int],
    of_input: float,
    of_output: float,
    dtype: torch.dtype = torch.int8,
    float32_product: bool = False,
) -> float:
    """Return the float32 scale of weights for TFLite's multiplier and shift."""
    real = factor[0] / 2**31 * 2.0 ** factor[1] * of_output / of_input
    nearest = np.float32(real)
    for step in _NEIGHBOURS:
        scale = nearest
        for _ in range(abs(step)):
            scale = np.nextafter(scale, np.float32(np.inf if step > 0 else 0.0))
        product = of_input * float(scale)
        if float32_product:
            product = float32(product)
        if product > 0.0 and sums_multiplier(product / of_output, dtype) == factor:
            return float(scale)
    raise Refused(
        f"no scale of the weights gives its multiplier, {factor[0]} * 2^({factor[1]} - 31)"
    )


def _in_order(export: Export, x: Node, order: Sequence[int]) -> int:
    """Return a value with its dimensions in another order."""
    if not order:
        return export.tensor(x)
    shape = shape_of(x)
    moved = export.like(f"{x.name}_moved", [shape[dim] for dim in order], x)
    inputs = [export.tensor(x), export.integers("perm", order)]
    export.file.op("TRANSPOSE", inputs, [moved], "TransposeOptions")
    return moved


def bmm(export: Export, node: Node, a: dict[str, Any]) -> None:
    """Write BATCH_MATMUL. TFLite rounds the product of the scales to float32 before it computes the
    factor.
    """
    x, y, out = a["a"], a["b"], export.quantization(node)
    of_x, of_y = export.quantization(x), export.quantization(y)
    real = float32(of_x.scale * of_y.scale) / out.scale
    multiplier, shift = sums_multiplier(real, of_x.type.dtype)
    if shift != a["shift"] or abs(multiplier - a["multiplier"]) > _NEAR:
        raise Refused("its factor does not follow from its scales")
    if multiplier != a["multiplier"]:
        export.adopt_arguments(node, multiplier=multiplier)
    if export.activation(node, a) != 0:
        raise Refused("TFLite fuses no clamp with this op")
    inputs = [_in_order(export, x, a["a_order"]), _in_order(export, y, a["b_order"])]
    fields = {"AdjX": False, "AdjY": a["transpose_b"]}
    export.file.op("BATCH_MATMUL", inputs, [export.give(node)], "BatchMatMulOptions", **fields)
