# SPDX-License-Identifier: Apache-2.0
"""Export of pools and reductions."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.fx import Node

from aot.backends.tflite.emitters.convolution import padded, with_border
from aot.backends.tflite.export import Export, Refused
from aot.dialect.graph import quantization_of, shape_of
from aot.dialect.results import results_of, taken_from
from aot.importers.tflite.arithmetic import mean_multiplier, quantize_multiplier


def max_pool2d(export: Export, node: Node, a: dict[str, Any]) -> None:
    if list(a["dilation"]) != [1, 1]:
        raise Refused(f"TFLite has no dilation in a pool: {list(a['dilation'])}")
    size = list(shape_of(a["input"])[1:3])
    if list(a["padding"]) in ([0] * 4, _same(a, size)):
        _pool(export, node, a, "MAX_POOL_2D")
        return
    _check_size(a, size, a["padding"])
    fields = _fields(a) | {"Padding": 1}
    lowest = quantization_of(node).type.quant_min
    padded_image = with_border(export, a["input"], a["padding"], lowest)
    export.file.op("MAX_POOL_2D", [padded_image], [export.give(node)], "Pool2DOptions", **fields)


def avg_pool2d(export: Export, node: Node, a: dict[str, Any]) -> None:
    if a["divisor_override"] > 0:
        raise Refused("TFLite has no divisor_override")
    if a["count_include_pad"] and any(a["padding"]):
        # TFLite ignores the pool's padding in the count, but counts a PAD before it.
        _check_size(a, list(shape_of(a["input"])[1:3]), a["padding"])
        x, _ = padded(export, {**a, "stride": (1 << 20, 1 << 20)}, a["kernel"])
        fields = _fields(a) | {"Padding": 1}
        export.file.op("AVERAGE_POOL_2D", [x], [export.give(node)], "Pool2DOptions", **fields)
        return
    _pool(export, node, a, "AVERAGE_POOL_2D")


def _pool(export: Export, node: Node, a: dict[str, Any], name: str) -> None:
    size = list(shape_of(a["input"])[1:3])
    _check_size(a, size, a["padding"])
    reach = [[0] * 4, _same(a, size)]
    if list(a["padding"]) not in reach:
        raise Refused(f"padding {list(a['padding'])} is neither SAME nor VALID")
    fields = _fields(a) | {"Padding": 1 if not any(a["padding"]) else 0}
    inputs = [export.tensor(a["input"])]
    export.file.op(name, inputs, [export.give(node)], "Pool2DOptions", **fields)


def _same(a: dict[str, Any], size: list[int]) -> list[int]:
    found: list[int] = []
    for extent, taps, step in zip(size, a["kernel"], a["stride"], strict=True):
        total = max((-(-extent // step) - 1) * step + taps - extent, 0)
        found += [total // 2, total - total // 2]
    return found


def _check_size(a: dict[str, Any], size: list[int], padding: Any) -> None:
    whole = [
        (extent + padding[2 * i] + padding[2 * i + 1] - a["kernel"][i]) // a["stride"][i] + 1
        for i, extent in enumerate(size)
    ]
    if whole != list(a["output_size"]):
        raise Refused("its windows reach past the padded image")


def _fields(a: dict[str, Any]) -> dict[str, int]:
    (kh, kw), (sh, sw) = a["kernel"], a["stride"]
    return {"FilterHeight": kh, "FilterWidth": kw, "StrideH": sh, "StrideW": sw}


def mean(export: Export, node: Node, a: dict[str, Any]) -> None:
    """Write MEAN, or SUM if the factor does not contain the count."""
    of, out = quantization_of(a["input"]), quantization_of(node)
    count = math.prod(shape_of(a["input"])[d] for d in a["dim"])
    given = a["multiplier"], a["shift"]
    real = of.scale / out.scale
    if mean_multiplier(real, count) == given:
        _reduction(export, node, a, "MEAN")
    elif quantize_multiplier(real) == given:
        _reduction(export, node, a, "SUM")
    else:
        raise Refused("its factor follows from neither MEAN nor SUM of its scales")


def amax(export: Export, node: Node, a: dict[str, Any]) -> None:
    _reduction(export, node, a, "REDUCE_MAX")


def amin(export: Export, node: Node, a: dict[str, Any]) -> None:
    _reduction(export, node, a, "REDUCE_MIN")


def _reduction(export: Export, node: Node, a: dict[str, Any], name: str) -> None:
    if node.meta["val"].dtype is torch.bool:
        raise Refused("TFLite does not reduce masks")
    inputs = [export.tensor(a["input"]), export.integers("axes", a["dim"])]
    fields = {"KeepDims": a["keepdim"]}
    export.file.op(name, inputs, [export.give(node)], "ReducerOptions", **fields)


def max_with_indices(export: Export, node: Node, a: dict[str, Any]) -> None:
    if a["input"].meta["val"].dtype is not torch.int8 or a["keepdim"]:
        raise Refused("TFLite does not take floats here, and does not keep the dimension")
    axes = [a["dim"]]
    for result in results_of(node):
        x = export.tensor(a["input"])
        if taken_from(result)[1] == 1:
            fields = {"OutputType": 2}
            inputs = [x, export.integers("axis", axes)]
            export.file.op("ARG_MAX", inputs, [export.give(result)], "ArgMaxOptions", **fields)
        else:
            inputs = [x, export.integers("axes", axes)]
            export.file.op(
                "REDUCE_MAX", inputs, [export.give(result)], "ReducerOptions", KeepDims=False
            )
