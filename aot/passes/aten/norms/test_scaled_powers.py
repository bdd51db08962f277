# SPDX-License-Identifier: Apache-2.0
"""Norms of an order above 2 are of quotients by the largest magnitude."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from aot.lower import lower
from aot.options import Quantize
from aot.passes.aten.norms.scaled_powers import scaled_powers
from aot.testing.fixtures import check_aten_pass, model, samples

IMAGE, ROWS = (1, 4, 8, 8), (2, 8, 32)
Function = Callable[[torch.Tensor], torch.Tensor]
THREE, THIRD = torch.tensor([3.0]), torch.tensor([1 / 3])

SCALED: dict[str, tuple[Function, tuple[int, ...]]] = {
    "pools": (lambda x: F.lp_pool2d(x.relu(), 3.0, 2), IMAGE),
    "pools whose windows overlap": (lambda x: F.lp_pool2d(x, 4.0, (3, 2), 1), IMAGE),
    "pools over time": (lambda x: F.lp_pool1d(x.relu(), 2.5, 4), ROWS),
    "rows": (lambda x: (x.abs() ** 3).sum(-1) ** (1 / 3), ROWS),
    "products": (lambda x: (x * x * x * x).mean((0, 2), keepdim=True).sqrt().sqrt(), ROWS),
    "everything": (lambda x: x.square().square().sum() ** 0.25, ROWS),
    "a constant order": (lambda x: x.clamp(min=1e-6).pow(THREE).mean((2, 3)).pow(THIRD), IMAGE),
}
KEPT: dict[str, tuple[Function, tuple[int, ...]]] = {
    "squares": (lambda x: F.lp_pool2d(x, 2.0, 2), IMAGE),
    "another root": (lambda x: (x**4).sum(-1).sqrt(), ROWS),
    "no root": (lambda x: (x**4).mean(-1), ROWS),
    "an addend": (lambda x: ((x**4).mean(-1) + 1.0) ** 0.25, ROWS),
    "no power": (lambda x: (x.exp()).sum(-1) ** 0.25, ROWS),
    "powers of two values": (lambda x: (x**3 * x.flip(0).abs()).sum(-1).abs() ** 0.25, ROWS),
    "large windows": (lambda x: F.lp_pool2d(x, 4.0, 8), IMAGE),
    "padding": (lambda x: F.avg_pool2d(x**4, 2, padding=1) ** 0.25, IMAGE),
}


@pytest.mark.parametrize("name", SCALED)
def test_norms_are_of_quotients(name: str) -> None:
    function, shape = SCALED[name]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    x[..., :4] = 0.0
    changes, _ = check_aten_pass(scaled_powers, function, inputs=[x], atol=1e-5)
    assert changes == 1


@pytest.mark.parametrize("name", KEPT)
def test_others_stay(name: str) -> None:
    function, shape = KEPT[name]
    changes, _ = check_aten_pass(scaled_powers, function, inputs=[torch.randn(shape)])
    assert changes == 0


@pytest.mark.parametrize("quantization, reached", [("int8", 38.0), ("int16", 65.0)])
def test_small_windows_keep_small_values(quantization: str, reached: float) -> None:
    """Kept as powers of int8 they have 16 dB, of int16 28."""
    data = samples(IMAGE, count=16)
    lowered = lower(
        model(lambda x: F.lp_pool2d(x, 4.0, 2)),
        data[0],
        calibration=data,
        quantize=Quantize(quantization=quantization),
    )
    sqnr = lowered.quality.outputs[0].sqnr_db
    assert sqnr is not None and sqnr > reached
