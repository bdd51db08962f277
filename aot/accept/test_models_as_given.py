# SPDX-License-Identifier: Apache-2.0
"""Models that went through other tools of torch: compiled, exported, observed, changed by .data, or
with a loss at the end.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.ao.quantization as ao
import torch.nn.functional as F
from torch import nn

from aot.accept.torch_compile import original
from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Measure
from aot.testing.fixtures import model, samples

DATA = samples((2, 6))


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3)).eval()


def lowered(module: Any) -> bytes:
    return lower(module, DATA[0], calibration=DATA, measure=Measure(per_op=False)).pte


def test_compiled_models_are_what_was_compiled() -> None:
    calls: list[object] = []

    def compiler(graph: torch.fx.GraphModule, _: object) -> Any:
        calls.append(graph)
        return graph.forward

    net = network()
    whole: Any = torch.compile(net, backend=compiler)
    assert original(whole) is net
    assert lowered(whole) == lowered(net)
    in_place = network()
    in_place.compile(backend=compiler)
    for other in (nn.Sequential(whole).eval(), in_place):
        assert len(lowered(other)) > 0
    assert calls == []
    whole(*DATA[0])
    assert len(calls) == 1


def test_exported_modules_are_taken() -> None:
    program = torch.export.export(network(), DATA[0])
    expected = len(lowered(program))
    assert len(lowered(program.module())) == expected
    assert len(lowered(torch.export.unflatten(program))) == expected
    around = nn.Sequential(program.module(), nn.Tanh())
    with pytest.raises(LoweringError, match=r"mode \(the model, 1\). Set part.training = False"):
        lowered(around)
    for part in around.modules():
        part.training = False
    assert len(lowered(around)) > 0


def prepared(prepare: Callable[..., Any], config: Any) -> nn.Module:
    net = nn.Sequential(nn.Linear(6, 6), nn.ReLU()).train(prepare is ao.prepare_qat)
    vars(net)["qconfig"] = config
    prepare(net, inplace=True)
    net(torch.randn(9, 6))
    return net.eval()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: prepared(ao.prepare, ao.get_default_qconfig("fbgemm")),
            r"^0.activation_post_process is a HistogramObserver \(an observer of torch.ao",
        ),
        (
            lambda: prepared(ao.prepare_qat, ao.get_default_qat_qconfig("fbgemm")),
            r"^0.weight_fake_quant is a Fused.*\(a fake quantizer of torch.ao.*\). Pass the",
        ),
        (lambda: nn.Sequential(ao.FakeQuantize()).train(), r"^0 is a FakeQuantize \(a fake quan"),
    ],
)
def test_observers_and_fake_quantizers_are_left_out(
    make: Callable[[], nn.Module], message: str
) -> None:
    with pytest.raises(LoweringError, match=message):
        lowered(make())


class Changed(nn.Module):
    """Its forward changes its state, or its weights."""

    steps: torch.Tensor

    def __init__(self, change: Callable[[Any, torch.Tensor], object]) -> None:
        super().__init__()
        self.register_buffer("steps", torch.zeros(6))
        torch.manual_seed(0)
        self.layer = nn.Linear(6, 6)
        self.change = change

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.change(self, x)
        return torch.add(self.layer(x), self.steps)


def added(m: Any, x: torch.Tensor) -> None:
    m.steps.data += x.mean(0)


def assigned(m: Any, x: torch.Tensor) -> None:
    m.steps.data = m.steps * 0.5 + x.mean(0)


def replaced(m: Any, x: torch.Tensor) -> None:
    m.layer.weight.data = m.layer.weight.data * 0.5


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (lambda m, x: m.steps.data.add_(x.mean(0)), lambda m, x: m.steps.add_(x.mean(0))),
        (added, lambda m, x: m.steps.add_(x.mean(0))),
        (lambda m, x: m.steps.data.copy_(x[0]), lambda m, x: m.steps.copy_(x[0])),
        (
            lambda m, x: m.steps.data.__setitem__(slice(2, 4), x[0, :2]),
            lambda m, x: m.steps.__setitem__(slice(2, 4), x[0, :2]),
        ),
        (lambda m, x: x.add_(m.layer.bias.data), lambda m, x: x.add_(m.layer.bias)),
    ],
)
def test_data_is_the_memory_of_its_tensor(change: Any, same: Any) -> None:
    assert lowered(Changed(change).eval()) == lowered(Changed(same).eval())


@pytest.mark.parametrize("change", [assigned, replaced])
def test_other_data_is_not_given(change: Callable[[Any, torch.Tensor], object]) -> None:
    message = (
        r"^the model assigns a tensor's \.data; torch.export does not see it\n"
        rf"    at test_models_as_given.py:\d+ in {change.__name__}: .*\.data = .*\n"
        r"    instead: .*self\.state\.copy_\(value\) in place of self\.state\.data = value"
    )
    with pytest.raises(LoweringError, match=message):
        lowered(Changed(change).eval())


def test_data_of_weights_stays() -> None:
    with pytest.raises(LoweringError, match=r"^the model changes its parameter layer\.weight"):
        lowered(Changed(lambda m, x: m.layer.weight.data.mul_(0.5)).eval())


class Loss(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(x * 2.0, torch.tanh(x))


def test_losses_are_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        lowered(Loss().eval())
    said = [m for m in caplog.messages if "computes a loss" in m]
    assert len(said) == 1
    assert "mse_loss (at test_models_as_given.py:" in said[0]
    with pytest.raises(LoweringError, match=r"computes a loss \(gaussian_nll_loss\)\n.*\n.*inst"):
        lowered(model(lambda x: F.gaussian_nll_loss(x, x * 0.5, x.exp())))
