# SPDX-License-Identifier: Apache-2.0
"""Regions for a Neutron NPU, and the reasons against others, with a stand-in for NXP's
converter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule

from aot.backends.cortex_m import CORTEX_M
from aot.backends.neutron.backend import neutron
from aot.backends.neutron.testing.stand_in import SCRATCH_BYTES, converted, stand_in
from aot.backends.npus import NEUTRONS
from aot.backends.target import Target
from aot.dialect.delegate import Delegate, delegate_of
from aot.dialect.graph import dialect_op
from aot.importers.tflite.testing.oracle import tflm
from aot.lower import Lowered
from aot.partition.partition import partition
from aot.partition.testing import IMAGE, calls, everything, rewritten
from aot.targets import target_named
from aot.testing.fixtures import int8_inputs, lower_with, model, samples
from aot.upstream.executorch import deserialize_pte_binary
from aot.upstream.executorch_runtime import Runtime
from npu.neutron.payload import parse

TARGET = Target("imxrt700", (neutron("imxrt700", convert=stand_in), CORTEX_M))
lowered_for = partial(lower_with, per_op=False, min_sqnr=-math.inf, min_agreement=0.0)


def delegates(module: GraphModule) -> list[Delegate]:
    found = [delegate_of(module, node) for node in module.graph.nodes]
    return [d for d in found if d is not None]


def sent(delegate: Delegate) -> bytes:
    """Return the file sent to the converter."""
    return parse(delegate.payload.data).program.weights


def partitioned(function: Callable[..., object], *parts: nn.Module, shapes: Any) -> GraphModule:
    module = rewritten(function, *parts, shapes=shapes, traits=TARGET.traits)
    partition(module, TARGET)
    return module


def check_against_tflm(delegate: Delegate) -> None:
    """Check the sent file against the region's reference."""
    inputs = int8_inputs(delegate.region)
    expected = tflm(sent(delegate), [[x.numpy() for x in inputs]])[0]
    for own, theirs in zip(delegate(*inputs), expected, strict=True):
        np.testing.assert_array_equal(own.numpy(), theirs)


def _conv(*given: Any, **more: Any) -> nn.Module:
    return nn.Conv2d(*given, **more)


def one(layer: Any, x: torch.Tensor) -> Any:
    return layer(x)


def after(function: Callable[[torch.Tensor], Any]) -> Callable[..., Any]:
    """Return a convolution with a function after it; the convolution makes the region worth it."""
    return lambda conv, x: function(conv(x))


POINT = nn.Conv2d(3, 8, 1)

# name: function, its parts, shape of the input, ops of the only delegate
TAKEN: dict[str, tuple[Callable[..., Any], list[nn.Module], tuple[int, ...], str]] = {
    "conv": (one, [nn.Conv2d(3, 4, 3, stride=2, padding=1)], IMAGE, "conv2d"),
    "dilated": (one, [nn.Conv2d(3, 4, 3, dilation=2)], IMAGE, "conv2d"),
    "groups": (one, [nn.Conv2d(6, 4, 3, groups=2)], (1, 6, 8, 6), "conv2d"),
    "depthwise": (one, [nn.Conv2d(3, 3, 3, groups=3)], IMAGE, "depthwise_conv2d"),
    "one channel": (one, [nn.Conv2d(1, 6, 3)], (1, 1, 8, 6), "conv2d"),
    "transposed": (
        one,
        [nn.ConvTranspose2d(3, 4, 2, stride=2)],
        IMAGE,
        "transpose_conv2d",
    ),
    "transposed with padding": (
        one,
        [nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1)],
        IMAGE,
        "transpose_conv2d",
    ),
    "linear": (one, [nn.Linear(6, 4)], (2, 6), "linear"),
    "linear of one output": (one, [nn.Linear(6, 1)], (2, 6), "linear"),
    "linear of rank 3": (one, [nn.Linear(6, 4)], (1, 5, 6), "linear"),
    "bmm": (lambda a, x: a(x) @ a(x).transpose(1, 2), [nn.Linear(6, 4)], (1, 5, 6), "bmm"),
    "relu": (after(F.relu), [POINT], IMAGE, "conv2d"),
    "sigmoid": (after(torch.sigmoid), [POINT], IMAGE, "lut"),
    "tanh": (after(torch.tanh), [POINT], IMAGE, "lut"),
    "hardswish": (after(F.hardswish), [POINT], IMAGE, "lut"),
    "leaky relu": (after(F.leaky_relu), [POINT], IMAGE, "lut"),
    "max pool": (after(lambda x: F.max_pool2d(x, 2)), [POINT], IMAGE, "max_pool2d"),
    "padded max pool": (
        after(lambda x: F.max_pool2d(x, 3, 2, padding=1)),
        [POINT],
        IMAGE,
        "max_pool2d",
    ),
    "average pool": (after(lambda x: F.avg_pool2d(x, 2)), [POINT], IMAGE, "avg_pool2d"),
    "mean": (after(lambda x: x.mean((2, 3))), [POINT], IMAGE, "mean"),
    "amax": (after(lambda x: x.amax((2, 3))), [POINT], IMAGE, "amax"),
    "add": (after(lambda x: x + x.mean((2, 3), keepdim=True)), [POINT], IMAGE, "add"),
    "mul": (after(lambda x: x * x.mean((2, 3), keepdim=True)), [POINT], IMAGE, "mul"),
    "maximum": (after(lambda x: torch.maximum(x, x.flip(0))), [POINT], IMAGE, "maximum"),
    "cat": (after(lambda x: torch.cat([x, F.relu(x)], 1)), [POINT], IMAGE, "cat"),
    "pad": (after(lambda x: F.pad(x, (1, 2, 0, 1), value=0.3)), [POINT], IMAGE, "pad"),
    "nearest": (
        after(lambda x: F.interpolate(x, scale_factor=(2, 4))),
        [POINT],
        IMAGE,
        "gather",
    ),
    "bilinear": (
        after(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear")),
        [POINT],
        IMAGE,
        "resize_bilinear",
    ),
    "slice": (after(lambda x: x[:, 2:7]), [POINT], IMAGE, "slice"),
    "softmax": (lambda a, x: torch.softmax(a(x), -1), [nn.Linear(6, 10)], (2, 6), "softmax"),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_sent_has_the_bits_of_the_reference(name: str) -> None:
    function, parts, shape, op = TAKEN[name]
    torch.manual_seed(0)
    module = partitioned(function, *parts, shapes=[shape])
    told = {n.name: n.meta["not_on"] for n, inside in everything(module) if not inside}
    found = delegates(module)
    ops = [o.name for d in found for n in d.region.graph.nodes if (o := dialect_op(n))]
    assert op in ops, told
    for delegate in found:
        check_against_tflm(delegate)


def test_moves_alone_are_left() -> None:
    module = partitioned(lambda x: x.transpose(1, 2)[:, 1:3], shapes=[(1, 4, 6)])
    assert not delegates(module)
    told = {n.meta["not_on"]["neutron"] for n, _ in everything(module)}
    assert told == {"a region that only moves bytes is not worth the way"}


def test_what_the_converter_leaves_is_cut_out() -> None:
    """The converter decides: it leaves softmax, and a layer that became a convolution."""
    for builtin, op in (("SOFTMAX", "softmax"), ("CONV_2D", "linear")):
        leaves = [builtin]
        engine = neutron("imxrt700", convert=lambda t, part: converted(t, leaves=leaves))  # noqa: B023

        def forward(head: Any, x: torch.Tensor) -> torch.Tensor:
            return torch.sigmoid(torch.softmax(head(torch.tanh(x.mean(1))), -1))

        torch.manual_seed(0)
        shapes, traits = [(2, 4, 6)], TARGET.traits
        module = rewritten(forward, nn.Linear(6, 10), shapes=shapes, traits=traits)
        inputs = int8_inputs(module)
        before = module(*inputs)
        partition(module, Target("t", (engine, CORTEX_M)))
        assert calls(module).cpu == [op]
        (left,) = [n for n, inside in everything(module) if not inside]
        assert left.meta["not_on"]["neutron"] == f"NXP's converter leaves its {builtin} to the core"
        assert len(delegates(module)) == 2
        results = module(*inputs)
        assert all(int((a - b).abs().max()) <= 1 for a, b in zip(results, before, strict=True))


def _padded_net(copied: torch.memory_format | None) -> nn.Module:
    """Return a net with a copy between its pads, with or without the copy's arguments."""

    def forward(a: Any, b: Any, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(a(F.pad(x, (1, 2, 0, 1))))
        if copied is None:
            x = F.pad(x.clone(), (0, 1, 2, 0), value=0.25).contiguous()
        else:
            x = F.pad(x.clone(memory_format=copied), (0, 1, 2, 0), value=0.25)
            x = x.to(memory_format=torch.contiguous_format).contiguous(memory_format=copied)
        return b(F.max_pool2d(x, 3, 2, padding=1)).mean((2, 3))  # type: ignore[no-any-return]

    torch.manual_seed(0)
    return model(forward, nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 3, padding=1))


@pytest.mark.parametrize("copied", [None, torch.channels_last, torch.contiguous_format])
def test_pads_have_the_same_bits_in_both_layouts(copied: torch.memory_format | None) -> None:
    data = samples((1, 3, 9, 7))
    lowered: list[Lowered] = []
    for layout in (torch.contiguous_format, torch.channels_last):
        given = [tuple(x.to(memory_format=layout) for x in sample) for sample in data]
        net = _padded_net(copied)
        lowered.append(
            lowered_for(net, given[0], target=TARGET, calibration=given, io_layout="keep")
        )
        (delegate,) = delegates(lowered[-1].module)
        check_against_tflm(delegate)
    for sample in data:
        results = [one.reference(one.quantize_inputs(sample)) for one in lowered]
        assert all(map(torch.equal, *results))


def test_the_payload_and_its_needs() -> None:
    module = partitioned(one, nn.Conv2d(3, 4, 3), shapes=[IMAGE])
    (delegate,) = delegates(module)
    payload, parsed = delegate.payload, parse(delegate.payload.data)
    assert delegate.backend_id == "NeutronBackend"
    assert (payload.configuration, payload.alignment) == ("imxrt700", 16)
    fetched = -(-len(sent(delegate)) // 16) * 16
    assert payload.scratch_bytes == 1008 + fetched and SCRATCH_BYTES == 1000
    assert parsed.arguments == 1
    assert payload.report["tflite_bytes"] == payload.report["weights_bytes"] == len(sent(delegate))
    again = partitioned(one, nn.Conv2d(3, 4, 3), shapes=[IMAGE])
    assert len(delegates(again)) == 1


def test_executorch_opens_the_artefact() -> None:
    data = samples(IMAGE)
    net = model(one, nn.Conv2d(3, 4, 3))
    lowered = lowered_for(net, data[0], target=TARGET, calibration=data)
    program = deserialize_pte_binary(lowered.pte).program
    (delegate,) = program.execution_plan[0].delegates
    (own,) = delegates(lowered.module)
    assert delegate.id == "NeutronBackend"
    stored = program.backend_delegate_data[delegate.processed.index].data
    assert bytes(stored) == own.payload.data
    assert "forward" in Runtime.get().load_program(lowered.pte).method_names


def test_a_recipe_is_trained_for(tmp_path: Any) -> None:
    """QAT through the same quantizer; the batch of training is another than lowering's."""
    steps = []

    def train(module: nn.Module) -> None:
        optimizer = torch.optim.SGD(module.parameters(), 0.01)
        for seed in range(3):
            x = torch.randn(4, 3, 8, 6, generator=torch.Generator().manual_seed(seed))
            loss = module(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps.append(float(loss))

    def forward(conv: Any, norm: Any, head: Any, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(head(F.relu(norm(conv(x))).mean((2, 3))), -1)

    net = model(forward, nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Linear(4, 3))
    data = samples(IMAGE)
    lowered = lowered_for(net, data[0], target=TARGET, calibration=data, train=train)
    assert len(steps) == 3 and steps[-1] != steps[0]
    (delegate,) = delegates(lowered.module)
    assert calls(lowered.module).cpu == []
    check_against_tflm(delegate)


@pytest.mark.parametrize("name", NEUTRONS)
def test_parts_are_targets(name: str) -> None:
    target = target_named(name, neutron="auto")
    assert target.name == name
    assert [backend.name for backend in target.backends] == ["neutron", "cortex_m"]
