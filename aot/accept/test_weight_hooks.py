# SPDX-License-Identifier: Apache-2.0
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import prune

from aot.accept.weight_hooks import hooked_weights_kept
from aot.lower import lower


def _weight_norm(layer: nn.Module) -> nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # it recommends the parametrization
        return nn.utils.weight_norm(layer)


def _prune(layer: nn.Module) -> nn.Module:
    prune.l1_unstructured(layer, "weight", 0.5)
    prune.random_unstructured(layer, "weight", 0.2)  # a container of two from here on
    return layer


class _Net(nn.Module):
    def __init__(self, norm: Callable[[nn.Module], nn.Module]) -> None:
        super().__init__()
        self.conv = norm(nn.Conv1d(4, 8, 3))
        self.head = norm(nn.Linear(8, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.head(torch.relu(self.conv(x)).mean(2))
        return y


@pytest.mark.parametrize("norm", [_weight_norm, nn.utils.spectral_norm, _prune])
def test_weights_of_hooks_are_constants(norm: Callable[[nn.Module], nn.Module]) -> None:
    torch.manual_seed(0)
    model = _Net(norm).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("weight_g", "weight_orig")):
                parameter.mul_(3.0)  # since then no call has computed the weights
    samples = [(torch.randn(1, 4, 20),) for _ in range(32)]
    lowered = lower(model, samples[0], calibration=samples)
    moves = ("pl.reshape", "pl.transpose")
    ops = [op["op"] for op in lowered.report["ops"] if op["op"] not in moves]
    assert ops == ["pl.conv2d", "pl.mean", "pl.linear"]
    sqnr = lowered.quality.outputs[0].sqnr_db
    assert sqnr is not None and sqnr > 30


def test_weights_of_hooks_of_a_recurrent_layer_are_those_of_now() -> None:
    torch.manual_seed(0)
    layer = nn.LSTM(3, 5, batch_first=True)
    for name in ("weight_ih_l0", "weight_hh_l0"):
        nn.utils.weight_norm(layer, name)
    with torch.no_grad():
        layer.weight_hh_l0_g.mul_(3.0)  # type: ignore[operator]
    samples = [(torch.randn(1, 6, 3),) for _ in range(32)]
    lowered = lower(layer.eval(), samples[0], calibration=samples)
    assert "pl.lstm" in [op["op"] for op in lowered.report["ops"]]
    for output in lowered.quality.outputs:
        assert output.sqnr_db is not None and output.sqnr_db > 30


@pytest.mark.parametrize("norm", [_weight_norm, nn.utils.spectral_norm, _prune])
def test_the_model_is_as_it_was(norm: Callable[[nn.Module], nn.Module]) -> None:
    model = _Net(norm).eval()
    conv: Any = model.conv
    x = torch.randn(1, 4, 20)
    expected, state = model(x), {k: v.clone() for k, v in model.state_dict().items()}
    with hooked_weights_kept(model):
        assert "conv.weight" in dict(model.named_parameters())
        torch.testing.assert_close(model(x), expected, rtol=0, atol=0)
    assert "weight" not in dict(conv.named_parameters())
    torch.testing.assert_close(dict(model.state_dict()), state, rtol=0, atol=0)
    with torch.no_grad():
        conv.bias.add_(1.0)
        for name, parameter in model.named_parameters():
            if "weight_" in name:
                parameter.mul_(2.0)
    assert not torch.equal(model(x), expected)  # hooks compute again
