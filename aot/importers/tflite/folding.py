# SPDX-License-Identifier: Apache-2.0
"""Results that depend on shapes and constants only: they are constants, too.

Converters compute the shapes of reshapes and resizes in the graph. All shapes are known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.fx import Graph, GraphModule, Node

from aot.dialect.graph import Builder, Origin
from aot.importers.tflite.call import OperatorCall, Unsupported, named
from aot.importers.tflite.file import TYPES, TfliteOperator, TfliteTensor
from aot.importers.tflite.ops import BUILTINS
from aot.importers.tflite.quantizations import MOVED, is_plain

Array = np.ndarray[Any, Any]


def _quotient(a: Array, b: Array) -> Array:
    """Return the quotient, rounded towards zero."""
    return np.asarray(np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b)))


OF_SHAPES: Mapping[str, Callable[[Sequence[int]], Any]] = {
    "RANK": len,
    "SHAPE": list,
    "ZEROS_LIKE": np.zeros,
}
"""Builtins whose result depends on their input's shape, as functions of it."""

_OF_INTEGERS: Mapping[str, Callable[..., Any]] = {
    "ADD": np.add,
    "BROADCAST_ARGS": lambda a, b: np.broadcast_shapes(tuple(a), tuple(b)),
    "CAST": np.asarray,
    "DIV": _quotient,
    "FLOOR_DIV": np.floor_divide,
    "FLOOR_MOD": np.mod,
    "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
    "MUL": np.multiply,
    "REDUCE_PROD": lambda a, axes: np.prod(a, tuple(np.atleast_1d(axes))),
    "SUB": np.subtract,
}
"""Builtins of constant integers, as functions of their inputs."""

FOLDED = {*OF_SHAPES, *_OF_INTEGERS, "FILL"}


def folded(operator: TfliteOperator, tensors: Sequence[TfliteTensor]) -> list[TfliteTensor]:
    """Return the results of an op as constants; none if they depend on more than constants.

    Raises:
      Unsupported: the results are not as the file says.
    """
    if not operator.inputs or min((*operator.inputs, *operator.outputs)) < 0:
        return []
    results = _results(operator, tensors)
    if not results:
        return []
    if len(results) != len(operator.outputs):
        raise Unsupported(f"{len(operator.outputs)} results, not {len(results)}")
    return [_constant(tensors[i], y) for i, y in zip(operator.outputs, results, strict=True)]


def _results(operator: TfliteOperator, tensors: Sequence[TfliteTensor]) -> list[Array]:
    name = operator.name
    inputs, outputs = ([tensors[i] for i in v] for v in (operator.inputs, operator.outputs))
    if name in OF_SHAPES:
        return [np.asarray(OF_SHAPES[name](inputs[0].shape))]
    if name == "QUANTIZE" and is_plain(inputs[0]) and outputs[0].zero_points:
        # TFLite takes the scale for 0, so every value is the zero point.
        return [np.full(inputs[0].shape, outputs[0].zero_points[0])]
    data = [tensor.data for tensor in inputs if tensor.data is not None]
    if not data or len(data) != len(inputs):
        return []
    if name == "FILL" and len(data) == 2:
        return [np.full(data[0], data[1])]
    if name in _OF_INTEGERS and all(tensor.type in ("INT32", "INT64") for tensor in inputs):
        with np.errstate(divide="raise"):
            return [np.asarray(_OF_INTEGERS[name](*data))]
    return _moved(operator, tensors) if name in MOVED else []


def _moved(operator: TfliteOperator, tensors: Sequence[TfliteTensor]) -> list[Array]:
    """Return the results of a move of constants, by the reference of its ops."""
    module = GraphModule(torch.nn.Module(), Graph())
    builder = Builder(module, module.graph)
    call = OperatorCall(operator, tensors, {}, builder, Origin(), {})
    given = BUILTINS[operator.name](call)
    module.graph.output((given,) if isinstance(given, Node) else tuple(given))
    module.recompile()
    return [y.numpy() for y in module()]


def _constant(tensor: TfliteTensor, data: Array) -> TfliteTensor:
    if tensor.type not in TYPES or data.size != int(np.prod(tensor.shape)):
        raise Unsupported(
            f"gives {list(data.shape)}, where {named(tensor)} is {tensor.type}{list(tensor.shape)}"
        )
    return replace(tensor, data=data.astype(TYPES[tensor.type]).reshape(tensor.shape))
