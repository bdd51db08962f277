# SPDX-License-Identifier: Apache-2.0
"""Quantization-aware training: its gains, its limits, and its equivalence to training the model
itself.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.fx import GraphModule

from aot.accept.calibration import calibrate
from aot.accept.export import export_aten
from aot.lower import Lowered, lower
from aot.options import Measure, Quantize
from aot.quantizer.quantizer import Int8Quantizer
from aot.quantizer.recipe import Recipe
from aot.quantizer.training import Batches, Trainable
from aot.testing.fixtures import lower_with, model, op_counts, samples
from aot.upstream.torch import tree_map
from aot.upstream.torchao import prepare_pt2e

IMAGE = (1, 1, 8, 8)


class Net(nn.Module):
    """Its first BatchNorm and the layer after it have channels of very different scale."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Conv2d(16, 16, 3, stride=2, padding=1, groups=16, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU6(),
            nn.Conv2d(16, 16, 1),
            nn.BatchNorm2d(16),
            nn.Hardswish(),
            nn.AvgPool2d(4),
            nn.Flatten(),
            nn.Linear(16, 10),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.layers(x)
        return result


@functools.cache
def digits() -> tuple[torch.Tensor, torch.Tensor]:
    pixels, labels = load_digits(return_X_y=True)
    return torch.tensor(pixels / 16.0, dtype=torch.float32).reshape(-1, *IMAGE[1:]), torch.tensor(
        labels
    )


def learn(module: nn.Module, epochs: int = 3) -> None:
    """Batches of 64 of the first 1,000, the last one smaller."""
    images, labels = digits()
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-2)
    for _ in range(epochs):
        for batch in torch.randperm(1000).split(64):
            optimizer.zero_grad()
            F.cross_entropy(module(images[batch]), labels[batch]).backward()
            optimizer.step()


@functools.cache
def trained() -> Net:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = Net().train()
        learn(net, 20)
    scales = 10.0 ** torch.linspace(-1.2, 1.2, 16)
    with torch.no_grad():
        layers: Any = net.layers
        layers[1].weight.mul_(scales)
        layers[1].bias.mul_(scales)
        layers[3].weight.div_(scales.reshape(-1, 1, 1, 1))
    return net.eval()


@functools.cache
def lowered(train: Callable[[nn.Module], None] | None) -> Lowered:
    images, _ = digits()
    data = [(x,) for x in images[:48].split(1)]
    limits = {"min_sqnr": -100.0, "min_agreement": 0.0, "per_op": False}
    return lower_with(trained(), data[0], calibration=data, train=train, **limits)


def right(result: Lowered) -> float:
    """Share of the held-out images."""
    images, labels = digits()
    given = [int(result.reference([x])[0].argmax()) for x in images[1400:1600].split(1)]
    return float((torch.tensor(given) == labels[1400:1600]).double().mean())


def test_training_repairs_badly_scaled_channels() -> None:
    before, after = right(lowered(None)), right(lowered(learn))
    assert before < 0.6, "the net is built to need it"
    assert after > 0.8
    # Measured against the trained model.
    assert (lowered(learn).quality.outputs[0].sqnr_db or 0.0) > 10.0


def test_training_leaves_the_model_and_makes_the_same_graph() -> None:
    before = copy.deepcopy(trained().state_dict())
    result = lowered(learn)
    assert all(torch.equal(v, before[k]) for k, v in trained().state_dict().items())
    assert op_counts(result.module) == op_counts(lowered(None).module)


def test_the_same_loop_gives_the_same_bytes() -> None:
    torch.rand(3)  # whatever the random numbers were before
    assert lowered.__wrapped__(learn).pte == lowered(learn).pte


def trainable(module: nn.Module, data: list[tuple[torch.Tensor, ...]]) -> Trainable:
    recipe = Recipe.of(training=True)

    def prepare(inputs: Sequence[torch.Tensor]) -> GraphModule:
        aten = export_aten(module, inputs)
        prepared: GraphModule = prepare_pt2e(aten, Int8Quantizer(None, recipe))
        return prepared

    deployed = prepare(data[0])
    calibrate(deployed, data, data[0])
    return Trainable(deployed, Batches(prepare, lambda *inputs: inputs))


PARTS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "convolution": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)), (3, 5, 6)),
    "without a bias": (
        lambda: nn.Sequential(nn.Conv2d(4, 4, 3, groups=4, bias=False), nn.BatchNorm2d(4)),
        (4, 5, 5),
    ),
    "one dimension": (lambda: nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4)), (2, 9)),
    "transposed": (
        lambda: nn.Sequential(nn.ConvTranspose2d(3, 4, 3, 2), nn.BatchNorm2d(4)),
        (3, 5, 6),
    ),
    "transposed in groups": (
        lambda: nn.Sequential(
            nn.ConvTranspose2d(4, 6, 2, 2, groups=2, bias=False), nn.BatchNorm2d(6)
        ),
        (4, 3, 3),
    ),
    "transposed, one dimension": (
        lambda: nn.Sequential(nn.ConvTranspose1d(2, 4, 3), nn.BatchNorm1d(4)),
        (2, 9),
    ),
    "linear": (lambda: nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5, momentum=0.3)), (6,)),
    "mean of all batches": (
        lambda: nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5, momentum=None)),
        (6,),
    ),
    "of the last batch": (
        lambda: nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5, momentum=1)),
        (6,),
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_folded_batch_norm_trains_as_itself(name: str) -> None:
    """Without quantization, outputs, gradients and statistics are the same."""
    make, shape = PARTS[name]
    net = model(lambda part, x: part(x), make())
    graph = trainable(net, samples((1, *shape), count=2))
    own = copy.deepcopy(net).train()
    for (x,) in samples((6, *shape), count=3):
        expected, actual = own(x), graph(x)
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)
    live: Any = next(iter(graph.norms.values()))
    parts: Any = own.parts
    layer, norm = parts[0]
    torch.testing.assert_close(live.mean, norm.running_mean, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(live.variance, norm.running_var, rtol=1e-4, atol=1e-4)
    graph(x).square().sum().backward()
    own(x).square().sum().backward()
    torch.testing.assert_close(
        live.weight.grad.flatten(), layer.weight.grad.flatten(), rtol=1e-3, atol=1e-3
    )
    torch.testing.assert_close(live.scale.grad, norm.weight.grad, rtol=1e-3, atol=1e-3)


SIZED: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "windows that overlap along the depth": (
        lambda: nn.ConvTranspose3d(2, 3, 3, 2),
        (2, 2, 3, 3),
    ),
    "zeros that are added to": (lambda: _Added(), (4,)),
}


class _Added(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = torch.tensor([0, 2, 0, 1, 2, 2])
        return torch.zeros(x.shape[0], 3).index_add(1, places, self.layer(x))


@pytest.mark.parametrize("name", SIZED)
def test_constants_of_the_size_of_the_batch(name: str) -> None:
    make, shape = SIZED[name]
    net = model(lambda part, x: part(x), make())
    graph = trainable(net, samples((1, *shape), count=2))
    for size in (1, 5, 2):
        ((x,),) = samples((size, *shape), count=1)
        torch.testing.assert_close(graph(x), net(x), rtol=1e-4, atol=1e-4)


def test_a_layer_in_float_trains_with_its_batch_norm() -> None:
    """The lowered weights are the trained ones."""
    float_layer = {"default": "int8", "parts.0": "float32"}
    net = model(lambda part, x: part(x), nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)))
    data = samples((1, 3, 5, 6), count=24)
    seen: list[Any] = []

    def train(module: nn.Module) -> None:
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        (x,) = samples((8, 3, 5, 6), count=1)[0]
        before = {name: p.detach().clone() for name, p in module.named_parameters()}
        for _ in range(4):
            optimizer.zero_grad()
            (module(x) - x[:, :1, 1:-1, 1:-1]).square().mean().backward()
            optimizer.step()
        seen.append([n for n, p in module.named_parameters() if torch.equal(p, before[n])])
        seen.append(module.eval()(x[:1]).detach())
        seen.append(x[:1])

    result = lower(
        net, data[0], calibration=data, quantize=Quantize(train=train, quantization=float_layer)
    )
    unmoved, expected, x = seen
    assert not unmoved
    # Only input and output are quantized, in steps of 1/50 or less.
    torch.testing.assert_close(result.floats(x), expected, rtol=0.0, atol=0.1)


def one_step(seen: list[bool]) -> Callable[[nn.Module], None]:
    """Return a training loop of one step. It records whether all results of the step are finite."""

    def train(module: nn.Module) -> None:
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        for _ in range(3):
            (x,) = samples((8, 3, 6), count=1)[0]
            optimizer.zero_grad()
            module(x).square().mean().backward()
            optimizer.step()
        seen.append(all(bool(p.isfinite().all()) for p in module.parameters()))

    return train


ENDLESS: dict[str, Callable[..., torch.Tensor]] = {
    "softmax": lambda a, x: a(x).masked_fill(torch.ones(3, 6).triu(1) > 0, -torch.inf).softmax(2),
    "the largest": lambda a, x: a(x).masked_fill(x > 1.5, -torch.inf).amax(2).clamp(min=-3.0),
    "the smallest": lambda a, x: torch.minimum(a(x), torch.where(x > 0, torch.inf, x)),
    "an output": lambda a, x: (a(x) * 0.5).masked_fill(x > 1.5, -torch.inf).clamp(min=-9.0),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_training_goes_on_behind_infinite_fills(name: str) -> None:
    net = model(ENDLESS[name], nn.Linear(6, 6))
    data, seen = samples((1, 3, 6), count=24), [True]
    result = lower(
        net,
        data[0],
        calibration=data,
        quantize=Quantize(train=one_step(seen)),
        measure=Measure(min_agreement=0.0),
    )
    assert seen == [True, True]
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 20.0


def test_ranges_follow_what_trains() -> None:
    """Outputs that grow to eight times their size in a few steps do not saturate."""
    net, data = model(lambda a, x: a(x), nn.Linear(6, 3)), samples((1, 6), count=24)

    def train(module: nn.Module) -> None:
        (x,) = samples((32, 6), count=1)[0]
        with torch.no_grad():
            for step in range(40):
                for parameter in module.parameters():
                    parameter.mul_(1.23 if step < 10 else 1.0)
                module(x)

    result = lower(net, data[0], calibration=data, quantize=Quantize(train=train))
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 20.0
    assert not [f for f in result.quality.findings if f.kind == "stretched_range"]


def test_values_of_one_range_train_in_all_of_it() -> None:
    """Concatenated values have one range, including that of the larger part."""
    net = model(lambda a, x: torch.cat([a(x), x * 0.25, x[:, :2] * 8.0], 1), nn.Linear(6, 3))
    data = samples((1, 6), count=24)

    def train(module: nn.Module) -> None:
        (x,) = samples((32, 6), count=1)[0]
        for _ in range(40):
            module(x)

    result = lower(net, data[0], calibration=data, quantize=Quantize(train=train))
    assert (result.quality.outputs[0].sqnr_db or 0.0) > 30.0


class Named(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 3)

    def forward(
        self, batch: dict[str, torch.Tensor], *, gain: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        return {"logits": self.layer(batch["x"]) * gain, "mean": batch["x"].mean(1)}


def test_training_calls_the_model_as_the_user_does() -> None:
    given = []

    def train(module: nn.Module) -> None:
        (x,), (gain,) = samples((5, 6), count=1)[0], samples((5, 3), count=1)[0]
        given.append({k: v.shape for k, v in module({"x": x}, gain=gain).items()})
        with pytest.raises(TypeError, match="gain"):
            module({"x": x})

    data = [
        {"batch": {"x": x}, "gain": gain}
        for (x,), (gain,) in zip(samples((1, 6), count=24), samples((1, 3), count=24), strict=True)
    ]
    lower(
        Named().eval(),
        data[0],
        calibration=data,
        quantize=Quantize(train=train),
        measure=Measure(min_sqnr=-100.0, min_agreement=0),
    )
    assert given == [{"logits": (5, 3), "mean": (5,)}]


@pytest.mark.parametrize("several", [False, True])
def test_a_program_in_training_gives_what_it_gives(several: bool) -> None:
    given = []
    layer = nn.Linear(6, 3)
    net = model(lambda part, x: {"y": (part(x), x + 1.0)} if several else part(x), layer).eval()

    def train(module: nn.Module) -> None:
        given.append(tree_map(lambda y: y.shape, module(data[0][0])))

    data = samples((1, 6), count=24)
    program = torch.export.export(net, data[0])
    lower(
        program,
        data[0],
        calibration=data,
        quantize=Quantize(train=train),
        measure=Measure(min_sqnr=-100.0, min_agreement=0),
    )
    assert given == [{"y": ((1, 3), (1, 6))} if several else (1, 3)]


def test_in_eval_mode_nothing_moves() -> None:
    net = model(lambda part, x: part(x), nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)))
    graph = trainable(net, samples((1, 3, 5, 6), count=2)).eval()
    (x,) = samples((4, 3, 5, 6), count=1)[0]
    state = copy.deepcopy(graph.state_dict())
    torch.testing.assert_close(graph(x), net(x), rtol=1e-4, atol=1e-4)
    assert all(torch.equal(v, state[k]) for k, v in graph.state_dict().items())
