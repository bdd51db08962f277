# SPDX-License-Identifier: Apache-2.0
"""What an error says to write instead can be written: it computes the same and lowers to int8."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from aot.errors import LoweringError
from aot.export import export_aten
from aot.support import check_supported
from aot.testing.fixtures import model

IMAGE = torch.randn((1, 3, 4, 6), generator=torch.Generator().manual_seed(4))
OTHER = torch.rand((1, 3, 4, 6), generator=torch.Generator().manual_seed(5)) + 0.5
SLOPES = torch.tensor([0.1, 0.3, 0.7]).reshape(3, 1, 1)

# name: what is refused, what the hint says (a part of it), the same as the hint says
HINTS: dict[str, tuple[Callable[..., object], str, Callable[..., object]]] = {
    "div": (lambda x, y: x / y, "x * torch.reciprocal(y)", lambda x, y: x * torch.reciprocal(y)),
    "maximum": (torch.maximum, "a + torch.relu(b - a)", lambda a, b: a + torch.relu(b - a)),
    "max of two": (torch.max, "a + torch.relu(b - a)", lambda a, b: a + torch.relu(b - a)),
    "minimum": (torch.minimum, "a - torch.relu(a - b)", lambda a, b: a - torch.relu(a - b)),
    "amax": (
        lambda x, y: (x * y).amax((2, 3), keepdim=True),
        "F.adaptive_max_pool2d(x, 1)",
        lambda x, y: F.adaptive_max_pool2d(x * y, 1),
    ),
    "amin": (
        lambda x, y: (x * y).amin((2, 3), keepdim=True),
        "-F.adaptive_max_pool2d(-x, 1)",
        lambda x, y: -F.adaptive_max_pool2d(-(x * y), 1),
    ),
    "sum": (
        lambda x, y: (x * y).sum(1),
        "x.mean(dim) * count",
        lambda x, y: (x * y).mean(1) * 3,
    ),
    "floor of a quotient": (
        lambda x, y: torch.div(x, y, rounding_mode="floor"),
        "torch.floor, or torch.trunc, of x * torch.reciprocal(y)",
        lambda x, y: torch.floor(x * torch.reciprocal(y)),
    ),
    "prelu of rows": (
        lambda x, y: F.prelu((x * y).flatten(2).mean(2), SLOPES.reshape(3)),
        "k of shape [C] and then a 1 for each dimension behind the channels",
        lambda x, y: (
            torch.relu(z := (x * y).flatten(2).mean(2)) - SLOPES.reshape(3) * torch.relu(-z)
        ),
    ),
    "a mask of another dtype": (
        lambda x, y: x * y * (SLOPES > 0.2),
        "a constant of float32, c.to(x.dtype)",
        lambda x, y: x * y * (SLOPES > 0.2).to(x.dtype),
    ),
    "layer norm with a computed weight": (
        lambda x, y: F.layer_norm(x, (6,), weight=y[0, 0, 0]),
        "norm(x) * weight + bias",
        lambda x, y: F.layer_norm(x, (6,)) * y[0, 0, 0],
    ),
    "prelu by channel": (
        lambda x, y: F.prelu(x * y, SLOPES.reshape(3)),
        "torch.relu(x) - k * torch.relu(-x)",
        lambda x, y: torch.relu(x * y) - SLOPES * torch.relu(-(x * y)),
    ),
}


@pytest.mark.parametrize("name", HINTS)
def test_the_hint_is_the_same_function_and_has_an_int8_form(name: str) -> None:
    refused, hint, instead = HINTS[name]
    inputs = (IMAGE, OTHER)
    with pytest.raises(LoweringError) as error:
        check_supported(export_aten(model(refused), inputs), allow_float_fallback=False)
    assert [hint in problem.hint for problem in error.value.problems] == [True]
    check_supported(export_aten(model(instead), inputs), allow_float_fallback=False)
    # Float32: the two forms round differently.
    torch.testing.assert_close(refused(*inputs), instead(*inputs), rtol=1e-5, atol=1e-6)
