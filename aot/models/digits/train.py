# SPDX-License-Identifier: Apache-2.0
"""Trains the digits network and writes its weights: the same bytes on every run.

One thread sees the training set in a seeded order and computes in double precision; the result is
rounded, so that the last bits, where BLAS libraries and cores differ, do not show in the file.
"""

import io
import time
from pathlib import Path

import numpy as np
import torch
from absl import app, flags, logging
from torch import nn
from torch.nn import functional

from aot.models.digits.model import Digits, data
from aot.models.seeded import to_grid

EPOCHS = 30
BATCH_SIZE = 64

_OUTPUT = flags.DEFINE_string("output", None, "The .npz file to write.", required=True)


def shifted(images: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """Each image moved by -1, 0 or 1 pixel in each direction, zeros shifted in."""
    padded = functional.pad(images, (1, 1, 1, 1))
    offsets = rng.integers(0, 3, size=(len(images), 2))
    return torch.stack(
        [image[:, y : y + 8, x : x + 8] for image, (y, x) in zip(padded, offsets, strict=True)]
    )


def train() -> nn.Module:
    """The trained network, float32 and in eval mode."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    images, _, labels, _ = data()
    images = images.double()
    module = Digits().double()
    for parameter in module.parameters():
        if parameter.dim() > 1:
            fan_in = parameter[0].numel()
            values = rng.standard_normal(parameter.shape) * np.sqrt(2.0 / fan_in)
            parameter.data.copy_(torch.from_numpy(values))
    optimizer = torch.optim.AdamW(module.parameters(), weight_decay=1e-2)
    steps = -(-len(images) // BATCH_SIZE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=1e-2, epochs=EPOCHS, steps_per_epoch=steps
    )
    for epoch in range(EPOCHS):
        total = 0.0
        for batch in np.array_split(rng.permutation(len(images)), steps):
            loss = functional.cross_entropy(module(shifted(images[batch], rng)), labels[batch])
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            schedule.step()
            total += loss.item()
        logging.info("epoch %d of %d: loss %.4f", epoch + 1, EPOCHS, total / steps)
    return to_grid(module)


def serialize(module: nn.Module) -> bytes:
    """The state dict as an .npz of float32 arrays; numpy writes no timestamps."""
    buffer = io.BytesIO()
    np.savez(buffer, **{name: t.numpy() for name, t in module.state_dict().items()})
    return buffer.getvalue()


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    start = time.monotonic()
    Path(_OUTPUT.value).write_bytes(serialize(train()))
    logging.info("trained in %.1f s: %s", time.monotonic() - start, _OUTPUT.value)


if __name__ == "__main__":
    app.run(main)
