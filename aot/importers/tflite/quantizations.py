# SPDX-License-Identifier: Apache-2.0
"""Missing quantizations, and those of uint8: a graph before its import.

Ops that only move or select integers mean the same at both ends. A scale missing at one end is
taken from the other. Integers without any stand for themselves: scale 1, zero point 0. A constant
of scale 0 holds zeros.

uint8 is int8 with each integer 128 lower, and the zero point too. Moves and QUANTIZE have the same
results then. Other builtins are refused: TFLite Micro has them for int8 only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from ethosu.vela.tflite.VarHandleOptions import VarHandleOptions

from aot.importers.tflite.file import TfliteGraph, TfliteOperator, TfliteTensor
from aot.importers.tflite.variables import ASSIGN, HANDLE, READ, key_of

_ALL = None
MOVED: Mapping[str, tuple[int, ...] | None] = {
    "BATCH_TO_SPACE_ND": (0,),
    "BROADCAST_TO": (0,),
    "CONCATENATION": _ALL,
    "DEPTH_TO_SPACE": (0,),
    "EXPAND_DIMS": (0,),
    "GATHER": (0,),
    "MAXIMUM": _ALL,
    "MAX_POOL_2D": (0,),
    "MINIMUM": _ALL,
    "MIRROR_PAD": (0,),
    "PACK": _ALL,
    "PAD": (0,),
    "PADV2": (0, 2),
    "REDUCE_MAX": (0,),
    "REDUCE_MIN": (0,),
    "RESHAPE": (0,),
    "RESIZE_NEAREST_NEIGHBOR": (0,),
    "SLICE": (0,),
    "SPACE_TO_BATCH_ND": (0,),
    "SPACE_TO_DEPTH": (0,),
    "SPLIT": (1,),
    "SPLIT_V": (0,),
    "SQUEEZE": (0,),
    "STRIDED_SLICE": (0,),
    "TRANSPOSE": (0,),
    "UNPACK": (0,),
}
"""Builtins moving or selecting integers, and the inputs that have them; None for all."""

_READING = {"ARG_MAX", "SHAPE"}
"""Builtins that read integers without their scale."""

OF_UINT8 = {*MOVED, *_READING, "QUANTIZE", "DEQUANTIZE"}
"""Builtins with uint8 values."""

_INTEGERS = ("INT8", "INT16", "UINT8")
_OFFSET = 128
_PLAIN = ((1.0,), (0,))
_LOWEST = -(2**15)
_SMALL_SCALE = 2.0**-20


def prepared(graph: TfliteGraph) -> TfliteGraph:
    """Return the graph with all quantizations, and with int8 in place of uint8."""
    tensors = [_zeros(tensor) for tensor in _scaled(graph)]
    for operator in graph.operators:
        if operator.name == "SOFTMAX":
            for index in operator.outputs:
                tensors[index] = _halved(tensors[index])
    return replace(graph, tensors=[_signed(tensor) for tensor in tensors])


def _halved(tensor: TfliteTensor) -> TfliteTensor:
    """Return int16 probabilities with the lowest zero point as ones with zero point 0.

    They have half as many steps.
    """
    if tensor.type != "INT16" or tensor.zero_points != (_LOWEST,) or tensor.data is not None:
        return tensor
    return replace(tensor, scales=(2.0 * tensor.scales[0],), zero_points=(0,), was_halved=True)


def zero_point_in_file(tensor: TfliteTensor) -> int:
    """Return the zero point of a tensor with one scale here, as its integers are: 0 if left out."""
    if not tensor.was_unscaled:
        return tensor.zero_points[0]
    return -_OFFSET if tensor.was_unsigned else 0


def is_plain(tensor: TfliteTensor) -> bool:
    """Return True for integers without a scale, their own or another value's."""
    if tensor.type in _INTEGERS:
        return tensor.was_unscaled and (tensor.scales, tensor.zero_points) == _PLAIN
    return not tensor.scales and tensor.type in ("INT32", "INT64", "BOOL")


def _zeros(tensor: TfliteTensor) -> TfliteTensor:
    """Return a constant of scale 0, whose real values are all 0, as zeros of a small scale."""
    if tensor.data is None or tensor.scales != (0.0,) or tensor.type not in _INTEGERS:
        return tensor
    data = np.full_like(tensor.data, tensor.zero_points[0])
    return replace(tensor, scales=(_SMALL_SCALE,), data=data)


def _signed(tensor: TfliteTensor) -> TfliteTensor:
    if tensor.type != "UINT8":
        return tensor
    data = tensor.data
    return replace(
        tensor,
        type="INT8",
        zero_points=tuple(z - _OFFSET for z in tensor.zero_points),
        data=None if data is None else (data ^ np.uint8(_OFFSET)).view(np.int8),
        was_unsigned=True,
    )


def _scaled(graph: TfliteGraph) -> list[TfliteTensor]:
    """Return the tensors, each group of moved integers with one quantization."""
    tensors = list(graph.tensors)
    if all(tensor.scales or tensor.type not in _INTEGERS for tensor in tensors):
        return tensors
    groups = _groups(graph)
    calculated = {index for operator in graph.operators for index in _calculated(operator)}
    for group in groups:
        known = [t for t in (tensors[i] for i in group) if len(t.scales) == 1]
        if not known and calculated & set(group):
            continue  # a scale is needed, and missing
        scales, zero_points = (known[0].scales, known[0].zero_points) if known else _PLAIN
        for index in group:
            tensor = tensors[index]
            if not tensor.scales and tensor.type in _INTEGERS:
                tensors[index] = replace(
                    tensor, scales=scales, zero_points=zero_points, was_unscaled=True
                )
    return tensors


def _calculated(operator: TfliteOperator) -> Sequence[int]:
    """Return the tensors of an op with scales that matter to it."""
    if operator.name in {*MOVED, *_READING, READ, ASSIGN}:
        return ()
    # Without a scale at its input, a QUANTIZE has no result but zeros: folding.py.
    return operator.outputs if operator.name == "QUANTIZE" else operator.inputs + operator.outputs


def _groups(graph: TfliteGraph) -> list[list[int]]:
    """Return groups of tensors with each other's integers, in order."""
    first = list(range(len(graph.tensors)))

    def root(index: int) -> int:
        while first[index] != index:
            first[index] = first[first[index]]
            index = first[index]
        return index

    for group in _same(graph):
        roots = sorted(root(index) for index in group)
        for index in roots:
            first[index] = roots[0]
    groups: dict[int, list[int]] = {}
    for index in first:
        groups.setdefault(root(index), [])
    for index in range(len(first)):
        groups[root(index)].append(index)
    return list(groups.values())


def _same(graph: TfliteGraph) -> Iterator[list[int]]:
    """Yield the tensors at both ends of each move, and those of each variable."""
    variables: dict[str, list[int]] = {}
    handles: dict[int, str] = {}
    for operator in graph.operators:
        if operator.name in MOVED:
            yield _integers(graph, [*_moved(operator), *operator.outputs])
        elif operator.name == HANDLE and operator.outputs and operator.options(VarHandleOptions):
            handles[operator.outputs[0]] = key_of(operator)
        elif operator.name in (READ, ASSIGN) and operator.inputs and operator.inputs[0] in handles:
            ends = operator.outputs if operator.name == READ else operator.inputs[1:]
            variables.setdefault(handles[operator.inputs[0]], []).extend(ends)
    for values in variables.values():
        yield _integers(graph, values)


def _moved(operator: TfliteOperator) -> Sequence[int]:
    places = MOVED[operator.name]
    if places is None:
        return operator.inputs
    return [operator.inputs[place] for place in places if place < len(operator.inputs)]


def _integers(graph: TfliteGraph, indices: Sequence[int]) -> list[int]:
    """Return those tensors of the first one's type with at most one scale."""
    given = [i for i in indices if i >= 0 and graph.tensors[i].type in _INTEGERS]
    kept = [i for i in given if len(graph.tensors[i].scales) <= 1]
    return [i for i in kept if graph.tensors[i].type == graph.tensors[kept[0]].type]
