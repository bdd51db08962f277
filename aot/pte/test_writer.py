# SPDX-License-Identifier: Apache-2.0
"""The writer produces the same bytes as the path through torch.export."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.backends.cortex_m import FLOAT_OPS
from aot.pte.testing import export_graph
from aot.testing.fixtures import forget_rules, lower_with, model, samples

IMAGE = (1, 3, 8, 6)
# MobileNetV1 has the ops of DS-CNN.
MODELS = ("deep_autoencoder", "digits", "ds_cnn", "resnet8")


def network() -> nn.Module:
    return model(
        lambda a, b, c, x: c(F.relu(b(F.relu6(a(x)))).mean((2, 3))),
        nn.Conv2d(3, 8, 3, padding=1),
        nn.Conv2d(8, 6, 3, stride=2),
        nn.Linear(6, 4),
    )


def linear() -> nn.Module:
    return model(lambda a, x: a(x.flatten(2)), nn.Linear(48, 4))


def floats() -> nn.Module:
    """Every op of the float fallback."""

    def function(layer: nn.Module, group: nn.Module, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        a = torch.relu(x)
        b = layer(a) / (a.sum(-1, keepdim=True) + 1.0)
        c = torch.maximum(torch.minimum(group(a), b), a) ** 2
        return c.sum(1), a.amax((2, 3)), a.amin(-1), torch.bmm(a[0], a[0].transpose(1, 2)), b

    return model(function, nn.LayerNorm(6), nn.GroupNorm(3, 3, affine=False))


# Modules with an input of the shape IMAGE, and options of lowering.
CASES: dict[str, tuple[Callable[[], nn.Module], dict[str, Any]]] = {
    "row-major": (network, {}),
    "image to image": (lambda: model(lambda a, x: a(x), nn.Conv2d(3, 4, 3)), {}),
    "nhwc": (lambda: model(lambda a, x: a(x), nn.Conv2d(3, 4, 3)), {"io_layout": "nhwc"}),
    "float I/O": (network, {"float_io": True}),
    "float fallback": (floats, {"allow_float_fallback": True}),
    "int16": (network, {"quantization": "int16"}),
    "weights of four bits": (linear, {"quantization": "int8w4"}),
    "four bits in groups": (linear, {"quantization": "int8w4g32"}),
    "int8 and int16": (network, {"quantization": {"default": "int16", "parts.1": "int8"}}),
    "a product": (lambda: model(lambda x: x @ x.transpose(2, 3)), {"quantization": "int16"}),
    "no constants": (lambda: model(lambda x: x.permute(0, 2, 1, 3)), {}),
    "lists": (lambda: model(lambda x: torch.cat([x[..., :4], F.pad(x, (1, 1))], -1)), {}),
    "several results": (lambda: model(lambda x: torch.max(x, 2, keepdim=True)), {}),
    "several results, float I/O": (lambda: model(lambda x: torch.max(x, 1)), {"float_io": True}),
    "one result of several": (lambda: model(lambda x: (x.argmax(), x.max(3).values.tanh())), {}),
    "an output twice": (lambda: model(lambda x: [y := x + x, y, y * x]), {}),
    "outputs by name": (lambda: model(lambda x: {"sum": x + x, "more": (x * x,)}), {}),
    "one constant twice": (
        lambda: model(lambda a, x: a(a(x)), nn.Conv2d(3, 3, 1, bias=False)),
        {},
    ),
}


def check(module: nn.Module, data: list[tuple[torch.Tensor, ...]], **options: Any) -> None:
    lowered = lower_with(module, data[0], calibration=data, **options)
    assert lowered.pte == export_graph(lowered.module, lowered.moved)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("channels_last", [False, True])
def test_gives_the_bytes_of_the_export(
    name: str, channels_last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, options = CASES[name]
    if options.get("allow_float_fallback"):
        forget_rules(monkeypatch, *FLOAT_OPS)
    data = samples(IMAGE, count=2)
    if channels_last:
        data = [(x.contiguous(memory_format=torch.channels_last),) for (x,) in data]
    check(module(), data, **options)


@pytest.mark.parametrize("name", MODELS)
def test_models_have_the_bytes_of_the_export(name: str) -> None:
    definition = importlib.import_module(f"aot.models.{name}.model")
    data = list(itertools.islice(definition.calibration(), 2))
    check(definition.factory(), data)
