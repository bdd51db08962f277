# SPDX-License-Identifier: Apache-2.0
"""Operators that change a shape, or move elements."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from aot.importers.onnx.call import NodeCall, UnsupportedNode
from aot.importers.onnx.registry import function

_INDEX = torch.int64
_PAD_MODES = {"reflect": "reflect", "edge": "replicate", "wrap": "circular"}


@function("Identity")
def identity(call: NodeCall, x: Tensor) -> Tensor:
    return x


@function("Reshape")
def reshape(call: NodeCall, x: Tensor, shape: Tensor) -> Tensor:
    """Constant shape."""
    sizes = call.ints(1)
    if not call.attribute("allowzero", 0):
        if any(size == 0 and axis >= x.dim() for axis, size in enumerate(sizes)):
            raise UnsupportedNode(f"shape {sizes} for an input of rank {x.dim()}")
        sizes = [x.shape[axis] if size == 0 else size for axis, size in enumerate(sizes)]
    return x.reshape(sizes)


@function("Flatten")
def flatten(call: NodeCall, x: Tensor) -> Tensor:
    axis = call.attribute("axis", 1)
    axis = axis + x.dim() if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), -1)


@function("Transpose")
def transpose(call: NodeCall, x: Tensor) -> Tensor:
    return x.permute(call.attribute("perm", [*reversed(range(x.dim()))]))


@function("Squeeze")
def squeeze(call: NodeCall, x: Tensor, axes: Tensor | None = None) -> Tensor:
    """Constant axes."""
    given = call.axes(1)
    dropped = (
        [a % x.dim() for a in given] if given else [i for i, n in enumerate(x.shape) if n == 1]
    )
    if any(x.shape[axis] != 1 for axis in dropped):
        raise UnsupportedNode(f"axes {given} of the shape {[*x.shape]}")
    return x.reshape([size for axis, size in enumerate(x.shape) if axis not in dropped])


@function("Unsqueeze")
def unsqueeze(call: NodeCall, x: Tensor, axes: Tensor | None = None) -> Tensor:
    """Constant axes."""
    given = call.axes(1) or []
    rank = x.dim() + len(given)
    for axis in sorted(axis % rank for axis in given):
        x = x.unsqueeze(axis)
    return x


@function("Concat")
def concat(call: NodeCall, *values: Tensor) -> Tensor:
    return torch.cat(values, call.attribute("axis", 0))


@function("Split")
def split(call: NodeCall, x: Tensor, sizes: Tensor | None = None) -> tuple[Tensor, ...]:
    """Constant sizes."""
    axis = call.attribute("axis", 0)
    given = call.ints(1) if call.has(1) else call.optional("split")
    if given is None:
        size = -(-x.shape[axis] // call.outputs)
        given = [size] * (call.outputs - 1)
        given.append(x.shape[axis] - sum(given))
    return torch.split(x, [*given], axis)


@function("Slice")
def slice_(call: NodeCall, x: Tensor, *unused: Tensor | None) -> Tensor:
    """Constant bounds; any step."""
    if call.opset < 10:
        starts, ends = call.attribute("starts", [0]), call.attribute("ends", [0])
        axes, steps = call.optional("axes"), None
    else:
        starts, ends = call.ints(1), call.ints(2)
        axes = call.ints(3) if call.has(3) else None
        steps = call.ints(4) if call.has(4) else None
    axes = [*range(len(starts))] if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    for start, end, given, step in zip(starts, ends, axes, steps, strict=True):
        axis = given % x.dim()
        size = x.shape[axis]
        if step > 0:
            first, last, _ = slice(start, end, step).indices(size)
            index = (slice(None),) * axis + (slice(first, max(first, last), step),)
            x = x[index]
            continue
        first = min(max(start + size if start < 0 else start, 0), size - 1)
        last = min(max(end + size if end < 0 else end, -1), size - 1)
        picked = range(first, last, step)
        whole = len(picked) == size
        x = x.flip(axis) if whole else x.index_select(axis, torch.tensor([*picked], dtype=_INDEX))
    return x


@function("Gather")
def gather(call: NodeCall, x: Tensor, indices: Tensor) -> Tensor:
    """Constant indices; or computed ones, not negative, of constant rows."""
    axis = call.attribute("axis", 0) % x.dim()
    if call.is_constant(1):
        size = x.shape[axis]
        picked = [i + size if i < 0 else i for i in call.ints(1)]
        if any(not 0 <= i < size for i in picked):
            raise UnsupportedNode(f"indices outside of [-{size}, {size})")
        if indices.dim() == 0:
            return x.select(axis, picked[0])
        steps = {b - a for a, b in zip(picked, picked[1:], strict=False)} or {1}
        if indices.dim() == 1 and len(steps) == 1 and (step := steps.pop()) > 0:
            return x[(slice(None),) * axis + (slice(picked[0], picked[-1] + 1, step),)]
        chosen = x.index_select(axis, torch.tensor(picked, dtype=_INDEX))
    elif axis == 0 and x.dim() == 2:
        return F.embedding(indices, x)
    else:
        chosen = x.index_select(axis, indices.reshape(-1))
    return chosen.reshape([*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]])


@function("GatherElements")
def gather_elements(call: NodeCall, x: Tensor, indices: Tensor) -> Tensor:
    axis = call.attribute("axis", 0)
    return torch.gather(x, axis, torch.where(indices < 0, indices + x.shape[axis], indices))


@function("ScatterND")
def scatter_nd(call: NodeCall, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Replaces values."""
    if call.attribute("reduction", "none") != "none":
        raise UnsupportedNode(f"reduction {call.attribute('reduction', '')}")
    return x.index_put([*indices.unbind(-1)], updates)


@function("Expand")
def expand(call: NodeCall, x: Tensor, shape: Tensor) -> Tensor:
    """Constant shape."""
    return x.expand(torch.broadcast_shapes(x.shape, call.ints(1)))


@function("Tile")
def tile(call: NodeCall, x: Tensor, repeats: Tensor) -> Tensor:
    """Constant repeats."""
    return x.repeat(call.ints(1))


@function("Pad")
def pad(call: NodeCall, x: Tensor, *unused: Tensor | None) -> Tensor:
    """Constant sizes."""
    value = call.attribute("value", 0.0)
    sizes = call.ints(1) if call.has(1) else call.attribute("pads", [0])
    if call.has(2):
        value = call.number(2)
    axes = call.ints(3) if call.has(3) else [*range(x.dim())]
    if len(sizes) != 2 * len(axes):
        raise UnsupportedNode(f"{len(sizes)} sizes for {len(axes)} axes")
    pairs = [(0, 0)] * x.dim()
    for place, axis in enumerate(axes):
        pairs[axis] = (sizes[place], sizes[len(axes) + place])
    while pairs and pairs[0] == (0, 0):
        pairs.pop(0)
    flat = [size for pair in reversed(pairs) for size in pair]
    mode = call.attribute("mode", "constant")
    if not flat:
        return x
    if mode == "constant":
        return F.pad(x, flat, value=value if x.is_floating_point() else int(value))
    if mode not in _PAD_MODES:
        raise UnsupportedNode(f"mode {mode}")
    return F.pad(x, flat, _PAD_MODES[mode])


@function("DepthToSpace")
def depth_to_space(call: NodeCall, x: Tensor) -> Tensor:
    block = call.attribute("blocksize", 1)
    if call.attribute("mode", "DCR") == "CRD":
        return F.pixel_shuffle(x, block)
    n, c, h, w = x.shape
    y = x.reshape(n, block, block, c // block**2, h, w).permute(0, 3, 4, 1, 5, 2)
    return y.reshape(n, c // block**2, h * block, w * block)


@function("SpaceToDepth")
def space_to_depth(call: NodeCall, x: Tensor) -> Tensor:
    block = call.attribute("blocksize", 1)
    n, c, h, w = x.shape
    y = x.reshape(n, c, h // block, block, w // block, block).permute(0, 3, 5, 1, 2, 4)
    return y.reshape(n, c * block**2, h // block, w // block)


@function("Trilu")
def trilu(call: NodeCall, x: Tensor, diagonal: Tensor | None = None) -> Tensor:
    """Constant diagonal."""
    k = int(call.number(1)) if call.has(1) else 0
    return torch.triu(x, k) if call.attribute("upper", 1) else torch.tril(x, k)
