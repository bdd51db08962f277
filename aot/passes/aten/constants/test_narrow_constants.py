# SPDX-License-Identifier: Apache-2.0
"""Constants of float16 and float64 become float32, and so do results computed from them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from aot.accept.export import export_aten
from aot.errors import LoweringError
from aot.lower import lower
from aot.testing.fixtures import samples

C = torch.linspace(0.5, 2.0, 8, dtype=torch.float64)
TURNS = torch.polar(torch.ones(4, dtype=torch.float64), C[:4])


class Takes(nn.Module):
    """A function of a value and a constant, plain or a buffer."""

    def __init__(self, function: Callable[..., Tensor], constant: Tensor, is_buffer: bool) -> None:
        super().__init__()
        self._function = function
        if is_buffer:
            self.register_buffer("c", constant)
        else:
            self.c = constant

    def forward(self, x: Tensor) -> Tensor:
        return self._function(x, self.c)


def turned(x: Tensor, c: Tensor) -> Tensor:
    return torch.view_as_real(torch.view_as_complex(x.reshape(-1, 4, 2)) * c).flatten(1)


# name: (function of a value and a constant, constant)
TAKEN: dict[str, tuple[Callable[..., Tensor], Tensor]] = {
    "float64": (lambda x, c: x + c, C),
    "float16": (lambda x, c: x * c, C.half()),
    "bfloat16": (lambda x, c: x * c, C.bfloat16()),
    "complex128": (turned, TURNS),
    "several ops": (lambda x, c: torch.relu((x - c) / c).amax(1), C),
    "parts": (lambda x, c: (x + c).chunk(2, 1)[1], C),
    "cast behind": (lambda x, c: (x * c.sin()).float(), C),
    "table": (lambda x, c: c[x.argmax(1)], C),
    "mask of it": (lambda x, c: torch.where(x > c, x, c), C),
}


@pytest.mark.parametrize("is_buffer", [False, True])
@pytest.mark.parametrize("name", TAKEN)
def test_constants_become_float32(name: str, is_buffer: bool) -> None:
    function, constant = TAKEN[name]
    x = samples((4, 8), count=1)[0]
    module = export_aten(Takes(function, constant, is_buffer).eval(), x)
    values = [n.meta["val"] for n in module.graph.nodes if isinstance(n.meta.get("val"), Tensor)]
    assert not {v.dtype for v in values} - {torch.float32, torch.bool, torch.int64}
    expected = function(*x, constant)
    assert torch.allclose(module(*x).to(expected.dtype), expected, rtol=1e-5, atol=1e-6)


def test_artefact_is_near() -> None:
    given = samples((4, 8))
    lowered = lower(Takes(lambda x, c: x * c, C, True).eval(), given[0], calibration=given)
    assert (lowered.quality.outputs[0].sqnr_db or 0.0) > 30.0


def test_too_large_for_float32() -> None:
    model = Takes(lambda x, c: x + c, C * 1e300, True).eval()
    with pytest.raises(LoweringError, match=r"c \(float64\[8\]\) holds 5e\+299, and float32 ends"):
        export_aten(model, samples((4, 8), count=1)[0])


def test_what_the_model_casts_stays() -> None:
    module = export_aten(Takes(lambda x, c: x.double() + c, C, False).eval(), samples((4, 8))[0])
    assert torch.float64 in {n.meta["val"].dtype for n in module.graph.nodes if "val" in n.meta}
