# SPDX-License-Identifier: Apache-2.0
"""Modules as people write them. Each becomes a file with TFLite Micro's bits, or is refused with
the op, its place and a replacement.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.errors import LoweringError
from aot.importers.tflite.testing.oracle import tflm
from aot.lower import lower
from aot.options import Io, Measure
from aot.testing.fixtures import model, samples

Shape = tuple[int, ...]
IMAGE, ROWS = (1, 3, 12, 12), (1, 8, 16)
Forward = Callable[..., object]


def _unet(up: str) -> Forward:
    def forward(a: Any, b: Any, c: Any, x: torch.Tensor) -> object:
        y = F.relu(a(x))
        z = F.interpolate(F.relu(b(F.max_pool2d(y, 2))), scale_factor=2, mode=up)
        return c(torch.cat([z, y], 1))

    return forward


def _gated(gate: Forward) -> Forward:
    def forward(conv: Any, a: Any, b: Any, x: torch.Tensor) -> object:
        y = conv(x)
        return y * gate(b(F.relu(a(y.mean((2, 3), keepdim=True)))))

    return forward


def _shuffled(a: Any, b: Any, x: torch.Tensor) -> object:
    left, right = a(x).chunk(2, 1)
    y = torch.cat([left, b(right)], 1)
    n, c, h, w = y.shape
    return y.view(n, 2, c // 2, h, w).transpose(1, 2).flatten(1, 2)


def _attention(layer: Any, head: Any, x: torch.Tensor) -> object:
    y, _ = layer(x, x, x)
    return head(y.mean(1))


def _siamese(conv: Any, head: Any, a: torch.Tensor, b: torch.Tensor) -> object:
    one, two = (head(F.relu(conv(x)).mean((2, 3))) for x in (a, b))
    return (one - two).abs()


def _heads(conv: Any, box: Any, kind: Any, x: torch.Tensor) -> object:
    y = F.relu6(conv(x))
    boxes, kinds = (one(y).permute(0, 2, 3, 1).flatten(1, 2) for one in (box, kind))
    return boxes, torch.softmax(kinds, -1)


def _block(expand: Any, norm: Any, depthwise: Any, project: Any, x: torch.Tensor) -> object:
    return x + project(F.relu6(depthwise(F.relu6(norm(expand(x))))))


def _causal(a: Any, b: Any, x: torch.Tensor) -> object:
    y = F.leaky_relu(a(F.pad(x, (4, 0))))
    return F.leaky_relu(b(F.pad(y, (8, 0)))).mean(-1)


def conv(before: int, after: int, taps: int = 3, **more: Any) -> nn.Module:
    return nn.Conv2d(before, after, taps, **more)


def after(function: Callable[[torch.Tensor], object]) -> Forward:
    return lambda layer, x: function(layer(x))


GATES = lambda: (conv(3, 8), conv(8, 2, 1), conv(2, 8, 1))  # noqa: E731

# name: forward, its parts, shapes of its inputs
WRITTEN: dict[str, tuple[Forward, Callable[[], tuple[nn.Module, ...]], list[Shape]]] = {
    "U-Net of nearest pixels": (
        _unet("nearest"),
        lambda: (conv(3, 8, padding=1), conv(8, 8, padding=1), conv(16, 2, 1)),
        [IMAGE],
    ),
    "U-Net of bilinear pixels": (
        _unet("bilinear"),
        lambda: (conv(3, 8, padding=1), conv(8, 8, padding=1), conv(16, 2, 1)),
        [IMAGE],
    ),
    "squeeze and excite": (_gated(torch.sigmoid), GATES, [IMAGE]),
    "a shuffle of channels": (
        _shuffled,
        lambda: (conv(3, 8, 1), conv(4, 4, padding=1, groups=4)),
        [IMAGE],
    ),
    "a shuffle of pixels": (
        after(lambda x: F.pixel_shuffle(x, 2)),
        lambda: (conv(3, 12),),
        [IMAGE],
    ),
    "attention": (
        _attention,
        lambda: (nn.MultiheadAttention(16, 4, batch_first=True), nn.Linear(16, 3)),
        [ROWS],
    ),
    "siamese": (_siamese, lambda: (conv(3, 8), nn.Linear(8, 4)), [IMAGE, IMAGE]),
    "one output": (
        lambda a, b, x: b(F.relu(a(x))),
        lambda: (nn.Linear(16, 8), nn.Linear(8, 1)),
        [(8, 16)],
    ),
    "siamese of one output": (
        _siamese,
        lambda: (conv(3, 8), nn.Linear(8, 1)),
        [IMAGE, IMAGE],
    ),
    "two heads": (_heads, lambda: (conv(3, 8), conv(8, 4, 1), conv(8, 2, 1)), [IMAGE]),
    "MobileNetV2's block": (
        _block,
        lambda: (
            conv(3, 18, 1, bias=False),
            nn.BatchNorm2d(18),
            conv(18, 18, padding=1, groups=18),
            conv(18, 3, 1),
        ),
        [IMAGE],
    ),
    "a causal network of sequences": (
        _causal,
        lambda: (nn.Conv1d(12, 8, 3, dilation=2), nn.Conv1d(8, 8, 3, dilation=4)),
        [(1, 12, 20)],
    ),
    "a transposed convolution": (
        after(F.relu),
        lambda: (nn.ConvTranspose2d(3, 4, 2, 2),),
        [IMAGE],
    ),
    "transposed convolutions with padding": (
        lambda a, b, c, x: c(b(a(x))),
        lambda: (
            nn.ConvTranspose2d(3, 4, 3, 2, padding=1, output_padding=1),
            nn.ConvTranspose2d(4, 4, 5, (2, 1), padding=(1, 3)),
            nn.ConvTranspose2d(4, 1, 3, padding=1),
        ),
        [IMAGE],
    ),
    "an average with padding": (
        after(lambda x: F.avg_pool2d(x, 3, 2, padding=1)),
        lambda: (conv(3, 8, 1),),
        [IMAGE],
    ),
    # The replacements for the refused models below.
    "hardswish": (after(F.hardswish), lambda: (conv(3, 8),), [IMAGE]),
    "PReLU by its parts": (
        after(lambda x: F.relu(x) - 0.2 * F.relu(-x)),
        lambda: (conv(3, 8),),
        [IMAGE],
    ),
    "BatchNorm": (lambda a, n, x: n(a(x)), lambda: (conv(3, 8), nn.BatchNorm2d(8)), [IMAGE]),
}

# The op in the message, and its place.
REFUSED: dict[str, tuple[Forward, Callable[[], nn.Module], Shape, str]] = {
    "GRU": (lambda g, x: g(x)[0], lambda: nn.GRU(16, 8, batch_first=True), ROWS, "(pl.gru)"),
    "LSTM": (lambda g, x: g(x)[0], lambda: nn.LSTM(16, 8, batch_first=True), ROWS, "(pl.lstm)"),
    "LayerNorm": (lambda n, x: n(x), lambda: nn.LayerNorm(16), ROWS, "aten.layer_norm (pl.norm"),
    "GroupNorm": (after(F.relu), lambda: nn.GroupNorm(3, 3), IMAGE, "aten.group_norm"),
    "GELU": (after(F.gelu), lambda: conv(3, 8), IMAGE, "aten.gelu (pl.lut)"),
    "SiLU": (after(F.silu), lambda: conv(3, 8), IMAGE, "aten.silu (pl.lut)"),
    "PReLU": (lambda p, x: p(x), lambda: nn.PReLU(3), IMAGE, "aten.prelu (pl.prelu)"),
    "log_softmax": (
        after(lambda x: F.log_softmax(x, -1)),
        lambda: nn.Linear(16, 4),
        ROWS,
        "(pl.log_softmax)",
    ),
}


def _lowered(forward: Forward, parts: tuple[nn.Module, ...], shapes: list[Shape]) -> Any:
    torch.manual_seed(0)
    each = [samples(shape) for shape in shapes]
    data = [tuple(x for (x,) in taken) for taken in zip(*each, strict=True)]
    lowered = lower(
        model(forward, *parts),
        data[0],
        target="tflite",
        calibration=data,
        io=Io(io_layout="nhwc"),
        measure=Measure(per_op=False, min_sqnr=-math.inf, min_agreement=0.0),
    )
    return lowered, data


@pytest.mark.parametrize("name", WRITTEN)
def test_is_written(name: str) -> None:
    forward, parts, shapes = WRITTEN[name]
    lowered, data = _lowered(forward, parts(), shapes)
    inputs = [lowered.quantize_inputs(lowered.moved.taken(sample)) for sample in data]
    expected = tflm(lowered.exported, [[x.numpy() for x in sample] for sample in inputs])
    for sample, theirs in zip(inputs, expected, strict=True):
        for own, other in zip(lowered.reference(sample), theirs, strict=True):
            np.testing.assert_array_equal(own.numpy(), other)


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name: str) -> None:
    forward, part, shape, op = REFUSED[name]
    with pytest.raises(LoweringError) as error:
        _lowered(forward, (part(),), [shape])
    text = str(error.value)
    assert text.startswith("1 op has no equivalent in a .tflite file with the same bits:")
    assert op in text and "\n    at " in text and "\n    instead: " in text
