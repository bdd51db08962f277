# SPDX-License-Identifier: Apache-2.0
"""Norms lose no more than quantization of their input and output, on rows of very
different scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from aot.dialect.graph import border_nodes, edge_of
from aot.lower import Lowered
from aot.testing.fixtures import lower_with, model

_WORSE_DB = 1.0
"""Than only the input and the output quantized: the op itself rounds."""

_ROWS, _IMAGE = (1, 10, 24), (1, 6, 8, 8)


def rms_by_hand(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def layer_norm_by_hand(x: torch.Tensor) -> torch.Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-5)


def unit_by_hand(x: torch.Tensor) -> torch.Tensor:
    norm: torch.Tensor = x.norm(dim=-1, keepdim=True)
    return x / norm.clamp(min=1e-12)


def batch_norm() -> nn.Module:
    """Return a BatchNorm on values without a layer before it, so it folds into nothing."""
    norm = nn.BatchNorm2d(6)
    norm.running_var = torch.logspace(-4, 2, 6)
    return norm


NORMS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "LayerNorm": (lambda: nn.LayerNorm(24), _ROWS),
    "LayerNorm by hand": (lambda: model(layer_norm_by_hand), _ROWS),
    "RMSNorm": (lambda: nn.RMSNorm(24), _ROWS),
    "RMSNorm by hand": (lambda: model(rms_by_hand), _ROWS),
    "normalize": (lambda: model(lambda x: functional.normalize(x, dim=-1)), _ROWS),
    "normalize by hand": (lambda: model(unit_by_hand), _ROWS),
    "GroupNorm": (lambda: nn.GroupNorm(3, 6), _IMAGE),
    "InstanceNorm": (lambda: nn.InstanceNorm2d(6, affine=True), _IMAGE),
    "BatchNorm": (batch_norm, _IMAGE),
}


def data(shape: tuple[int, ...]) -> list[tuple[torch.Tensor, ...]]:
    """Rows, or channels, from 0.01 to 10."""
    generator = torch.Generator().manual_seed(1)
    scale = torch.logspace(-2, 1, shape[1]).reshape(-1, *[1] * (len(shape) - 2))
    return [(torch.randn(shape, generator=generator) * scale,) for _ in range(24)]


def decibels(expected: torch.Tensor, actual: torch.Tensor) -> float:
    noise = (actual.double() - expected.double()).square().sum()
    return 10.0 * math.log10(float(expected.double().square().sum() / noise))


def reached_and_ideal(network: nn.Module, result: Lowered, inputs: list[Any]) -> tuple[float, ...]:
    """SQNR of the lowered norm, and of the one in float with its input and output quantized."""
    (x,), (y,) = border_nodes(result.folded)
    before, behind = edge_of(x).quantization, edge_of(y).quantization
    assert before is not None and behind is not None
    found: list[tuple[torch.Tensor, ...]] = []
    for (value,) in inputs:
        with torch.no_grad():
            expected = network(value)
            rough = network(before.dequantize(before.quantize(value)))
        (actual,) = result.dequantize_outputs(result.reference((value,)))
        found.append((expected, actual, behind.dequantize(behind.quantize(rough))))
    expected, actual, ideal = (torch.cat(column) for column in zip(*found, strict=True))
    return decibels(expected, actual), decibels(expected, ideal)


@pytest.mark.parametrize("name", NORMS)
def test_rows_of_very_different_scale(name: str) -> None:
    make, shape = NORMS[name]
    network, samples = make().eval(), data(shape)
    options: dict[str, Any] = {"min_sqnr": -math.inf, "min_agreement": 0.0, "per_op": False}
    result = lower_with(network, samples[0], calibration=samples[:16], **options)
    reached, ideal = reached_and_ideal(network, result, samples[16:])
    assert reached > ideal - _WORSE_DB, (reached, ideal)
    # int16 holds the small rows as well as the large ones.
    options |= {"calibration": samples[:16], "quantization": "int16"}
    wide, _ = reached_and_ideal(network, lower_with(network, samples[0], **options), samples[16:])
    assert wide > reached + 15.0 and wide > 35.0, (reached, wide)
