# SPDX-License-Identifier: Apache-2.0
"""A model with a different result outside training gives a warning."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from aot.lower import lower
from aot.options import Measure
from aot.testing.fixtures import model


@pytest.mark.parametrize("nested", [True, False])
def test_padding_that_torch_gives_as_0_is_said(nested: bool) -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 8, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=nested)
    module = model(lambda part, x, mask: part(x, src_key_padding_mask=mask), encoder)
    mask = torch.arange(6)[None] >= torch.tensor([[4], [6]])
    generator = torch.Generator().manual_seed(0)
    data = [(torch.randn(2, 6, 8, generator=generator), mask) for _ in range(4)]
    with torch.no_grad():
        assert bool((module(*data[0])[0, 4:] == 0.0).all()) == nested
    report = lower(
        module, data[0], calibration=data, measure=Measure(min_agreement=0, per_op=False)
    ).report
    found = [w for w in report["warnings"] if w["kind"] == "fast_path"]
    assert [w["module"] for w in found] == ["parts.0"] * nested
