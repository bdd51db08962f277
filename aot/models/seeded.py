# SPDX-License-Identifier: Apache-2.0
"""Seeded weights and inputs for networks whose trained weights or data sets cannot be shipped.

Everything is drawn with numpy's PCG64 and computed in double precision before it is rounded to float32, so that
every machine gets the same bits.
"""

import copy
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional


def seed_weights(module: nn.Module, inputs: torch.Tensor, seed: int) -> nn.Module:
    """Gives `module` weights as training would leave them, in place, and returns it in eval mode.

    Convolutions and linear layers get He-normal weights and small biases; BatchNorm layers a scale in [0.5, 1.5], a shift
    of deviation 0.25, and as running statistics those of what reaches them when `inputs`
    (float32, the first dimension is the batch) run through the network.
    """
    rng = np.random.default_rng(seed)
    module = module.double().train()
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            fan_in = layer.weight[0].numel()
            _fill(layer.weight, rng.standard_normal(layer.weight.shape) * np.sqrt(2.0 / fan_in))
            if layer.bias is not None:
                _fill(layer.bias, rng.standard_normal(layer.bias.shape) * 0.05)
        elif isinstance(layer, nn.BatchNorm1d | nn.BatchNorm2d):
            _fill(layer.weight, rng.uniform(0.5, 1.5, layer.weight.shape))
            _fill(layer.bias, rng.standard_normal(layer.bias.shape) * 0.25)
            layer.momentum = None  # A cumulative average: one pass leaves the batch's statistics.
    with torch.no_grad():
        module(inputs.double())
    return module.float().eval()


def images(count: int, size: int, seed: int) -> Iterator[torch.Tensor]:
    """RGB images, float32 [1, 3, size, size] in [0, 1]: smooth shapes, fine texture, and noise."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        image = torch.zeros(1, 3, size, size, dtype=torch.float64)
        for cells, amplitude in ((3, 1.0), (8, 0.5), (size, 0.15)):
            grid = torch.from_numpy(rng.standard_normal((1, 3, cells, cells)))
            image += amplitude * functional.interpolate(
                grid, size=(size, size), mode="bilinear", align_corners=True
            )
        contrast, brightness = rng.uniform(0.1, 0.3), rng.uniform(0.3, 0.7)
        yield (image * contrast + brightness).clamp(0.0, 1.0).float()


def spectra(count: int, shape: Sequence[int], seed: int, mean: float, std: float) -> torch.Tensor:
    """Sound features, float32 [count, *shape], correlated along the last two dimensions."""
    rng = np.random.default_rng(seed)
    noise = torch.from_numpy(rng.standard_normal((count, 1, *shape)))
    kernel = torch.outer(*(torch.hann_window(5, periodic=False, dtype=torch.float64),) * 2)
    smooth = functional.conv2d(noise, (kernel / kernel.norm())[None, None], padding=2)
    return (mean + std * smooth.squeeze(1)).float()
