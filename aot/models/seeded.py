# SPDX-License-Identifier: Apache-2.0
"""Seeded weights and inputs for networks whose trained weights or data sets cannot be shipped.

All values are drawn with numpy's PCG64, computed in double precision and rounded. The last bits
differ between BLAS libraries and cores; the rounding removes them.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

GRID = 2.0**-12
_INSTANCE_NORMS = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)
_NORMS = (nn.LayerNorm, nn.GroupNorm, nn.RMSNorm, *_INSTANCE_NORMS)


def to_grid(module: nn.Module) -> nn.Module:
    """Round the parameters and buffers of a float64 `module`, in place, to multiples of GRID.

    Results of two machines differing by 1e-10 become the same float32 bits. Return it in float32
    and eval mode.
    """
    for tensor in module.state_dict().values():
        if tensor.is_floating_point():
            tensor.copy_(torch.round(tensor / GRID) * GRID)
    return module.float().eval()


def seed_weights(module: nn.Module, *inputs: torch.Tensor, seed: int) -> nn.Module:
    """Give `module` weights similar to trained ones, in place; return it in eval mode.

    - Convolutions and linear layers: normal weights of He's variance, correlated within a
      filter's window, and small biases.
    - Recurrent layers: torch's own distribution. Embeddings and attention's own
      parameters: normal ones.
    - BatchNorm layers: a scale in [0.5, 1.5], a shift of 1.0 +- 0.5, and running
      statistics. These are measured while `inputs` (batches) run through the network.
      Networks without BatchNorm need no `inputs`.
    - Other norms: such a scale, and a shift of 0.0 +- 0.5.

    A deep random network with white filters and shifts around zero is chaotic. Its rounding errors
    grow from layer to layer, unlike those of a trained network.
    """
    rng = np.random.default_rng(seed)
    module = module.double().eval()
    for layer in module.modules():
        if isinstance(layer, nn.Conv1d | nn.Conv2d | nn.Linear):
            shape = layer.weight.shape
            values = rng.standard_normal(shape)
            if len(shape) > 2:
                common = rng.standard_normal(shape[:2]).reshape(*shape[:2], *[1] * (len(shape) - 2))
                values = (values + common) / np.sqrt(2.0)
            _fill(layer.weight, values * np.sqrt(2.0 / layer.weight[0].numel()))
            if layer.bias is not None:
                _fill(layer.bias, rng.standard_normal(layer.bias.shape) * 0.05)
        elif isinstance(layer, nn.ConvTranspose1d | nn.ConvTranspose2d):
            # [inputs, outputs / groups, ...]: each output has a window's share of every input.
            windows = layer.weight[0, 0].numel() / np.prod(layer.stride)
            fan_in = layer.weight.shape[0] / layer.groups * windows
            values = rng.standard_normal(layer.weight.shape)
            _fill(layer.weight, values * np.sqrt(2.0 / fan_in))
            if layer.bias is not None:
                _fill(layer.bias, rng.standard_normal(layer.bias.shape) * 0.05)
        elif isinstance(layer, nn.RNNBase | nn.RNNCellBase):
            for parameter in layer.parameters():
                _fill(parameter, rng.uniform(-1.0, 1.0, parameter.shape) / layer.hidden_size**0.5)
        elif isinstance(layer, nn.BatchNorm1d | nn.BatchNorm2d):
            if layer.affine:
                _fill(layer.weight, rng.uniform(0.5, 1.5, layer.weight.shape))
                _fill(layer.bias, 1.0 + rng.standard_normal(layer.bias.shape) * 0.5)
            layer.momentum = None  # A cumulative average: one pass leaves a batch's statistics.
            layer.train()
        elif isinstance(layer, _NORMS):
            for name, parameter in layer.named_parameters():
                shape = parameter.shape
                shift = rng.standard_normal(shape) * 0.5
                _fill(parameter, rng.uniform(0.5, 1.5, shape) if name == "weight" else shift)
        elif isinstance(layer, nn.Embedding | nn.MultiheadAttention):
            for own in layer.parameters(recurse=False):
                deviation = np.sqrt(1.0 / own.shape[1]) if own.dim() > 1 else 0.05
                _fill(own, rng.standard_normal(own.shape) * deviation)
    if inputs:
        with torch.no_grad():
            module(*(x.double() if x.is_floating_point() else x for x in inputs))
    return to_grid(module)


def images(count: int, size: int, seed: int) -> torch.Tensor:
    """Return RGB images, float32 [count, 3, size, size] in [0, 1]: smooth shapes, texture and
    noise.
    """
    rng = np.random.default_rng(seed)
    batch = torch.zeros(count, 3, size, size, dtype=torch.float64)
    for cells, amplitude in ((3, 0.2), (8, 0.1), (size, 0.03)):
        grid = torch.from_numpy(rng.standard_normal((count, 3, cells, cells)))
        batch += amplitude * functional.interpolate(
            grid, size=(size, size), mode="bilinear", align_corners=True
        )
    return (batch + 0.5).clamp(0.0, 1.0).float()


def spectrograms(
    count: int, frames: int, bins: int, mean: float, deviation: float, seed: int
) -> torch.Tensor:
    """Return sound features, float32 [count, frames, bins], correlated in time and frequency."""
    rng = np.random.default_rng(seed)
    noise = torch.from_numpy(rng.standard_normal((count, 1, frames + 2, bins + 2)))
    smooth = functional.avg_pool2d(noise, 3, stride=1).squeeze(1) * 3.0
    return (mean + deviation * smooth).float()


def one_by_one(*inputs: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield samples of batch size 1 from batches, one batch for each argument of the network."""
    return zip(*(torch.split(x, 1) for x in inputs), strict=True)


def _fill(parameter: torch.Tensor, values: npt.NDArray[np.float64]) -> None:
    parameter.data.copy_(torch.from_numpy(values))
