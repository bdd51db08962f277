# SPDX-License-Identifier: Apache-2.0
"""What moves values and computes none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node

from aot.backends.tflite.exporting import Export, Refused
from aot.dialect.graph import quantization_of, shape_of, tensor_constant
from aot.importers.tflite.ops.blocks import joined
from aot.importers.tflite.ops.gathering import nearest_places

_UNIT = 1 << 10
_RANK = 5  # that TFLite Micro's transposes have at most


def reshape(export: Export, node: Node, a: dict[str, Any]) -> None:
    _reshape(export, export.tensor(a["input"]), a["shape"], export.give(node))


def _reshape(export: Export, x: int, shape: Sequence[int], result: int) -> None:
    inputs = [x, export.integers("shape", shape, (len(shape),))]
    export.file.op("RESHAPE", inputs, [result], "ReshapeOptions")


def transpose(export: Export, node: Node, a: dict[str, Any]) -> None:
    x, perm, shape = a["input"], list(a["perm"]), list(shape_of(a["input"]))
    if len(perm) <= _RANK:
        inputs = [export.tensor(x), export.integers("perm", perm)]
        export.file.op("TRANSPOSE", inputs, [export.give(node)], "TransposeOptions")
        return
    shape, perm = joined(shape, perm)
    if len(perm) > _RANK:
        raise Refused(f"{len(perm)} dimensions that do not stay side by side, of at most {_RANK}")
    fewer = export.like(f"{x.name}_fewer", shape, x)
    moved = export.like(f"{node.name}_fewer", [shape[d] for d in perm], node)
    _reshape(export, export.tensor(x), shape, fewer)
    export.file.op("TRANSPOSE", [fewer, export.integers("perm", perm)], [moved], "TransposeOptions")
    _reshape(export, moved, shape_of(node), export.give(node))


def same_bytes(export: Export, node: Node, a: dict[str, Any]) -> None:
    """A border of channels_last: the file has the shape in which the bytes lie."""
    export.give(node, export.tensor(a["input"]))


def cat(export: Export, node: Node, a: dict[str, Any]) -> None:
    inputs = [export.tensor(x) for x in a["inputs"]]
    fields = {"Axis": a["dim"]}
    export.file.op("CONCATENATION", inputs, [export.give(node)], "ConcatenationOptions", **fields)


def slice(export: Export, node: Node, a: dict[str, Any]) -> None:
    shape = list(shape_of(a["input"]))
    begin, end, step = [0] * len(shape), shape, [1] * len(shape)
    dim = a["dim"]
    begin[dim], end[dim], step[dim] = a["start"], a["end"], a["step"]
    inputs = [export.tensor(a["input"])]
    if a["step"] == 1:
        inputs += [export.integers("range", values) for values in (begin, shape_of(node))]
        export.file.op("SLICE", inputs, [export.give(node)], "SliceOptions")
        return
    inputs += [export.integers("range", values) for values in (begin, end, step)]
    export.file.op("STRIDED_SLICE", inputs, [export.give(node)], "StridedSliceOptions")


def pad(export: Export, node: Node, a: dict[str, Any]) -> None:
    x, of = a["input"], quantization_of(node)
    amounts = export.integers("paddings", a["padding"], (len(a["padding"]) // 2, 2))
    inputs = [export.tensor(x), amounts]
    if a["value"] == of.zero_point:
        export.file.op("PAD", inputs, [export.give(node)], "PadOptions")
        return
    value = export.one(node, a["value"])
    export.file.op("PADV2", [*inputs, value], [export.give(node)], "PadV2Options")


def gather(export: Export, node: Node, a: dict[str, Any]) -> None:
    """RESIZE_NEAREST_NEIGHBOR, or a GATHER for each dimension."""
    x, shape = export.tensor(a["input"]), list(shape_of(a["input"]))
    pairs = list(zip(a["indices"], a["dims"], strict=True))
    if nearest_pixels(node, a):
        inputs = [x, export.integers("size", shape_of(node)[1:3])]
        options = "ResizeNearestNeighborOptions"
        export.file.op("RESIZE_NEAREST_NEIGHBOR", inputs, [export.give(node)], options)
        return
    for place, (indices, dim) in enumerate(pairs):
        values = export.constant(indices).tolist()
        shape[dim] = len(values)
        last = place == len(pairs) - 1
        y = export.give(node) if last else export.like(f"{node.name}_{dim}", shape, node)
        inputs = [x, export.integers("indices", values)]
        export.file.op("GATHER", inputs, [y], "GatherOptions", Axis=dim)
        x = y


def nearest_pixels(node: Node, a: dict[str, Any]) -> bool:
    """Whether a gather takes the pixels of an image that TFLite's nearest ones are, by default."""
    before, after = shape_of(a["input"]), shape_of(node)
    if len(before) != 4 or not set(a["dims"]) <= {1, 2} or before[1:3] == after[1:3]:
        return False
    module = node.graph.owning_module
    assert module is not None
    for indices, dim in zip(a["indices"], a["dims"], strict=True):
        given = tensor_constant(module, indices)
        wanted = nearest_places(before[dim], after[dim], False, False)
        if given is None or not torch.equal(given, wanted):
            return False
    return True


def embedding(export: Export, node: Node, a: dict[str, Any]) -> None:
    inputs = [export.tensor(a["table"]), export.tensor(a["indices"])]
    export.file.op("GATHER", inputs, [export.give(node)], "GatherOptions", Axis=0)


def resize_bilinear(export: Export, node: Node, a: dict[str, Any]) -> None:
    """TFLite's places have 10 bits: those that have more do not."""
    before, after = list(shape_of(a["input"])[1:3]), list(a["output_size"])
    for corners, centres in ((False, False), (True, False), (False, True)):
        if all(_is(a, i, before[i], after[i], corners, centres) for i in (0, 1)):
            inputs = [export.tensor(a["input"]), export.integers("size", after)]
            fields = {"AlignCorners": corners, "HalfPixelCenters": centres}
            export.file.op(
                "RESIZE_BILINEAR", inputs, [export.give(node)], "ResizeBilinearOptions", **fields
            )
            return
    raise Refused("places between pixels that TFLite's 10 bits do not hold")


def _is(a: dict[str, Any], i: int, before: int, after: int, corners: bool, centres: bool) -> bool:
    """Whether an axis has the places that TFLite gives it, as numbers with 10 bits."""
    if corners and after > 1:
        before, after = before - 1, after - 1
    step = ((before << 10) + after // 2) // after
    offset = step // 2 - _UNIT // 2 if centres else 0
    unit = a["unit"][i]
    # Equal fractions, for every pixel.
    return bool(a["step"][i] * _UNIT == step * unit and a["offset"][i] * _UNIT == offset * unit)
