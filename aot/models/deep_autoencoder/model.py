# SPDX-License-Identifier: Apache-2.0
"""Deep autoencoder of MLPerf Tiny's anomaly detection, seeded weights.

Input and output are float32 [1, 640]: 5 frames of 128 log-mel energies in dB, and their
reconstruction. Layers are those of the reference (mlcommons/tiny,
anomaly_detection/keras_model.py).
"""

import itertools
from collections.abc import Iterator

import torch
from torch import nn

from aot.models.seeded import seed_weights, spectrograms

FRAMES, BINS = 5, 128
WIDTHS = (FRAMES * BINS, 128, 128, 128, 128, 8, 128, 128, 128, 128)
BATCH_NORM_EPS = 1e-3  # Keras' default.


def dense(inputs: int, outputs: int) -> list[nn.Module]:
    """Return a linear layer with BatchNorm and ReLU."""
    return [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs, eps=BATCH_NORM_EPS), nn.ReLU()]


class DeepAutoencoder(nn.Module):
    """269,992 parameters with the moving statistics, 264,192 MACs."""

    def __init__(self) -> None:
        super().__init__()
        hidden = [layer for pair in itertools.pairwise(WIDTHS) for layer in dense(*pair)]
        self.layers = nn.Sequential(*hidden, nn.Linear(WIDTHS[-1], WIDTHS[0]))

    def forward(self, spectrum: torch.Tensor) -> torch.Tensor:
        reconstruction: torch.Tensor = self.layers(spectrum)
        return reconstruction


def spectra(count: int, seed: int) -> torch.Tensor:
    """Return inputs, float32 [count, 640]."""
    return spectrograms(count, FRAMES, BINS, mean=-20.0, deviation=10.0, seed=seed).flatten(1)


def factory() -> nn.Module:
    """Return the network with seeded weights, in eval mode."""
    return seed_weights(DeepAutoencoder(), spectra(128, seed=0), seed=0)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield 64 inputs as tuples."""
    return ((spectrum,) for spectrum in torch.split(spectra(64, seed=1), 1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield 8 inputs that calibration does not use."""
    return ((spectrum,) for spectrum in torch.split(spectra(8, seed=2), 1))
