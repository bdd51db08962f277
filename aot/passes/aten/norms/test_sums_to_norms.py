# SPDX-License-Identifier: Apache-2.0
"""Roots and logarithms of sums of squares are functions of a norm."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aot.lower import lower
from aot.options import Measure
from aot.passes.aten.norms.sums_to_norms import sums_to_norms
from aot.testing.fixtures import check_aten_pass, model

ROWS = (2, 8, 12)
Function = Callable[[torch.Tensor], torch.Tensor]


NORMS: dict[str, Function] = {
    "products": lambda x: (x * x + (y := x.flip(0)) * y).sqrt(),
    "powers": lambda x: (x**2 + x.flip(0) ** 2) ** 0.5,
    "three terms": lambda x: (x[..., :4] ** 2 + x[..., 4:8] ** 2 + x[..., 8:] ** 2).sqrt(),
    "four terms": lambda x: (
        (x**2 + x.flip(0) ** 2) + (x.flip(1) ** 2 + x.roll(1, 2).square())
    ).sqrt(),
    "a floor": lambda x: torch.sqrt(x**2 + x.flip(0) ** 2 + 1e-2),
    "a clamp": lambda x: (x**2 + x.flip(0) ** 2).clamp(min=0.5).sqrt(),
    "weights": lambda x: (0.25 * x**2 + (3.0 * x.flip(0)) ** 2).sqrt(),
    "a reciprocal": lambda x: x / (x.tanh() ** 2 + x.flip(0) ** 2 + 0.1).sqrt(),
    "a logarithm": lambda x: torch.log10((x**2 + x.flip(0) ** 2).clamp(min=1e-3)),
    "two functions": lambda x: (p := x**2 + x.flip(0) ** 2).sqrt() + (p + 1.0).log(),
    "magnitudes": lambda x: (x.abs() ** 2 + x.flip(0).relu().square()).sqrt(),
}
KEPT: dict[str, Function] = {
    "the sum": lambda x: x**2 + x.flip(0) ** 2,
    "a sum that is read": lambda x: (p := x**2 + x.flip(0) ** 2).sqrt() * p.flip(0),
    "no square": lambda x: (x**2 + x.flip(0).abs()).sqrt(),
    "a difference": lambda x: (x**2 - x.flip(0) ** 2).abs().sqrt(),
    "a cube": lambda x: (x.abs() ** 3 + x.flip(0) ** 2).sqrt(),
    "two values": lambda x: (x * x.flip(0) + x.flip(0) ** 2).abs().sqrt(),
    "other shapes": lambda x: (x**2 + x[:1].flip(1) ** 2).sqrt(),
}


@pytest.mark.parametrize("name", NORMS)
def test_sums_are_norms(name: str) -> None:
    x = torch.randn(ROWS, generator=torch.Generator().manual_seed(0))
    x[..., :2] = 0.0
    changes, _ = check_aten_pass(sums_to_norms, NORMS[name], inputs=[x], atol=1e-5)
    assert changes == 1


@pytest.mark.parametrize("name", KEPT)
def test_others_stay(name: str) -> None:
    changes, _ = check_aten_pass(sums_to_norms, KEPT[name], inputs=[torch.randn(ROWS)])
    assert changes == 0


def test_small_magnitudes_are_kept() -> None:
    """As squares of int8 they have 20 dB."""
    random = torch.Generator().manual_seed(1)
    decay = torch.exp(-torch.arange(32.0).repeat(2) / 6)[None, :, None]
    data = [(torch.randn(1, 64, 8, generator=random) * decay,) for _ in range(40)]
    net = model(lambda x: (x[:, :32] ** 2 + x[:, 32:] ** 2).sqrt())
    measure = Measure(evaluation=data[32:], per_op=False)
    lowered = lower(net, data[0], calibration=data[:32], measure=measure)
    assert lowered.report["quality"]["outputs"][0]["sqnr_db"] > 30.0
