# SPDX-License-Identifier: Apache-2.0
"""Networks trained on scikit-learn's digits, each with its own view of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from aot.models.digits.model import data
from aot.models.seeded import one_by_one
from aot.models.training import Loss, cross_entropy, trained

CALIBRATION_SAMPLES = 100

Data = tuple[torch.Tensor, torch.Tensor]
"""Inputs [N, ...] and classes, int64 [N]."""


def images() -> tuple[Data, Data]:
    """Return 1347 training images and 450 held-out images, float32 [N, 1, 8, 8] in [0, 1]."""
    train_images, test_images, train_labels, test_labels = data()
    return (train_images, train_labels), (test_images, test_labels)


def seen_as(view: Callable[[torch.Tensor], torch.Tensor]) -> tuple[Data, Data]:
    """Return the images of `images` as `view` makes something else of each batch of them."""
    train, test = images()
    return (view(train[0]).contiguous(), train[1]), (view(test[0]).contiguous(), test[1])


def rows() -> tuple[Data, Data]:
    """Return images as sequences of eight rows from the top down: [N, 8, 8]."""
    return seen_as(lambda x: x[:, 0])


@dataclass(frozen=True)
class Trained:
    """A network with its data.

    Attributes:
      name: the weights are `<name>.npz`, next to this file.
      network: makes it, untrained.
      data: data for training, and held-out data.
      epochs: number of passes over the data.
      rate: its largest learning rate.
      loss: of the network, inputs and classes.
    """

    name: str
    network: Callable[[], nn.Module]
    data: Callable[[], tuple[Data, Data]] = images
    epochs: int = 30
    rate: float = 1e-2
    loss: Loss = cross_entropy

    def trained(self) -> nn.Module:
        """Return the trained network, float32 and in eval mode: the same bits on every run."""
        inputs, labels = self.data()[0]
        return trained(
            self.network, inputs, labels, epochs=self.epochs, rate=self.rate, loss=self.loss
        )

    def factory(self) -> nn.Module:
        module = self.network()
        with np.load(Path(__file__).with_name(f"{self.name}.npz")) as arrays:
            state = {name: torch.from_numpy(array) for name, array in arrays.items()}
        module.load_state_dict(state)
        return module.eval()

    def calibration(self) -> Iterator[tuple[torch.Tensor, ...]]:
        return one_by_one(self.data()[0][0][:CALIBRATION_SAMPLES])

    def evaluation(self) -> Data:
        return self.data()[1]

    def test_inputs(self) -> Iterator[tuple[torch.Tensor, ...]]:
        """Yield the inputs of `evaluation`, in its order."""
        return one_by_one(self.evaluation()[0])
