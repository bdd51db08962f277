# SPDX-License-Identifier: Apache-2.0
"""Attention to the pixels of channels-last images copies no more than needed, for every way to
split its one layer into queries, keys and values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.lower import lower
from aot.options import Measure
from aot.testing.fixtures import model, samples

COPIES = ("pl.transpose", "pl.slice", "pl.gather", "pl.cat")
IMAGE, HEADS = (1, 8, 4, 6), (2, 4, 24)


def parts(y: torch.Tensor) -> torch.Tensor:
    """Compute attention with one head on images in the layout of convolutions."""
    q, k, v = y.view(1, 3, 8, 24).unbind(1)
    return torch.einsum("bij,bcj->bci", torch.einsum("bci,bcj->bij", q, k).softmax(-1), v)


def heads(y: torch.Tensor) -> torch.Tensor:
    q, k, v = y.view(1, 3, *HEADS).unbind(1)
    scores = torch.einsum("bhci,bhcj->bhij", q, k) * 0.5
    return torch.einsum("bhij,bhcj->bhci", scores.softmax(-1), v)


def of_each_head(y: torch.Tensor) -> torch.Tensor:
    q, k, v = y.reshape(2, 12, 24).split(4, dim=1)
    scores = torch.einsum("bct,bcs->bts", q * 0.7, k * 0.7)
    return torch.einsum("bts,bcs->bct", scores.softmax(-1), v)


def scaled_dot_product(y: torch.Tensor) -> torch.Tensor:
    q, k, v = y.reshape(1, 3, *HEADS).permute(1, 0, 2, 4, 3).unbind(0)
    return F.scaled_dot_product_attention(q, k, v).transpose(2, 3)


def of_each_head_in_rows(y: torch.Tensor) -> torch.Tensor:
    rows = y.flatten(2).mT.view(1, 24, 2, 12).transpose(1, 2)
    q, k, v = rows.split(4, dim=3)
    mixed: torch.Tensor = (q @ k.mT).softmax(-1) @ v
    return mixed.transpose(1, 2).reshape(1, 24, 8).mT


# Heads need the products' rows reordered if no scaling shows the side they belong to.
CASES: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], int]] = {
    "parts": (parts, 0),
    "heads": (heads, 1),
    "of each head": (of_each_head, 1),
    "scaled_dot_product": (scaled_dot_product, 0),
    "of each head, in rows": (of_each_head_in_rows, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_copies(name: str) -> None:
    attention, copies = CASES[name]

    def function(layer: nn.Module, last: nn.Module, x: torch.Tensor) -> torch.Tensor:
        mixed: torch.Tensor = last(attention(layer(x)).reshape(x.shape))
        return x + mixed

    data = [(x.to(memory_format=torch.channels_last),) for (x,) in samples(IMAGE)]
    module = model(function, nn.Conv2d(8, 24, 1), nn.Conv2d(8, 8, 1))
    report = lower(module, data[0], calibration=data, measure=Measure(per_op=False)).report
    counts = Counter(op["op"] for op in report["ops"])
    assert sum(counts[op] for op in COPIES) == copies, counts
