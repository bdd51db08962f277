# SPDX-License-Identifier: Apache-2.0
"""The histogram observer gives the same range as torchao's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aot.quantizer.histogram import FastHistogramObserver
from aot.upstream.torchao import HistogramObserver

_VALUES: dict[str, Callable[[torch.Generator], torch.Tensor]] = {
    "normal": lambda g: torch.randn(4000, generator=g),
    "half zero": lambda g: torch.randn(4000, generator=g).relu(),
    "uniform": lambda g: torch.rand(4000, generator=g) - 0.3,
    "an outlier": lambda g: torch.cat([torch.randn(4000, generator=g), torch.tensor([300.0])]),
    "outliers on both sides": lambda g: torch.randn(4000, generator=g) ** 5,
    "few values": lambda g: torch.randint(-2, 3, (900,), generator=g).float(),
    "few elements": lambda g: torch.randn(3, generator=g),
    "one value": lambda g: torch.full((20,), 0.7),
    "zeros": lambda g: torch.zeros(20),
    "skewed": lambda g: torch.randn(4000, generator=g).exp(),
    "skewed the other way": lambda g: -torch.randn(4000, generator=g).exp(),
}


@pytest.mark.parametrize("name", _VALUES)
def test_is_torchaos(name: str) -> None:
    generator = torch.Generator().manual_seed(sorted(_VALUES).index(name))
    arguments = {"dtype": torch.int8, "qscheme": torch.per_tensor_affine}
    ours, theirs = FastHistogramObserver(**arguments), HistogramObserver(**arguments)
    for scale in (1.0, 3.0, 0.5):  # the histogram grows, and stays
        values = _VALUES[name](generator) * scale
        for observer in (ours, theirs):
            observer(values)
    assert ours.calculate_qparams() == theirs.calculate_qparams()
    assert torch.equal(ours.histogram, theirs.histogram)


def test_errors_beyond_float32_clip_nothing() -> None:
    generator = torch.Generator().manual_seed(0)
    observer = FastHistogramObserver(dtype=torch.int8, qscheme=torch.per_tensor_affine)
    values = torch.rand(4000, generator=generator) * 1e20
    observer(values)
    scale, _ = observer.calculate_qparams()
    assert float(scale) * 255 > 0.99 * float(values.max())
