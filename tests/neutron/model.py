# SPDX-License-Identifier: Apache-2.0
"""A network with two regions for the NPU, with several inputs and results, and with an unsupported
op between them; and recipes with a stand-in as converter.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import nn

from aot.backends.cortex_m import CORTEX_M
from aot.backends.neutron.backend import neutron
from aot.backends.neutron.testing.stand_in import stand_in
from aot.backends.target import Target

RT700 = Target("imxrt700", (neutron("imxrt700", convert=stand_in), CORTEX_M))
MCXN = Target("mcxn947", (neutron("mcxn947", convert=stand_in), CORTEX_M))


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.second = nn.Conv2d(2, 8, 1)
        self.third = nn.Conv2d(8, 6, 3)
        self.head = nn.Linear(6, 5)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a = F.relu(self.first(F.pad(x, (1, 0, 0, 1))))
        b = self.second(F.pad(y, (1, 0, 0, 1), value=0.5))
        total = a + b
        c = F.gelu(total)  # TFLite has no such function
        c = self.third(F.max_pool2d(c, 3, 2, padding=1)) + self.third(F.avg_pool2d(a, 2))
        pooled = c.mean((2, 3))
        return torch.softmax(self.head(pooled), -1), torch.sigmoid(c)


def factory() -> nn.Module:
    torch.manual_seed(0)
    return Network().eval()


def calibration() -> Iterator[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    for _ in range(8):
        yield (
            torch.randn((1, 3, 11, 9), generator=generator),
            torch.randn((1, 2, 11, 9), generator=generator),
        )


def channels_last() -> Iterator[tuple[torch.Tensor, ...]]:
    for x, y in calibration():
        last = torch.channels_last
        yield x.to(memory_format=last), y.to(memory_format=last)
