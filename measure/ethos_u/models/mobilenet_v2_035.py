# SPDX-License-Identifier: Apache-2.0
"""MobileNetV2 of width 0.35: image [1, 3, 96, 96] in [0, 1] to 1000 logits."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from aot.models.seeded import images, one_by_one, seed_weights
from measure.ethos_u.models.widths import MobileNetV2

SIZE = 96


def factory() -> nn.Module:
    return seed_weights(MobileNetV2(0.35), images(16, SIZE, seed=0), seed=0)


def small_head() -> nn.Module:
    """Return a linear layer from 128 features to two classes."""
    return seed_weights(MobileNetV2(0.35, 128, 2), images(16, SIZE, seed=0), seed=0)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(32, SIZE, seed=1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(2, SIZE, seed=2))
