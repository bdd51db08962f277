# SPDX-License-Identifier: Apache-2.0
"""Handwritten digits: a small CNN for scikit-learn's 8x8 images, trained inside the build.

Input float32 [1, 1, 8, 8], pixel / 16 in [0, 1]; output float32 [1, 10], logits of the digits 0-9.
Bazel makes the weights' file with train.py (`//aot/models/digits:weights`).
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

WEIGHTS_VARIABLE = "DIGITS_WEIGHTS"
CALIBRATION_IMAGES = 100


class Digits(nn.Module):
    """Two conv-bn-relu-pool stages and a linear classifier; 6,138 parameters, 84,224 MACs."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1, bias=False),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(128, 10))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.classifier(self.features(image))
        return logits


def data() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return training images, test images, training labels, test labels. A stratified quarter is
    held out.

    Images are float32 [N, 1, 8, 8] in [0, 1], labels int64 [N]; N = 1347 and 450.
    """
    pixels, labels = load_digits(return_X_y=True)
    images = (pixels / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
    split = train_test_split(images, labels, test_size=0.25, random_state=0, stratify=labels)
    train_images, test_images, train_labels, test_labels = map(torch.from_numpy, split)
    return train_images, test_images, train_labels, test_labels


def weights_path() -> Path:
    """Return the path of the weights: $DIGITS_WEIGHTS, or next to this file, where
    Bazel puts them.
    """
    if WEIGHTS_VARIABLE in os.environ:
        return Path(os.environ[WEIGHTS_VARIABLE])
    return Path(__file__).with_name("weights.npz")


def factory() -> nn.Module:
    """Return the trained network in eval mode."""
    path = weights_path()
    if not path.is_file():
        raise FileNotFoundError(
            f"no trained weights at {path}: run with Bazel, or write them with "
            "`python -m aot.models.digits.train --output FILE` and set "
            f"{WEIGHTS_VARIABLE}=FILE"
        )
    module = Digits()
    with np.load(path) as arrays:
        module.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
    return module.eval()


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield training images as tuples. Test images stay unseen."""
    return ((image,) for image in torch.split(data()[0][:CALIBRATION_IMAGES], 1))


def evaluation() -> tuple[torch.Tensor, torch.Tensor]:
    """Return the 450 held-out images [450, 1, 8, 8] and their labels [450]."""
    _, test_images, _, test_labels = data()
    return test_images, test_labels


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield the images of `evaluation`, in its order."""
    return ((image,) for image in torch.split(evaluation()[0], 1))
