# SPDX-License-Identifier: Apache-2.0
"""Export of data movement: ops computing no values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node

from aot.backends.tflite.export import Export, Refused
from aot.dialect.graph import quantization_of, shape_of, tensor_constant
from aot.importers.tflite.ops.blocks import joined
from aot.importers.tflite.ops.gathering import nearest_places

_UNIT = 1 << 10
_SLICED_RANK = 4  # and its slices with a step
_MOST_JOINED = 10  # limit of TFLite Micro's concatenations
_RANK = 5  # limit of TFLite Micro's transposes


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
        raise Refused(f"it moves {len(perm)} separate dimensions; {_RANK} at most are supported")
    fewer = export.like(f"{x.name}_fewer", shape, x)
    moved = export.like(f"{node.name}_fewer", [shape[d] for d in perm], node)
    _reshape(export, export.tensor(x), shape, fewer)
    export.file.op("TRANSPOSE", [fewer, export.integers("perm", perm)], [moved], "TransposeOptions")
    _reshape(export, moved, shape_of(node), export.give(node))


def same_bytes(export: Export, node: Node, a: dict[str, Any]) -> None:
    """Write a channels_last input or output: the file has the shape of the bytes in memory."""
    export.give(node, export.tensor(a["input"]))


def cat(export: Export, node: Node, a: dict[str, Any]) -> None:
    parts = [(export.tensor(x), export.shape(x)) for x in a["inputs"]]
    _concatenation(export, node, parts, a["dim"], export.give(node))


def _concatenation(
    export: Export, node: Node, parts: Sequence[tuple[int, Sequence[int]]], dim: int, result: int
) -> None:
    """Concatenate tensors with their shapes; many tensors are joined in groups first."""
    while len(parts) > _MOST_JOINED:
        joined_parts = []
        for start in range(0, len(parts), _MOST_JOINED):
            group = parts[start : start + _MOST_JOINED]
            shape = list(group[0][1])
            shape[dim] = sum(part[dim] for _, part in group)
            tensor = export.like(f"{node.name}_part", shape, node)
            _concatenation(export, node, group, dim, tensor)
            joined_parts.append((tensor, shape))
        parts = joined_parts
    inputs, fields = [tensor for tensor, _ in parts], {"Axis": dim}
    export.file.op("CONCATENATION", inputs, [result], "ConcatenationOptions", **fields)


def slice(export: Export, node: Node, a: dict[str, Any]) -> None:
    shape = list(shape_of(a["input"]))
    x, dim = export.tensor(a["input"]), a["dim"]
    if a["step"] != 1:
        which = a["start"], a["end"], a["step"]
        _strided_slice(export, node, x, shape, dim, which, export.give(node))
        return
    begin = [0] * len(shape)
    begin[dim] = a["start"]
    inputs = [x, *(export.integers("range", values) for values in (begin, shape_of(node)))]
    export.file.op("SLICE", inputs, [export.give(node)], "SliceOptions")


def _strided_slice(
    export: Export,
    node: Node,
    x: int,
    shape: Sequence[int],
    dim: int,
    which: tuple[int, int, int],
    result: int,
) -> None:
    """Write a strided slice (start, stop, step) along a dimension.

    If there are many dimensions, those on either side are merged into one.
    """
    count = len(range(*which))
    if len(shape) > _SLICED_RANK:
        outer, inner = math.prod(shape[:dim]), math.prod(shape[dim + 1 :])
        before, after = (outer, shape[dim], inner), (outer, count, inner)
        fewer = export.like(f"{node.name}_fewer", before, node)
        _reshape(export, x, before, fewer)
        sliced = export.like(f"{node.name}_sliced", after, node)
        _strided_slice(export, node, fewer, before, 1, which, sliced)
        _reshape(export, sliced, (*shape[:dim], count, *shape[dim + 1 :]), result)
        return
    start, stop, by = which
    begin, end, step = [0] * len(shape), list(shape), [1] * len(shape)
    # A negative end counts from the end of the dimension.
    begin[dim], end[dim], step[dim] = start, stop if stop >= 0 else stop - shape[dim], by
    inputs = [x, *(export.integers("range", values) for values in (begin, end, step))]
    export.file.op("STRIDED_SLICE", inputs, [result], "StridedSliceOptions")


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
    """Write RESIZE_NEAREST_NEIGHBOR, or a GATHER for each dimension.

    TFLite Micro has no int16 GATHER: int16 uses slices and their concatenation.
    """
    x, shape = export.tensor(a["input"]), list(shape_of(a["input"]))
    pairs = list(zip(a["indices"], a["dims"], strict=True))
    for corners, centres in itertools.product((False, True), repeat=2):
        if nearest_pixels(node, a, corners, centres):
            inputs = [x, export.integers("size", shape_of(node)[1:3])]
            fields = {"AlignCorners": corners, "HalfPixelCenters": centres}
            options = "ResizeNearestNeighborOptions"
            export.file.op(
                "RESIZE_NEAREST_NEIGHBOR", inputs, [export.give(node)], options, **fields
            )
            return
    for place, (indices, dim) in enumerate(pairs):
        values, before = export.constant(indices).tolist(), list(shape)
        shape[dim] = len(values)
        last = place == len(pairs) - 1
        y = export.give(node) if last else export.like(f"{node.name}_{dim}", shape, node)
        if node.meta["val"].dtype is torch.int16:
            _slices(export, node, x, before, dim, values, y)
        else:
            inputs = [x, export.integers("indices", values)]
            export.file.op("GATHER", inputs, [y], "GatherOptions", Axis=dim)
        x = y


def _slices(
    export: Export,
    node: Node,
    x: int,
    shape: list[int],
    dim: int,
    places: Sequence[int],
    result: int,
) -> None:
    """Write the elements at some indices of a dimension, with as few strided slices as possible."""
    found, parts = runs(places), []
    for start, step, count in found:
        size = list(shape)
        size[dim] = count
        part = result if len(found) == 1 else export.like(f"{node.name}_part", size, node)
        which = start, start + step * count, step
        _strided_slice(export, node, x, shape, dim, which, part)
        parts.append((part, size))
    if len(parts) > 1:
        _concatenation(export, node, parts, dim, result)


def runs(places: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return (first, step, count) of runs of numbers with equal distance, in order."""
    found: list[tuple[int, int, int]] = []
    for place in places:
        if found:
            first, step, count = found[-1]
            if count == 1 and place != first:
                found[-1] = first, place - first, 2
                continue
            if count > 1 and place == first + step * count:
                found[-1] = first, step, count + 1
                continue
        found.append((place, 1, 1))
    return found


def nearest_pixels(
    node: Node, a: dict[str, Any], corners: bool = False, centres: bool = False
) -> bool:
    """Return True if a gather takes the same pixels as TFLite's nearest neighbour.

    TFLite's options may be the default or the given ones.
    """
    before, after = shape_of(a["input"]), shape_of(node)
    if len(before) != 4 or not set(a["dims"]) <= {1, 2} or before[1:3] == after[1:3]:
        return False
    given = dict(zip(a["dims"], a["indices"], strict=True))
    module = node.graph.owning_module
    assert module is not None
    for dim in (1, 2):
        places = torch.arange(before[dim], dtype=torch.int32)
        if dim in given:
            constant = tensor_constant(module, given[dim])
            if constant is None:
                return False
            places = constant
        if not torch.equal(places, nearest_places(before[dim], after[dim], corners, centres)):
            return False
    return True


def embedding(export: Export, node: Node, a: dict[str, Any]) -> None:
    inputs = [export.tensor(a["table"]), export.tensor(a["indices"])]
    export.file.op("GATHER", inputs, [export.give(node)], "GatherOptions", Axis=0)


def resize_bilinear(export: Export, node: Node, a: dict[str, Any]) -> None:
    """Write RESIZE_BILINEAR. TFLite's positions have 10 bits; finer positions have no form."""
    before, after = list(shape_of(a["input"])[1:3]), list(a["output_size"])
    for corners, centres in ((False, False), (True, False), (False, True)):
        if all(_is(a, i, before[i], after[i], corners, centres) for i in (0, 1)):
            inputs = [export.tensor(a["input"]), export.integers("size", after)]
            fields = {"AlignCorners": corners, "HalfPixelCenters": centres}
            export.file.op(
                "RESIZE_BILINEAR", inputs, [export.give(node)], "ResizeBilinearOptions", **fields
            )
            return
    raise Refused("it interpolates at positions that TFLite's 10 bits cannot hold")


def _is(a: dict[str, Any], i: int, before: int, after: int, corners: bool, centres: bool) -> bool:
    """Return True if an axis has TFLite's positions, as numbers with 10 bits."""
    if corners and after > 1:
        before, after = before - 1, after - 1
    step = ((before << 10) + after // 2) // after
    offset = step // 2 - _UNIT // 2 if centres else 0
    unit = a["unit"][i]
    # Equal fractions, for every pixel.
    return bool(a["step"][i] * _UNIT == step * unit and a["offset"][i] * _UNIT == offset * unit)
