# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the digits network, and byte-exact repeatability of its training."""

import json
from pathlib import Path

import numpy as np
import torch

from aot.models.digits import model, train
from aot.models.training import serialize


def test_a_quarter_is_held_out() -> None:
    train_images, test_images, train_labels, test_labels = model.data()
    assert train_images.shape == (1347, 1, 8, 8) and len(train_labels) == 1347
    assert test_images.shape == (450, 1, 8, 8) and len(test_labels) == 450
    images, labels = model.evaluation()
    assert torch.equal(images, test_images) and torch.equal(labels, test_labels)


def test_float_accuracy_on_held_out_images() -> None:
    images, labels = model.evaluation()
    predictions = model.factory()(images).argmax(dim=1)
    assert (predictions == labels).float().mean() >= 0.97


def test_training_gives_the_bytes_of_the_built_weights() -> None:
    assert serialize(train.train()) == model.weights_path().read_bytes()


def test_the_report_says_how_accurate_int8_is_on_every_held_out_image() -> None:
    folder = Path(model.__file__).parent
    accuracy = json.loads((folder / "digits.report.json").read_text())["quality"]["accuracy"]
    _, labels = model.evaluation()
    with np.load(folder / "digits.vectors.npz") as arrays:
        assert arrays["input_0"].shape[0] == 450 and arrays["input_0"].dtype == np.int8
        np.testing.assert_array_equal(arrays["labels"], labels)
        right = arrays["output_0"].reshape(450, 10).argmax(axis=1) == arrays["labels"]
    assert accuracy["int8"] == right.mean()
    assert accuracy["float32"] >= 0.97
    assert accuracy["int8"] >= accuracy["float32"] - 0.005
