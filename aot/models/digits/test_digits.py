# SPDX-License-Identifier: Apache-2.0
"""The digits network learned what it should, and its training repeats to the byte."""

import torch

from aot.models.digits import model, train


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
    assert train.serialize(train.train()) == model.weights_path().read_bytes()
