# SPDX-License-Identifier: Apache-2.0
"""Inputs of 0 and -1e9 are masks, for any ops between them and the softmax."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Measure
from aot.testing.fixtures import model

BIAS = torch.linspace(-1.0, 1.0, 64).reshape(8, 8)
ORDER = torch.tensor([3, 1, 0, 2, 7, 5, 6, 4])
DIAGONAL = torch.eye(8, dtype=torch.bool).roll(1, 0)
Tensor = torch.Tensor
CASES: dict[str, Callable[[Tensor, Tensor], object]] = {
    "added": lambda x, m: (x + m).softmax(-1) @ x,
    "with a bias": lambda x, m: (x + (BIAS + m)).softmax(-1) @ x,
    "padded": lambda x, m: (F.pad(x, (0, 1)) + F.pad(m, (0, 1), value=-1e9)).softmax(-1),
    "side by side": lambda x, m: (torch.cat([x, x], -1) + torch.cat([m, 0 * m], -1)).softmax(-1),
    "in another order": lambda x, m: (x + m.flip(-1)[..., ORDER]).softmax(-1) @ x,
    "twice": lambda x, m: (x + 2 * m.masked_fill(DIAGONAL, -1e9)).softmax(-1) @ x,
    "of attention": lambda x, m: F.scaled_dot_product_attention(x, x, x, attn_mask=m + BIAS),
    "returned, too": lambda x, m: ((x + m + BIAS).softmax(-1) @ x, m),
}


def samples_of(hidden: float = -1e9) -> list[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(0)
    data = []
    for _ in range(16):
        mask = torch.rand((2, 1, 8), generator=generator) > 0.7
        mask[..., 0] = False
        x = torch.randn((2, 8, 8), generator=generator)
        data.append((x, torch.where(mask, hidden, 0.0)))
    return data


@pytest.mark.parametrize("name", CASES)
def test_masks_of_numbers_are_followed(name: str) -> None:
    """All but the first had 4 dB with powers of ten in a range of their own."""
    data = samples_of()
    lowered = lower(model(CASES[name]), data[0], calibration=data, measure=Measure(per_op=False))
    for output in lowered.quality.outputs:
        assert output.sqnr_db is not None and output.sqnr_db > 33.0


def test_calibration_has_to_agree() -> None:
    data = samples_of(-1e5)
    data[3][1][0, 0, 0] = -3.0
    with pytest.raises(LoweringError, match="calibration sample 3 holds -3"):
        lower(model(CASES["with a bias"]), data[0], calibration=data)
