# SPDX-License-Identifier: Apache-2.0
"""Import of PAD, PADV2 and MIRROR_PAD."""

from __future__ import annotations

import torch
from ethosu.vela.tflite.MirrorPadMode import MirrorPadMode
from ethosu.vela.tflite.MirrorPadOptions import MirrorPadOptions
from torch.fx import Node

from aot.dialect.graph import shape_of
from aot.dialect.quantization import INT16
from aot.importers.tflite.call import OperatorCall, Unsupported
from aot.importers.tflite.quantizations import zero_point_in_file
from kernels.gather.op import gather
from kernels.pad.op import pad as pl_pad


def pad(call: OperatorCall) -> Node:
    """Pad with the file's zero point, 0 if there is none; PADV2 pads with the given value."""
    x = call.value(0)
    of, padding = call.of(x), _paddings(call, x)
    call.same_quantization(x)
    value = zero_point_in_file(call.output)
    if call.has(2):
        given = call.value(2)
        call.same_quantization(given)
        (value, *more) = call.integers(2)
        if more or (of.type is INT16 and value != 0):
            raise Unsupported(f"it pads with {[value, *more]}; one value is supported")
    return call.emit(pl_pad, x, padding, value, edge=call.edge)


def mirror_pad(call: OperatorCall) -> Node:
    """Import MIRROR_PAD as a gather of each dimension that grows."""
    x, padding = call.value(0), _paddings(call, call.value(0))
    mode = call.options(MirrorPadOptions).Mode()
    call.same_quantization(x)
    indices: list[Node] = []
    dims: list[int] = []
    for dim, extent in enumerate(shape_of(x)):
        before, after = padding[2 * dim : 2 * dim + 2]
        most = extent - 1 if mode == MirrorPadMode.REFLECT else extent
        if max(before, after) > most:
            raise Unsupported(f"it mirrors {max(before, after)} elements of {extent}")
        if before or after:
            places = torch.arange(-before, extent + after)
            # The part between the mirrors: edges count twice, or once.
            low, high = (
                (0, 2 * extent - 2) if mode == MirrorPadMode.REFLECT else (-1, 2 * extent - 1)
            )
            places = torch.where(places < 0, low - places, places)
            places = torch.where(places >= extent, high - places, places)
            indices.append(call.constant("places", places.to(torch.int32)))
            dims.append(dim)
    return call.emit(gather, x, indices, dims, edge=call.edge) if dims else x


def _paddings(call: OperatorCall, x: Node) -> list[int]:
    """Return (before, after) for each dimension in order."""
    padding = call.integers(1)
    if len(padding) != 2 * len(shape_of(x)) or min((*padding, 0)) < 0:
        raise Unsupported(f"paddings {padding} do not fit {len(shape_of(x))} dimensions")
    sizes = [s + padding[2 * d] + padding[2 * d + 1] for d, s in enumerate(shape_of(x))]
    if sizes != list(call.output.shape):
        raise Unsupported(
            f"paddings {padding} give the shape {sizes}; the file states {list(call.output.shape)}"
        )
    return padding
