# SPDX-License-Identifier: Apache-2.0
"""A buffer that cannot be state gives one clear error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from aot.errors import LoweringError
from aot.lower import lower
from aot.testing.fixtures import samples
from aot.testing.stateful import SHAPE, Buffers, Nested, returned, zeros


def _alias(m: Any, x: torch.Tensor) -> Any:
    m.a.add_(x)
    return m.b * 2.0


def _grown(m: Any, x: torch.Tensor) -> Any:
    m.a = torch.cat([m.a, x], 1)
    return m.a[:, :6] * 2.0


def _cast(m: Any, x: torch.Tensor) -> Any:
    m.a += 1
    return x * m.a


def _index(m: Any, x: torch.Tensor) -> Any:
    y = m.a * 0.5
    m.a.copy_(x.argmax(1))
    return y


def _compared(m: Any, x: torch.Tensor) -> Any:
    y = x * m.a
    m.a = x > 0.0
    return y


def _shrunk(m: Any, x: torch.Tensor) -> Any:
    y = x * m.a.mean()
    m.a = x.mean(1, keepdim=True)
    return y


def _from_nothing(m: Any, x: torch.Tensor) -> Any:
    m.a = x * 0.5 if m.a is None else m.a * 0.5 + x
    return m.a


def _unchanged(m: Any, x: torch.Tensor) -> Any:
    old = m.a.clone()
    m.a.copy_(x)
    return old


def _twice(m: Any, x: torch.Tensor) -> Any:
    m.a.add_(x)
    m.b.copy_(m.a)
    return m.a * m.b


def _unregistered(m: Any, x: torch.Tensor) -> Any:
    m.c = x * 2.0
    return m.c * 2.0


class Parameter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(zeros())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return self.w.add_(x) * 2.0


def shared() -> nn.Module:
    memory = torch.zeros(12)
    return Buffers(_alias, a=memory[:6].reshape(SHAPE), b=memory[3:9].reshape(SHAPE))


def unregistered() -> nn.Module:
    module = Buffers(_unregistered)
    module.c = zeros()
    return module


def unregistered_in_place() -> nn.Module:
    module = Buffers(lambda m, x: m.c.mul_(0.5).add_(x) * 2.0)
    module.c = zeros()
    return module


class Kept(nn.Module):
    """Keeps something in Python."""

    def __init__(self, function: Callable[[Any, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.function = function
        self.index = 0
        self.list: list[torch.Tensor] = [zeros()]
        self.cache: dict[int, float] = {}
        self.register_buffer("ring", torch.zeros(4, 6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(self, x)


def _ring(m: Any, x: torch.Tensor) -> Any:
    m.ring[m.index] = x[0]
    m.index = (m.index + 1) % 4
    return m.ring.mean(0, keepdim=True)


def _appended(m: Any, x: torch.Tensor) -> Any:
    m.list.append(x)
    return torch.stack(m.list[-2:]).mean(0)


def _replaced(m: Any, x: torch.Tensor) -> Any:
    (last,), m.list = m.list, [x]
    return x - last


def _counted(m: Any, x: torch.Tensor) -> Any:
    m.index += 1
    return x * 2.0


def _cached(m: Any, x: torch.Tensor) -> Any:
    if 6 not in m.cache:
        m.cache[6] = 1.0 / x.shape[-1]
    return x * m.cache[6]


DATA = samples(SHAPE, count=2)
ERRORS: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "int64": (
        lambda: Buffers(_cast, a=torch.zeros(1, dtype=torch.int64)),
        r"state a is int64\[1\]; .* float32",
    ),
    "bool": (
        lambda: Buffers(lambda m, x: x * m.a.logical_not_(), a=torch.zeros(1, dtype=torch.bool)),
        r"state a is bool\[1\]; .* float32",
    ),
    "shared memory": (shared, r"shares its memory with another \(a and b\).*clone"),
    "grows": (
        lambda: Buffers(_grown, a=zeros()),
        r"state a is float32\[1, 6\] and becomes float32\[1, 12\]",
    ),
    "grows in a submodule": (
        lambda: Nested(Buffers(_grown, a=zeros())),
        r"state inner\.a is float32\[1, 6\] and becomes float32\[1, 12\]",
    ),
    "another dtype": (
        lambda: Buffers(_index, a=torch.zeros(1)),
        r"state a is float32\[1\] and becomes int64\[1\]",
    ),
    "another dtype, assigned": (
        lambda: Buffers(_compared, a=zeros()),
        r"state a is float32\[1, 6\] and becomes bool\[1, 6\]",
    ),
    "shrinks": (
        lambda: Buffers(_shrunk, a=zeros()),
        r"state a is float32\[1, 6\] and becomes float32\[1, 1\]",
    ),
    "nothing at first": (
        lambda: Buffers(_from_nothing, a=None),
        r"state a is NoneType and becomes float32\[1, 6\]",
    ),
    "returned as it was": (
        lambda: Buffers(_unchanged, a=zeros()),
        "output 0 of the model is its state `a`, unchanged",
    ),
    "one value for two": (
        lambda: Buffers(_twice, a=zeros(), b=zeros()),
        "one value to two buffers",
    ),
    "no buffer": (
        unregistered,
        r"keeps a tensor in self.c, which is not a buffer\n.*register_buffer",
    ),
    "no buffer, in place": (unregistered_in_place, "c is mutated.*\n.*register_buffer"),
    "set_": (
        lambda: Buffers(lambda m, x: m.a.set_(m.a * 0.5 + x) * 2.0, a=zeros()),
        "cannot follow what the model changes.*set_.*\n.*in place",
    ),
    "repeats one element": (
        lambda: Buffers(returned, a=torch.zeros(1, 1).expand(1, 6)),
        "a single memory location\n +at .*copy_.*\n.*memory of its own",
    ),
    "a parameter": (Parameter, "changes its parameter w: make it a buffer"),
    "an index": (lambda: Kept(_ring), "forward keeps index in Python"),
    "an index in a submodule": (lambda: Nested(Kept(_ring)), r"forward keeps inner\.index in"),
    "a list that grows": (lambda: Kept(_appended), "forward keeps list in Python.*\n.*buffer"),
    "a list of one": (lambda: Kept(_replaced), "forward keeps list in Python"),
    "no elements": (
        lambda: Buffers(lambda m, x: (m.a.add_(1.0), x * (m.a.sum() + 1.0))[1], a=torch.zeros(0)),
        r"state a is float32\[0\]; state must have one element or more",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    make, text = ERRORS[name]
    with pytest.raises(LoweringError, match=text):
        lower(make().eval(), DATA[0], calibration=DATA)


@pytest.mark.parametrize("function", [_counted, _cached])
def test_what_is_kept_and_does_no_harm(function: Callable[..., Any]) -> None:
    module = Kept(function).eval()
    (reference,) = lower(module, DATA[0], calibration=DATA).reference(DATA[1])
    assert reference.shape == SHAPE
    assert module.list[0].shape == SHAPE and module.ring.shape == (4, 6)
