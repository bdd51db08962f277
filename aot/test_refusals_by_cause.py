# SPDX-License-Identifier: Apache-2.0
"""A refusal names its own cause, and the user's line."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch.nn.functional as F
from torch import Tensor, nn

from aot.errors import LoweringError
from aot.export import export_aten
from aot.support import check_supported
from aot.testing.fixtures import model, samples


def trained_within(norm: nn.BatchNorm2d, x: Tensor) -> Tensor:
    norm.train()
    y: Tensor = norm(x)
    norm.eval()
    return y


# name: model, the cause that its refusal names
REFUSED: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "statistics of a batch": (
        lambda: model(trained_within, nn.BatchNorm2d(4)),
        "BatchNorm with statistics of its own",
    ),
    "features dropped": (
        lambda: model(lambda x: F.feature_alpha_dropout(x, training=True)),
        "training=self.training",
    ),
    "values dropped": (
        lambda: model(lambda x: F.alpha_dropout(x, training=True)),
        "training=self.training",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_names_its_cause(name: str) -> None:
    make, cause = REFUSED[name]
    (example,) = samples((2, 4, 8, 8), count=1)
    with pytest.raises(LoweringError) as caught:
        check_supported(export_aten(make(), example), lambda node: False)
    assert cause in str(caught.value) and "\n    at " in str(caught.value)
