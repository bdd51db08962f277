# SPDX-License-Identifier: Apache-2.0
"""A detector like YOLOv5; the coarse map is upsampled into the fine one, and boxes are decoded.

Image [1, 3, 64, 64] in [0, 1] to boxes [1, 240, 4], x, y, width and height in pixels, and to
probabilities [1, 240, 4] of a box and of 3 classes. They are separate results: one scale for both
would have steps of half a pixel.
"""

from collections.abc import Iterator

import torch
from torch import nn

from aot.models.seeded import images, one_by_one, seed_weights
from aot.models.zoo.blocks import conv

SIZE = 64
ANCHORS = {
    8: ((8.0, 10.0), (14.0, 9.0), (12.0, 20.0)),
    16: ((24.0, 18.0), (20.0, 36.0), (44.0, 40.0)),
}
VALUES = 5 + 3


class Head(nn.Module):
    """Decodes the boxes of one map.

    Args:
      inputs: channels of the map.
      stride: pixels from one of its cells to the next.
    """

    cells: torch.Tensor
    anchors: torch.Tensor

    def __init__(self, inputs: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        anchors = torch.tensor(ANCHORS[stride])
        self.conv = nn.Conv2d(inputs, len(anchors) * VALUES, 1)
        steps = torch.arange(SIZE // stride, dtype=torch.float32)
        y, x = torch.meshgrid(steps, steps, indexing="ij")
        self.register_buffer("cells", torch.stack([x, y], dim=-1) - 0.5)
        self.register_buffer("anchors", anchors[:, None, None])

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        count, size = len(self.anchors), len(self.cells)
        x = self.conv(x).view(len(x), count, VALUES, size, size).permute(0, 1, 3, 4, 2)
        place, extent, sure = x.sigmoid().split((2, 2, VALUES - 4), dim=-1)
        place = (place * 2.0 + self.cells) * self.stride
        extent = (extent * 2.0) ** 2 * self.anchors
        boxes = torch.cat([place, extent], dim=-1)
        return boxes.reshape(len(x), -1, 4), sure.reshape(len(x), -1, VALUES - 4)


class Yolo(nn.Module):
    def __init__(self) -> None:
        super().__init__()

        def silu(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Module:
            return conv(inputs, outputs, kernel, stride, activation=nn.SiLU)

        self.fine = nn.Sequential(silu(3, 8, 3, 2), silu(8, 16, 3, 2), silu(16, 32, 3, 2))
        self.coarse = nn.Sequential(silu(32, 64, 3, 2), silu(64, 32, 1))
        self.upsample = nn.Upsample(scale_factor=2, mode="nearest")
        self.joined = silu(64, 32, 3)
        self.heads = nn.ModuleList([Head(32, 8), Head(32, 16)])

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        fine = self.fine(image)
        coarse = self.coarse(fine)
        joined = self.joined(torch.cat([self.upsample(coarse), fine], dim=1))
        boxes, sure = zip(self.heads[0](joined), self.heads[1](coarse), strict=True)
        return torch.cat(boxes, dim=1), torch.cat(sure, dim=1)


def factory() -> nn.Module:
    return seed_weights(Yolo(), images(16, SIZE, seed=0), seed=0)


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(32, SIZE, seed=1))


def test_inputs() -> Iterator[tuple[torch.Tensor, ...]]:
    return one_by_one(images(4, SIZE, seed=2))
