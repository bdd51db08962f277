# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from aot.lower import lower
from aot.passes.aten.movement.crops_to_padding import crops_to_padding
from aot.testing.fixtures import check_aten_pass, model, op_counts, samples

LINE = torch.linspace(-2.0, 3.0, 60).reshape(2, 3, 10)
IMAGE = torch.linspace(-2.0, 3.0, 126).reshape(1, 3, 6, 7)

# name: function, convolution, input, slices turned into padding
CROPS: dict[str, tuple[Callable[..., object], nn.Module, torch.Tensor, int]] = {
    "causal": (lambda a, x: a(x)[..., :-2], nn.Conv1d(3, 4, 3, padding=2), LINE, 1),
    "wide": (
        lambda a, x: a(x)[..., :-8],
        nn.Conv1d(3, 4, 3, padding=8, dilation=4),
        LINE,
        1,
    ),
    "one of an even window": (
        lambda a, x: a(x)[:, :, :-1],
        nn.Conv1d(3, 6, 4, padding=2, groups=3),
        LINE,
        1,
    ),
    "the first": (lambda a, x: a(x)[..., 1:], nn.Conv1d(3, 4, 3, padding=1), LINE, 1),
    "both ends": (lambda a, x: a(x)[..., 2:8], nn.Conv1d(3, 4, 3, padding=1), LINE, 0),
    "both ends of more": (lambda a, x: a(x)[..., 1:12], nn.Conv1d(3, 4, 3, padding=2), LINE, 1),
    "an image": (
        lambda a, x: a(x)[:, :, :-1, 1:],
        nn.Conv2d(3, 4, 3, padding=1, padding_mode="zeros"),
        IMAGE,
        2,
    ),
    "one end of an image": (
        lambda a, x: a(x)[:, :, :, :-1],
        nn.Conv2d(3, 4, (1, 4), stride=(2, 1), padding=(0, 2)),
        IMAGE,
        1,
    ),
    "channels behind it": (
        lambda a, x: a(x)[:, :2, :-1, 1:],
        nn.Conv2d(3, 4, 3, padding=1),
        IMAGE,
        0,
    ),
    "channels": (lambda a, x: a(x)[:, 1:], nn.Conv1d(3, 4, 3, padding=2), LINE, 0),
    "more than the padding": (
        lambda a, x: a(x)[..., :-3],
        nn.Conv1d(3, 4, 3, padding=2),
        LINE,
        0,
    ),
    "steps": (lambda a, x: a(x)[..., ::2], nn.Conv1d(3, 4, 3, padding=2), LINE, 0),
    "stride": (lambda a, x: a(x)[..., :-1], nn.Conv1d(3, 4, 3, 2, padding=2), LINE, 0),
    "read twice": (
        lambda a, x: (y := a(x))[..., :-2] + y[..., 2:],
        nn.Conv1d(3, 4, 3, padding=2),
        LINE,
        0,
    ),
    "transposed": (
        lambda a, x: a(x)[..., :-1],
        nn.ConvTranspose1d(3, 4, 3, padding=1),
        LINE,
        0,
    ),
    "a volume": (
        lambda a, x: a(x[None])[..., :-1],
        nn.Conv3d(1, 4, 3, padding=1),
        IMAGE,
        0,
    ),
    "behind a norm": (
        lambda a, x: a(x)[..., :-2],
        nn.Sequential(nn.Conv1d(3, 4, 3, padding=2), nn.BatchNorm1d(4)),
        LINE,
        1,
    ),
    "behind a norm and functions": (
        lambda a, x: torch.tanh(a(x) * 0.5).clamp(-0.5, 0.5)[:, :, 1:],
        nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU()),
        IMAGE,
        1,
    ),
    "channels behind a norm": (
        lambda a, x: a(x)[:, 1:],
        nn.Sequential(nn.Conv1d(3, 4, 3, padding=2), nn.BatchNorm1d(4)),
        LINE,
        0,
    ),
    "behind a sum": (
        lambda a, x: (a(x) + x)[..., 1:],
        nn.Conv1d(3, 3, 3, padding=1),
        LINE,
        0,
    ),
    "behind what is read twice": (
        lambda a, x: (y := torch.relu(a(x)))[..., 1:] + y[..., :-1],
        nn.Conv1d(3, 3, 3, padding=1),
        LINE,
        0,
    ),
    "without a batch": (lambda a, x: a(x[0])[:, :-1], nn.Conv1d(3, 4, 3, padding=1), LINE, 0),
}


@pytest.mark.parametrize("name", CROPS)
def test_crops_to_padding(name: str) -> None:
    function, layer, x, count = CROPS[name]
    # The two convolutions may add in another order.
    changes, graph = check_aten_pass(crops_to_padding, function, layer, inputs=[x], atol=1e-5)
    assert changes == count
    graph.graph.eliminate_dead_code()
    assert (op_counts(graph).get("aten.constant_pad_nd", 0) == 1) == (count > 0)
    assert op_counts(graph)["aten.convolution"] == 1


CAUSAL: dict[str, Callable[..., object]] = {
    "behind it": lambda a, b, c, x: c(torch.relu(b(a(x)[..., :-4]))),
    "behind its norm": lambda a, b, c, x: c(torch.relu(b(a(x))[..., :-4])),
    "behind its activation": lambda a, b, c, x: c(torch.relu(b(a(x)))[..., :-4]),
}


@pytest.mark.parametrize("where", CAUSAL)
def test_a_causal_convolution_copies_nothing(where: str) -> None:
    net = model(
        CAUSAL[where],
        nn.Conv1d(3, 8, 3, padding=4, dilation=2),
        nn.BatchNorm1d(8),
        nn.Conv1d(8, 2, 1),
    )
    data = samples((1, 3, 12), count=16)
    ops = [op["op"] for op in lower(net, data[0], calibration=data).report["ops"]]
    assert ops.count("pl.conv2d") == 2
    assert not {"pl.slice", "pl.pad", "pl.lut"} & set(ops)
