# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from aot.accept.export import export_aten
from aot.errors import LoweringError

_MASK = torch.tensor([True, False, True, True, False, False, True, False])
_PLANE = torch.arange(12).reshape(3, 4) % 3 == 0


class _Net(nn.Module):
    def __init__(self, function: Callable[[Any, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.register_buffer("mask", _MASK)
        self.register_buffer("plane", _PLANE)
        self.inner = nn.Module()
        self.inner.register_buffer("mask", ~_MASK)
        self.attribute = _MASK.clone()
        self.register_buffer("pad", torch.tensor(2))
        self.register_buffer("edges", torch.tensor([[0, 1, 2, 2], [1, 0, 2, 3]]))
        self.scale = nn.Parameter(torch.tensor([2.0, 3.0]))
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(self, x) * 2


@pytest.mark.parametrize(
    "function",
    [
        lambda m, x: x[:, :, :, m.mask],
        lambda m, x: x[..., m.inner.mask],
        lambda m, x: x[0, :, 1:, m.attribute],
        lambda m, x: x[:, m.plane],
        lambda m, x: x[:, m.plane, 2:4],
        lambda m, x: x[:, :, :, torch.tensor([True, False] * 4)],
        lambda m, x: x[:, [True, False, True]],
        lambda m, x: x[:, :, None, :, m.mask],
        lambda m, x: x.masked_select(m.mask),
        lambda m, x: torch.masked_select(x[:, :, :, 0], m.plane),
        lambda m, x: x[:, :, :, m.mask.nonzero().squeeze(1)],
        lambda m, x: x.index_select(3, torch.nonzero(m.inner.mask).flatten()),
    ],
)
def test_masks_of_the_model_are_indices(
    function: Callable[[Any, torch.Tensor], torch.Tensor],
) -> None:
    model, x = _Net(function).eval(), torch.randn(1, 3, 4, 8)
    graph = export_aten(model, (x,))
    torch.testing.assert_close(graph(x), model(x), rtol=0, atol=0)


@pytest.mark.parametrize(
    "function", [lambda m, x: x[x > 0], lambda m, x: x[:, :, :, m.mask & (x[0, 0, 0] > 0)]]
)
def test_masks_that_are_computed_are_refused(
    function: Callable[[Any, torch.Tensor], torch.Tensor],
) -> None:
    with pytest.raises(LoweringError, match=r"depends on values(.|\n)*test_constant_values.py:\d+"):
        export_aten(_Net(function).eval(), (torch.randn(1, 3, 4, 8),))


def test_a_mask_that_the_model_changes_is_no_constant() -> None:
    def function(model: Any, x: torch.Tensor) -> torch.Tensor:
        model.mask.logical_not_()
        return x[:, :, :, model.mask]

    with pytest.raises(LoweringError):
        export_aten(_Net(function).eval(), (torch.randn(1, 3, 4, 8),))


def _slices(m: Any, x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x[..., : m.pad], x[..., m.pad + 1 :]], -1)


def _branch(m: Any, x: torch.Tensor) -> torch.Tensor:
    if m.pad > 1 and not torch.equal(m.edges[0], m.edges[1]):
        return x - 1
    return x + 1


def _loop(m: Any, x: torch.Tensor) -> torch.Tensor:
    for place in torch.arange(m.pad).tolist():
        x = x + place * m.scale[place].item()
    return x


@pytest.mark.parametrize(
    "function",
    [
        lambda m, x: nn.functional.pad(x, (int(m.pad), 0)),
        lambda m, x: nn.functional.pad(x, (m.pad, 0)),
        lambda m, x: x.narrow(3, 1, m.edges.max()),
        lambda m, x: x * float(m.scale.sum() / 2),
        lambda m, x: x[:, m.edges[:, m.edges[0] != m.edges[1]][0]],
        lambda m, x: x[:, torch.unique(m.edges[1] % 3)],
        lambda m, x: x[:, [i for row in m.edges.tolist() for i in row if i < 3]],
        lambda m, x: x.repeat_interleave(m.edges[0, :3] + 1, 1),
        lambda m, x: x[:, :, torch.full((2,), 3).tolist()],
        lambda m, x: x.masked_select(m.plane.T[0]) if m.plane.any() else x,
        _branch,
        _loop,
        _slices,
    ],
)
def test_values_of_constants(function: Callable[[Any, torch.Tensor], torch.Tensor]) -> None:
    model, x = _Net(function).eval(), torch.randn(1, 3, 4, 8)
    if "masked_select" in function.__code__.co_names:
        x = x[..., :3].contiguous()
    graph = export_aten(model, (x,))
    torch.testing.assert_close(graph(x), model(x), rtol=0, atol=0)


class _Count(nn.Module):
    count: torch.Tensor

    def __init__(self, inner: nn.Module | None, assigns: bool) -> None:
        super().__init__()
        self.register_buffer("count", torch.tensor(1))
        self.inner, self.assigns = inner, assigns

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.inner is not None:
            y: torch.Tensor = self.inner(x)
            return y
        x = x * int(self.count)
        if self.assigns:
            self.count = self.count + 1
        else:
            self.count += 1
        return x


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("assigns", [True, False])
def test_a_state_is_no_constant(nested: bool, assigns: bool) -> None:
    model = _Count(None, assigns)
    if nested:
        model = _Count(model, assigns)
    name = "inner.count" if nested else "count"
    reason = rf"reads its state {name} as a Python value, and changes it\n    at test_const"
    with pytest.raises(LoweringError, match=reason):
        export_aten(model.eval(), (torch.randn(2, 3),))


@pytest.mark.parametrize(
    "function",
    [
        lambda m, x: x * int(x.sum()),
        lambda m, x: x if torch.rand_like(m.scale).sum() > 0.7 else -x,
        lambda m, x: x * int(m.pad.clone().add_(x.sum().long())),
    ],
)
def test_values_of_inputs_are_refused(
    function: Callable[[Any, torch.Tensor], torch.Tensor],
) -> None:
    with pytest.raises(LoweringError, match="as a Python number|branches or loops on"):
        export_aten(_Net(function).eval(), (torch.randn(1, 3, 4, 8),))
