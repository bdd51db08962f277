# SPDX-License-Identifier: Apache-2.0
"""GATHER by constant indices, or of a constant's rows; BROADCAST_TO, RESIZE_NEAREST_NEIGHBOR."""

from __future__ import annotations

import numpy as np
import torch
from ethosu.vela.tflite.GatherOptions import GatherOptions
from ethosu.vela.tflite.ResizeNearestNeighborOptions import ResizeNearestNeighborOptions
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.importers.tflite.call import OperatorCall, Unsupported
from aot.importers.tflite.ops.resizing import resized_size
from kernels.embedding.op import embedding
from kernels.gather.op import gather as pl_gather


def gather(call: OperatorCall) -> Node:
    options = call.options(GatherOptions)
    if options.BatchDims() != 0:
        raise Unsupported(f"batch_dims {options.BatchDims()} is not supported; it must be 0")
    x = call.value(0)
    call.same_quantization(x)
    dim = call.axis(options.Axis(), len(shape_of(x)))
    if not call.is_constant(1):
        if dim != 0 or not call.is_constant(0) or len(shape_of(x)) != 2:
            raise Unsupported("computed indices are supported for rows of a constant only")
        return call.emit(embedding, x, call.value(1), edge=call.edge)
    indices = call.integers(1)
    if not indices or min(indices) < 0 or max(indices) >= shape_of(x)[dim]:
        raise Unsupported(f"it has indices outside of 0 … {shape_of(x)[dim] - 1}")
    places = call.constant("indices", torch.tensor(indices, dtype=torch.int32))
    taken = call.emit(pl_gather, x, [places], [dim], edge=x.meta["edge"])
    shape = [*shape_of(x)[:dim], *call.tensor(1).shape, *shape_of(x)[dim + 1 :]]
    return call.reshaped(taken, shape)


def resize_nearest_neighbor(call: OperatorCall) -> Node:
    """Return a gather of rows and columns."""
    options = call.options(ResizeNearestNeighborOptions)
    x = call.image(0)
    call.same_quantization(x)
    corners, centres = options.AlignCorners(), options.HalfPixelCenters()
    indices, dims = [], []
    sizes = zip(shape_of(x)[1:3], resized_size(call), strict=True)
    for dim, (before, after) in enumerate(sizes, 1):
        places = nearest_places(before, after, corners, centres)
        if not torch.equal(places, torch.arange(before, dtype=torch.int32)):
            indices.append(call.constant("places", places))
            dims.append(dim)
    return call.emit(pl_gather, x, indices, dims, edge=call.edge) if dims else x


def broadcast_to(call: OperatorCall) -> Node:
    """Return a gather of the only row of each dimension that grows. The result has the shape."""
    x, shape = call.value(0), call.output.shape
    call.same_quantization(x)
    before = (*[1] * (len(shape) - len(shape_of(x))), *shape_of(x))
    grown = [dim for dim, (a, b) in enumerate(zip(before, shape, strict=True)) if a != b]
    if any(before[dim] != 1 for dim in grown):
        raise Unsupported(f"{list(shape_of(x))} under the shape {list(shape)}")
    x = call.reshaped(x, before)
    places = [call.constant("places", torch.zeros(shape[d], dtype=torch.int32)) for d in grown]
    return call.emit(pl_gather, x, places, grown, edge=call.edge) if grown else x


def nearest_places(before: int, after: int, corners: bool, centres: bool) -> torch.Tensor:
    """Return int32 [after]: the source pixel of each pixel, in float32, like TFLite's result."""
    between = corners and after > 1
    scale = np.float32(before - between) / np.float32(after - between)
    offset = np.float32(0.5 if centres else 0.0)
    places = (np.arange(after, dtype=np.float32) + offset) * scale
    nearest = np.floor(places.astype(np.float64) + (0.5 if corners else 0.0))
    return torch.from_numpy(np.clip(nearest, 0, before - 1).astype(np.int32))
