# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import PCA

from aot.quality.noise import noise_maker

UNIFORM, EVEN, NORMAL = "torch.rand", "2 * torch.rand - 1", "torch.randn"


def _drawn(*shape: int, by: str = UNIFORM, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if by == NORMAL:
        return torch.randn((32, *shape), generator=generator)
    drawn = torch.rand((32, *shape), generator=generator)
    return 2 * drawn - 1 if by == EVEN else drawn


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("maker", "shape"),
    [
        (UNIFORM, (4,)),
        (UNIFORM, (13,)),
        (UNIFORM, (3, 24)),
        (EVEN, (4,)),
        (EVEN, (1, 16, 16)),
        (NORMAL, (32,)),
        (NORMAL, (3, 32, 32)),
    ],
)
def test_what_torch_draws_is_noise(maker: str, shape: tuple[int, ...], seed: int) -> None:
    assert noise_maker(_drawn(*shape, by=maker, seed=seed)) == maker


@pytest.mark.parametrize("features", [8, 30])
def test_what_numpy_draws_is_noise(features: int) -> None:
    drawn = np.random.default_rng(0).random((32, features))
    assert noise_maker(torch.from_numpy(drawn).float()) == UNIFORM


def _smooth() -> torch.Tensor:
    return torch.nn.functional.avg_pool2d(_drawn(1, 24, 24, by=NORMAL), 3, 1)


def _sine(samples: int, shape: tuple[int, ...], step: float) -> torch.Tensor:
    """Sines of one frequency along the last dimension, each with a phase by chance."""
    phases = _drawn(10, seed=1).flatten()[:samples].reshape(-1, *(1 for _ in shape)) * 2 * torch.pi
    return torch.sin(step * torch.arange(shape[-1]) + phases.expand(-1, *shape))


REAL: dict[str, Callable[[], torch.Tensor]] = {
    "a sine": lambda: _sine(8, (1, 64), 1.5),
    "a sine of a quarter of the rate": lambda: _sine(4, (1, 256), torch.pi / 2),
    "a sine's values": lambda: _sine(320, (1,), 1.0),
    "two tones": lambda: _sine(8, (1, 128), 2.0) + 0.7 * _sine(8, (1, 128), 0.9),
    "a saw": lambda: _sine(4, (3, 32), 1.5).asin() / 1.6,
    "wine": lambda: _standardised(load_wine().data),
    "wine, whitened": lambda: _whitened(_standardised(load_wine().data).numpy()),
    "digits": lambda: torch.tensor(load_digits().data / 16).float(),
    "digits, whitened": lambda: _whitened(load_digits().data),
    "converted to 16 bits": lambda: (_drawn(4) * 65536).floor() / 65536,
    "of a sensor": lambda: _drawn(4) * 0.7 + 0.1,
    "neighbours": _smooth,
    "features that go together": lambda: _drawn(1, by=NORMAL) + 0.5 * _drawn(40, by=NORMAL, seed=1),
}


def _standardised(data: np.ndarray[Any, Any]) -> torch.Tensor:
    values = torch.tensor(data).float()
    return (values - values.mean(0)) / values.std(0)


def _whitened(data: np.ndarray[Any, Any]) -> torch.Tensor:
    return torch.tensor(PCA(10, whiten=True).fit_transform(data)).float()


@pytest.mark.parametrize("name", REAL)
def test_what_is_measured_is_not(name: str) -> None:
    data = REAL[name]()
    for seed in range(10):
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
        assert noise_maker(data[order[:32]]) == ""
