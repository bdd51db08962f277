# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aot.passes.aten.constants.fold_constants import fold_constants
from aot.passes.aten.decompositions.complex_to_pairs import complex_to_pairs
from aot.testing.fixtures import check_aten_pass

X = torch.randn((2, 6, 16), generator=torch.Generator().manual_seed(0))
TURN = torch.polar(torch.ones(6, 8), torch.arange(48.0).reshape(6, 8))
WINDOW = torch.hann_window(8)


def _rotated(x: torch.Tensor) -> torch.Tensor:
    pairs = torch.view_as_complex(x.reshape(2, 6, 8, 2))
    return torch.view_as_real(pairs * TURN.unsqueeze(0)).flatten(2)


LAYER = torch.nn.Linear(16, 4, dtype=torch.cfloat).requires_grad_(False)
GAIN = torch.linspace(0.0, 1.0, 16)
MODES = torch.polar(torch.ones(6, 5, 4), torch.arange(120.0).reshape(6, 5, 4)) / 6


def _fourier_layer(x: torch.Tensor) -> torch.Tensor:
    found = torch.fft.rfft(x)
    result = torch.zeros(2, 5, 9, dtype=torch.cfloat)
    result[..., :4] = torch.einsum("bix,iox->box", found[..., :4], MODES)
    there: torch.Tensor = torch.fft.irfft(result, n=16)
    return there


FUNCTIONS: dict[str, Callable[..., object]] = {
    "rotary embeddings": _rotated,
    "magnitudes": lambda x: torch.fft.rfft(x).abs(),
    "first dimension": lambda x: torch.fft.rfft(x, dim=1, norm="ortho").abs(),
    "an odd number": lambda x: torch.fft.rfft(x[..., :15], norm="forward").imag,
    "both halves": lambda x: torch.fft.fft(x).real,
    "angles": lambda x: torch.fft.rfft(x)[..., 1:-1].angle(),
    "power": lambda x: (lambda z: (z * z.conj()).real)(torch.fft.rfft(x)),
    "there and back": lambda x: torch.fft.irfft(torch.fft.rfft(x) * 0.5),
    "there and back, odd": lambda x: torch.fft.irfft(torch.fft.rfft(x, n=15), n=15),
    "filtered": lambda x: torch.fft.irfft(torch.fft.rfft(x) * torch.linspace(0.0, 1.0, 9)),
    "sums": lambda x: (torch.fft.rfft(x) - torch.fft.rfft(x.flip(-1))).abs(),
    "two dimensions": lambda x: torch.fft.fft2(x, norm="ortho").real,
    "three dimensions, halved": lambda x: torch.fft.rfftn(x[..., :15]).abs(),
    "images there and back": lambda x: torch.fft.irfft2(torch.fft.rfft2(x)[..., :6], s=(6, 10)),
    "there and back in full": lambda x: torch.fft.ifft(torch.fft.fft(x, dim=1) * GAIN).real,
    "a Fourier layer": _fourier_layer,
    "of two parts": lambda x: (torch.complex(x, x * 0.5) / torch.complex(x.abs() + 1.0, x)).imag,
    "by a real one": lambda x: torch.view_as_real(torch.complex(x, -x) / (x.abs() + 1.0)),
    "less a real one": lambda x: (x - torch.complex(x[:1], x[1:])).angle(),
    "less an imaginary number": lambda x: torch.view_as_real(x - 1j),
    "of a size and an angle": lambda x: torch.view_as_real(torch.polar(x.abs(), x)),
    "waves": lambda x: torch.exp(1j * x[..., :4]).real,
    "waves that fade": lambda x: torch.exp(torch.complex(-x.abs(), x)).imag,
    "a layer": lambda x: torch.view_as_real(LAYER(torch.complex(x, x * 0.5))),
    "a layer of real values": lambda x: LAYER(x.to(torch.cfloat)).abs(),
    "side by side": lambda x: torch.cat([torch.fft.rfft(x), x.to(torch.cfloat)], -1).abs(),
    "a mean": lambda x: torch.fft.rfft(x).mean(1).abs(),
    "a real one's size": lambda x: torch.complex(x, torch.zeros_like(x)).abs(),
    "spectrogram": lambda x: torch.stft(x[0], 8, 4, window=WINDOW, return_complex=True).abs(),
}


def _pairs(module: torch.fx.GraphModule) -> int:
    fold_constants(module)
    return complex_to_pairs(module)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_complex_is_left(name: str) -> None:
    # Sums of sixteen products in another order, and squares of them.
    changes, graph = check_aten_pass(_pairs, FUNCTIONS[name], inputs=[X], atol=5e-5)
    assert changes == 1
    values = [n.meta["val"] for n in graph.graph.nodes if "val" in n.meta]
    assert not any(value.is_complex() for value in values)


def test_others_are_left() -> None:
    changes, _ = check_aten_pass(_pairs, lambda x: torch.fft.rfft(x).sqrt().abs(), inputs=[X])
    assert changes == 0
