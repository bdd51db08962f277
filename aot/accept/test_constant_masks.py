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
    with pytest.raises(LoweringError, match=r"depends on values(.|\n)*test_constant_masks.py:\d+"):
        export_aten(_Net(function).eval(), (torch.randn(1, 3, 4, 8),))


def test_a_mask_that_the_model_changes_is_no_constant() -> None:
    def function(model: Any, x: torch.Tensor) -> torch.Tensor:
        model.mask.logical_not_()
        return x[:, :, :, model.mask]

    with pytest.raises(LoweringError):
        export_aten(_Net(function).eval(), (torch.randn(1, 3, 4, 8),))
