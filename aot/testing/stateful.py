# SPDX-License-Identifier: Apache-2.0
"""Modules with state, of a function each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

SHAPE = (1, 6)


class Buffers(nn.Module):
    """A module whose forward is a function of itself and its input."""

    def __init__(self, function: Callable[..., object], **buffers: torch.Tensor | None) -> None:
        super().__init__()
        self.function = function
        for name, value in buffers.items():
            self.register_buffer(name, value)

    def forward(self, x: torch.Tensor) -> object:
        return self.function(self, x)


class Nested(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.inner(x)
        return result * 0.5


def ramp() -> torch.Tensor:
    return torch.linspace(-1.0, 1.0, 6).reshape(SHAPE)


def zeros() -> torch.Tensor:
    return torch.zeros(SHAPE)


def returned(m: Any, x: torch.Tensor) -> Any:
    m.a = m.a * 0.5 + x
    return m.a
