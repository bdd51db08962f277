# SPDX-License-Identifier: Apache-2.0
"""Unusable training is an error with its reason. Training without changes changes nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Quantize
from aot.testing.fixtures import model, samples

IMAGE = (1, 1, 8, 8)


def learn(module: nn.Module) -> None:
    """A step on random images."""
    generator = torch.Generator().manual_seed(5)
    images = torch.randn((4, *IMAGE[1:]), generator=generator)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
    module(images).square().mean().backward()
    optimizer.step()


def in_bfloat16(module: nn.Module) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        learn(module)


def of_one(module: nn.Module) -> None:
    module(torch.ones(1, 4))


def in_half(module: nn.Module) -> None:
    module.half()


def explode(module: nn.Module) -> None:
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(3e38)
    module(torch.ones(4, *IMAGE[1:]))


def norms() -> nn.Module:
    return model(lambda part, x: part(x), nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3)))


def diverge(module: nn.Module) -> None:
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(torch.nan)


def smaller_images(module: nn.Module) -> None:
    module(torch.zeros(2, 1, 6, 6))


class Sum(nn.Module):
    total: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(IMAGE))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x
        return self.total * 0.5


def to_nan(module: nn.Module) -> None:
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.neg_().sub_(100.0)
    module(torch.ones(4, *IMAGE[1:]))


REFUSED: dict[str, tuple[Callable[[], nn.Module], Callable[[nn.Module], None]]] = {
    "in training, .* is NaN\n    at .*fixtures.py": (
        lambda: model(lambda a, x: (a(x) + 50.0).log(), nn.Conv2d(1, 2, 3)),
        to_nan,
    ),
    "training left NaN": (lambda: model(lambda a, x: a(x), nn.Conv2d(1, 2, 3)), diverge),
    "in the batch's size only": (
        lambda: model(lambda x: F.pad(x, (0, 8 - x.shape[-1])).relu() + 1.0),
        smaller_images,
    ),
    "a model with state": (lambda: Sum().eval(), learn),
    "training changed values.* float16.*; weights must stay float32": (
        lambda: model(lambda a, x: a(x), nn.Conv2d(1, 2, 3)),
        in_half,
    ),
    "infinite values in norms.convolution": (norms, explode),
}


def test_what_is_no_function_does_not_train() -> None:
    data = samples(IMAGE, count=2)
    with pytest.raises(LoweringError, match="train must be a function"):
        lower(norms(), data[0], calibration=data, quantize=Quantize(train=3))  # type: ignore[arg-type]


@pytest.mark.parametrize("message", REFUSED)
def test_training_that_cannot_be_used(message: str) -> None:
    make, train = REFUSED[message]
    data = samples(IMAGE, count=2)
    with pytest.raises(LoweringError, match=message):
        lower(make(), data[0], calibration=data, quantize=Quantize(train=train))


def test_a_batch_of_one_row_is_no_batch_for_a_norm() -> None:
    net = model(lambda part, x: part(x), nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)))
    data = samples((1, 4), count=2)
    message = r"one value of each channel\n    instead: larger batches, and drop_last=True"
    with pytest.raises(LoweringError, match=message):
        lower(net, data[0], calibration=data, quantize=Quantize(train=of_one))


def test_training_under_autocast_is_of_float32() -> None:
    net, data = norms(), samples(IMAGE, count=4)
    loops = (None, learn, in_bfloat16)
    untrained, first, second = (
        lower(net, data[0], calibration=data, quantize=Quantize(train=loop)).pte for loop in loops
    )
    assert untrained != first == second


def test_observers_have_no_say_in_training() -> None:
    data = samples(IMAGE, count=4)
    with pytest.raises(LoweringError, match="observer is mse, but training uses moving averages"):
        lower(norms(), data[0], calibration=data, quantize=Quantize(train=learn, observer="mse"))
