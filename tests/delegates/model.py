# SPDX-License-Identifier: Apache-2.0
"""A network with two regions for a stand-in, each with two inputs and two results, with kernels
before, between and after them.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule

from aot.backends.cortex_m import CORTEX_M
from aot.backends.target import Target
from aot.dialect.delegate import DelegatePayload
from aot.dialect.graph import border_nodes, copied
from aot.pte.writer import write_pte
from aot.testing.stand_in import stand_in


def compile_region(region: GraphModule) -> DelegatePayload:
    """Return the region's own .pte, for an engine with memory needs and larger alignment than
    kernels.

    Its inputs have their index for a name, so that equal regions of two models have equal bytes.
    """
    region = copied(region)
    for index, node in enumerate(border_nodes(region)[0]):
        node.name = f"input_{index}"
    return DelegatePayload(write_pte(region), "stand-in-1", 96, 64)


TARGET = Target("stand-in", (stand_in({"conv2d", "add"}, compile=compile_region), CORTEX_M))


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(2, 3, 3, padding=1)
        self.second = nn.Conv2d(2, 3, 1)
        self.third = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a = F.relu(self.first(x))
        total = a + self.second(y)
        c = self.third(F.max_pool2d(total * a, 2))
        return c + F.max_pool2d(a, 2), c.mean((2, 3))


def factory() -> nn.Module:
    torch.manual_seed(0)
    return Network().eval()


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    for _ in range(8):
        shape = (1, 2, 6, 6)
        yield torch.randn(shape, generator=generator), torch.randn(shape, generator=generator)
