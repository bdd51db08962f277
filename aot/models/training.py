# SPDX-License-Identifier: Apache-2.0
"""Training of networks in a build: the same weights on every run.

One thread sees the training set in a seeded order and computes in double precision. The result is
rounded. The last bits differ between BLAS libraries and cores; the rounding keeps them out of the
file.
"""

import io
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from absl import logging
from torch import nn

from aot.models.seeded import to_grid
from tools.text.progress import counted

BATCH_SIZE = 64

Loss = Callable[[nn.Module, torch.Tensor, torch.Tensor], torch.Tensor]
Augment = Callable[[torch.Tensor, np.random.Generator], torch.Tensor]


def cross_entropy(module: nn.Module, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(module(inputs), labels)


def trained(
    network: Callable[[], nn.Module],
    inputs: torch.Tensor,
    labels: torch.Tensor,
    *,
    epochs: int = 30,
    rate: float = 1e-2,
    loss: Loss = cross_entropy,
    augment: Augment | None = None,
) -> nn.Module:
    """Return a trained network, float32 and in eval mode.

    Args:
      network: makes it.
      inputs: float32 [N, ...].
      labels: int64 [N].
      epochs: how often it sees them.
      rate: the largest learning rate.
      loss: of the network, some inputs and their labels.
      augment: changes some inputs at random.
    """
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    inputs = inputs.double()
    module = network().double()
    for parameter in module.parameters():
        if parameter.dim() > 1:
            fan_in = parameter[0].numel()
            values = rng.standard_normal(parameter.shape) * np.sqrt(2.0 / fan_in)
            parameter.data.copy_(torch.from_numpy(values))
    optimizer = torch.optim.AdamW(module.parameters(), weight_decay=1e-2)
    steps = -(-len(inputs) // BATCH_SIZE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=rate, epochs=epochs, steps_per_epoch=steps
    )
    for _ in counted(range(epochs), "training: epoch", epochs):
        total = 0.0
        for batch in np.array_split(rng.permutation(len(inputs)), steps):
            some = inputs[batch] if augment is None else augment(inputs[batch], rng)
            value = loss(module, some, labels[batch])
            optimizer.zero_grad()
            torch.autograd.backward(value)
            optimizer.step()
            schedule.step()
            total += value.item()
    logging.info("%d epochs, loss %.4f at the end", epochs, total / steps)
    return to_grid(module)


def serialize(module: nn.Module) -> bytes:
    """Return the state dict as an .npz of float32 arrays; numpy writes no timestamps."""
    buffer = io.BytesIO()
    np.savez(buffer, **{name: t.numpy() for name, t in module.state_dict().items()})
    return buffer.getvalue()
