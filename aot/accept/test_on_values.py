# SPDX-License-Identifier: Apache-2.0
"""The replacement in the error for value-dependent code computes the same result."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from aot.accept.export import export_aten
from aot.errors import LoweringError
from aot.support.support import check_supported
from aot.testing.fixtures import model

IMAGE = torch.randn((1, 3, 4, 6), generator=torch.Generator().manual_seed(4))


def _first_row_replaced(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[x.flatten(1)[:, 0].argmax()] = 0
    return y


def _checked(x: torch.Tensor) -> torch.Tensor:
    assert (x < 99).all()
    return x * 2


_ONE, _FOUR = torch.tensor([1]), torch.tensor([4])
_PAIRS = torch.combinations(torch.arange(IMAGE.shape[-1]))

# value-dependent part: (the model, the message, the replacement from the hint)
ON_VALUES: dict[str, tuple[Callable[..., object], str, Callable[..., object]]] = {
    "a shape": (
        lambda x: x[x > 0].sum(),
        r"index.Tensor -> float32\[u0\]: its shape depends on(.|\n)*a mask .* \(x > 0\).to",
        lambda x: (x * (x > 0).to(x.dtype)).mean() * x.numel(),
    ),
    "repeats": (
        lambda x: x.flatten().repeat_interleave(
            torch.arange(x.numel()) % 2 + (x.flatten() * 0).long()
        ),
        r"repeat_interleave.* its shape depends on(.|\n)*    at .*forward(.|\n)*output_size",
        lambda x: x.flatten().repeat_interleave(
            torch.arange(x.numel()) % 2, output_size=x.numel() // 2
        ),
    ),
    "pairs": (
        lambda x: torch.combinations(x[0, 0, 0]),
        r"its shape depends on(.|\n)*at test_on_values(.|\n)*constant indices",
        lambda x: x[0, 0, 0][_PAIRS],
    ),
    "a number": (
        _first_row_replaced,
        r"as a Python number\n.*at test_on_values.py:\d+ in _first_row(.|\n)*y.index_copy\(0, i",
        lambda x: x.index_copy(0, x.flatten(1)[:, 0].argmax().reshape(1), torch.zeros_like(x[:1])),
    ),
    "places": (
        lambda x: torch.where(x > 0)[1].sum().float(),
        r"aten.where.default .* its shape depends on(.|\n)*    at .*forward(.|\n)*a mask",
        lambda x: ((x > 0).float() * torch.arange(3.0)[:, None, None]).sum(),
    ),
    "a factor": (
        lambda x: x * float(x.mean()),
        r"as a Python number\n.*at test_on_values.py:\d+ in <lambda>(.|\n)*remove float\(\)",
        lambda x: x * x.mean(),
    ),
    "a check": (
        _checked,
        r"checks computed values.*\n.*at test_on_values.py:\d+ in _checked(.|\n)*remove",
        lambda x: x * 2,
    ),
    "covariances": (
        lambda x: torch.cov(x[0, 0]),
        r"as a Python number(.|\n)*at test_on_values.py(.|\n)*d @ d.mT / \(n - 1\)",
        lambda x: (d := x[0, 0] - x[0, 0].mean(1, keepdim=True)) @ d.mT / 5,
    ),
    "an array": (
        lambda x: torch.from_numpy(x.numpy()).abs(),
        r"numpy array(.|\n)*at test_on_values.py(.|\n)*equivalent function",
        lambda x: x.abs(),
    ),
    "a loss": (
        lambda x: F.ctc_loss(x[0, 0][:, None], torch.tensor([[1]]), _FOUR, _ONE) * 0.0,
        r"computes a loss(.|\n)*at test_on_values.py",
        lambda x: x.sum() * 0.0,
    ),
    "a slope": (
        lambda x: torch.func.grad(lambda y: (y**2).sum())(x),
        r"torch.func.grad(.|\n)*instead: write the derivative out: 2 \* x",
        lambda x: 2 * x,
    ),
    "the way": (
        lambda x: x * 2 if x.mean() > 0 else -x,
        r"branches or loops(.|\n)*at test_on_values.py:\d+ in <lambda>(.|\n)*m \* a \+ \(1 - m\)",
        lambda x: (m := (x.mean() > 0).to(x.dtype)) * (x * 2) + (1 - m) * -x,
    ),
}


@pytest.mark.parametrize("name", ON_VALUES)
def test_what_depends_on_values_has_a_hint_that_does_not(name: str) -> None:
    refused, text, instead = ON_VALUES[name]
    with pytest.raises(LoweringError, match=text):
        export_aten(model(refused), [IMAGE])
    check_supported(export_aten(model(instead), [IMAGE]), lambda _: False)
    torch.testing.assert_close(refused(IMAGE), instead(IMAGE), rtol=1e-5, atol=1e-6)
