# SPDX-License-Identifier: Apache-2.0
"""Two chained models: the output of the first is the input of the second."""

from collections.abc import Iterator

import torch
from torch import nn

_SAMPLES = 32


def front() -> nn.Module:
    """Map [1, 16] to [1, 8]."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 8)).eval()


def back() -> nn.Module:
    """Map [1, 8] to [1, 3]."""
    torch.manual_seed(1)
    return nn.Sequential(nn.Tanh(), nn.Linear(8, 3)).eval()


def of_front() -> Iterator[tuple[torch.Tensor]]:
    for values in torch.rand(_SAMPLES, 1, 16, generator=torch.Generator().manual_seed(2)):
        yield (values,)


def of_back() -> Iterator[tuple[torch.Tensor]]:
    """Yield the outputs of the first model for its samples."""
    first = front()
    for (values,) in of_front():
        yield (first(values).detach(),)
