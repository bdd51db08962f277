# SPDX-License-Identifier: Apache-2.0
"""Common properties of the ready-made models, and the published sizes of the MLPerf Tiny networks.

Published means the reference definitions in mlcommons/tiny (benchmark/training). Parameters are
counted like Keras, with moving statistics. MACs are those of convolutions and dense layers.
"""

import hashlib
import importlib
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from types import ModuleType

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode


@dataclass(frozen=True)
class Published:
    """Published numbers of a network."""

    model: str
    input_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    parameters: int
    macs: int


MLPERF_TINY = (
    Published("ds_cnn", (1, 1, 49, 10), (1, 12), 24_908, 2_656_768),
    Published("mobilenet_v1", (1, 3, 96, 96), (1, 2), 221_794, 7_489_664),
    Published("resnet8", (1, 3, 32, 32), (1, 10), 78_666, 12_501_632),
    Published("deep_autoencoder", (1, 640), (1, 640), 269_992, 264_192),
)
MODELS = ("digits", *(network.model for network in MLPERF_TINY))


def load(model: str) -> ModuleType:
    return importlib.import_module(f"aot.models.{model}.model")


@cache
def network(model: str) -> nn.Module:
    made: nn.Module = load(model).factory()
    return made


@cache
def calibration(model: str) -> list[tuple[torch.Tensor, ...]]:
    return list(load(model).calibration())


def digest(model: str) -> str:
    """One hash of a model's weights and calibration data."""
    tensors = [*network(model).state_dict().values()]
    tensors += [tensor for inputs in calibration(model) for tensor in inputs]
    return hashlib.sha256(b"".join(tensor.numpy().tobytes() for tensor in tensors)).hexdigest()


@pytest.mark.parametrize("published", MLPERF_TINY, ids=lambda published: published.model)
def test_is_the_published_network(published: Published) -> None:
    module = network(published.model)
    ((example,), *_) = calibration(published.model)
    with FlopCounterMode(display=False) as counter:
        output = module(example)
    state = [*module.parameters(), *(b for b in module.buffers() if b.is_floating_point())]
    assert tuple(example.shape) == published.input_shape
    assert tuple(output.shape) == published.output_shape
    assert sum(tensor.numel() for tensor in state) == published.parameters
    assert counter.get_total_flops() == 2 * published.macs


@pytest.mark.parametrize("model", MODELS)
def test_keeps_the_contract(model: str) -> None:
    module, seen = network(model), calibration(model)
    assert not any(layer.training for layer in module.modules())
    held_out = list(load(model).test_inputs())
    assert 32 <= len(seen) <= 100
    assert len(held_out) >= 4
    for (tensor,) in seen + held_out:
        assert tensor.dtype == torch.float32
        assert tensor.shape == seen[0][0].shape
        assert tensor.is_contiguous()
    for (tensor,) in held_out:
        assert not any(torch.equal(tensor, other) for (other,) in seen)
    outputs = torch.cat([module(*inputs) for inputs in held_out])
    assert torch.isfinite(outputs).all()
    assert outputs.std(dim=0).max() > 0


@pytest.mark.parametrize("model", MODELS)
def test_batch_norm_statistics_are_not_trivial(model: str) -> None:
    for layer in network(model).modules():
        if isinstance(layer, nn.BatchNorm1d | nn.BatchNorm2d):
            assert layer.running_mean is not None and layer.running_var is not None
            for tensor in (layer.running_mean, layer.running_var, layer.weight, layer.bias):
                assert tensor.std() > 0
            assert (layer.running_var > 0).all()


def test_is_the_same_on_every_core() -> None:
    """The bits are the same with torch's selected kernels and with its portable ones."""
    script = f"from aot.models.test_models import *; print(*map(digest, {MODELS!r}))"
    portable = {
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "COMPATIBLE",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    result = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | portable,
        capture_output=True,
        text=True,
        check=True,
    )
    digests = dict(zip(MODELS, result.stdout.split(), strict=True))
    assert digests == {model: digest(model) for model in MODELS}
