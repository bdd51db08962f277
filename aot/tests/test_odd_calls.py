# SPDX-License-Identifier: Apache-2.0
"""Legal but rare calls: numbers first, six dimensions, vectors for weights, arguments without an
effect. Each is lowered, or the error gives the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Measure, Quantize
from aot.testing.fixtures import model

_GENERATOR = torch.Generator().manual_seed(3)
_WEIGHT = torch.randn(8, generator=_GENERATOR)
_INDEX = torch.tensor([1, 0, 1]).reshape(1, 1, 1, 1, 1, 3)
_LAST = torch.channels_last
_SIX, _ROWS, _IMAGE = (2, 1, 1, 1, 1, 3), (3, 8), (2, 3, 4, 4)

Case = tuple[Callable[..., Any], tuple[int, ...]]

INT8: dict[str, Case] = {
    "a number divided down": (lambda x: 5 // (x.abs() + 0.5), _ROWS),
    "a number divided to zero": (
        lambda x: torch.div(torch.tensor(5.0), x.abs() + 0.5, rounding_mode="trunc"),
        _ROWS,
    ),
    "a number's power": (lambda x: 2**x, _ROWS),
    "polygamma": (lambda x: torch.polygamma(1, x.abs() + 1.0), _ROWS),
    "zeta": (lambda x: torch.special.zeta(2.0, x.abs() + 1.0), _ROWS),
    "along a dimension of six": (lambda x: torch.take_along_dim(x, x.argsort(5), 5), _SIX),
    "gathered of six": (lambda x: x.gather(0, x.argsort(0)), _SIX),
    "gathered by constants": (lambda x: x.gather(0, _INDEX), _SIX),
    "integers summed up of six": (lambda x: (x > 0).long().cumsum(5), _SIX),
    "a vector for a weight": (lambda x: F.linear(x, _WEIGHT), _ROWS),
    "two vectors": (lambda x: F.linear(x, _WEIGHT), (8,)),
    "a mask's copy channels last": (
        lambda x: (x > 0).to(torch.float32, memory_format=_LAST),
        _IMAGE,
    ),
    "integers channels last": (lambda x: (x * 3).long(memory_format=_LAST), _IMAGE),
    "doubles channels last": (lambda x: x.double().to(x.dtype, memory_format=_LAST) * 2, _IMAGE),
    "valid windows of volumes": (nn.Conv3d(2, 3, 3, padding="valid"), (1, 2, 4, 6, 6)),
}

FLOAT32: dict[str, Case] = {
    "a number divided down": INT8["a number divided down"],
    "a number's power": INT8["a number's power"],
    "the rest of a number": (lambda x: 5 % (x.abs() + 0.5), _ROWS),
    "the rest by a number": (lambda x: x % 0.7 + torch.fmod(x, 0.7), _ROWS),
    "the rest by values": (lambda x: torch.fmod(x, x[:1].abs() + 0.5), _ROWS),
    "along a dimension of six": INT8["along a dimension of six"],
    "a vector for a weight": INT8["a vector for a weight"],
    "two vectors": INT8["two vectors"],
    "a sum with its type": (lambda x: x.sum(1, dtype=torch.float32), _ROWS),
    "a sum of all with its type": (lambda x: x.sum(dtype=torch.float32), _ROWS),
    "a mask's copy channels last": INT8["a mask's copy channels last"],
}

REFUSED: dict[str, tuple[Case, str, str]] = {
    "polygamma": (INT8["polygamma"], "float32", "polygamma.*no float kernel"),
    "zeta": (INT8["zeta"], "float32", "special_zeta.*no float kernel"),
    "one hot of six": (
        (lambda x: F.one_hot((x > 0).long(), 2), _SIX),
        "int8",
        r"one_hot.* -> int64\[2, 1, 1, 1, 1, 3, 1\]: it works on a tensor of more than 6 dim",
    ),
    "integers stacked to seven": (
        (lambda x: torch.stack([(x > 0).int(), (x < 0).int()]), _SIX),
        "int8",
        "stack.*: it works on a tensor of more than 6 dimensions",
    ),
}


def lowered(case: Case, quantization: str) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The model's values of all samples, and the reference's."""
    function, shape = case
    net = function.eval() if isinstance(function, nn.Module) else model(function)
    generator = torch.Generator().manual_seed(1)
    data = [(torch.randn(shape, generator=generator),) for _ in range(8)]
    given = lower(
        net,
        data[0],
        calibration=data,
        quantize=Quantize(quantization=quantization),
        measure=Measure(per_op=False),
    )
    results = [given.dequantize_outputs(given.reference(sample))[0] for sample in data]
    with torch.no_grad():
        return [net(*sample) for sample in data], results


@pytest.mark.parametrize("name", INT8)
def test_it_lowers(name: str) -> None:
    # lower() itself refuses a result below 10 dB
    expected, actual = lowered(INT8[name], "int8")
    for y, given in zip(expected, actual, strict=True):
        assert given.shape == y.shape
        if not y.is_floating_point():
            assert (given == y).float().mean() > 0.9


@pytest.mark.parametrize("name", FLOAT32)
def test_it_stays_float(name: str) -> None:
    expected, actual = lowered(FLOAT32[name], "float32")
    for y, given in zip(expected, actual, strict=True):
        assert given.shape == y.shape
        # sums in another order, and exp(x log 2)
        assert torch.allclose(given.double(), y.double(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", REFUSED)
def test_an_error_says_why(name: str) -> None:
    case, quantization, message = REFUSED[name]
    with pytest.raises(LoweringError, match=message):
        lowered(case, quantization)
