# SPDX-License-Identifier: Apache-2.0
"""A single-shot detector with heads on three maps: image [1, 3, 64, 64] in [0, 1] to boxes [1, 336,
4], as offsets from their anchors, and class probabilities [1, 336, 5].
"""

from collections.abc import Iterator

import torch
from torch import nn

from aot.models.seeded import images, one_by_one, seed_weights
from aot.models.zoo.blocks import conv

SIZE = 64
WIDTHS = (32, 64, 64)
ANCHORS = 4
CLASSES = 5


class Ssd(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(conv(3, 8, 3, stride=2), conv(8, 16, 3, stride=2))
        inputs = (16, *WIDTHS)
        self.stages = nn.ModuleList(
            conv(a, b, 3, stride=2) for a, b in zip(inputs, WIDTHS, strict=False)
        )
        self.boxes = nn.ModuleList(nn.Conv2d(w, ANCHORS * 4, 3, padding=1) for w in WIDTHS)
        self.classes = nn.ModuleList(nn.Conv2d(w, ANCHORS * CLASSES, 3, padding=1) for w in WIDTHS)

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.stem(image)
        boxes, classes = [], []
        for stage, box, label in zip(self.stages, self.boxes, self.classes, strict=True):
            x = stage(x)
            boxes.append(box(x).permute(0, 2, 3, 1).reshape(len(x), -1, 4))
            classes.append(label(x).permute(0, 2, 3, 1).reshape(len(x), -1, CLASSES))
        return torch.cat(boxes, dim=1), torch.cat(classes, dim=1).softmax(dim=-1)


def factory() -> nn.Module:
    return seed_weights(Ssd(), images(16, SIZE, seed=0), seed=0)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(32, SIZE, seed=1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(4, SIZE, seed=2))
