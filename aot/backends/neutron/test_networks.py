# SPDX-License-Identifier: Apache-2.0
"""The networks of MLPerf Tiny on a Neutron NPU: each is one delegate, whatever its layout."""

from __future__ import annotations

import importlib
import itertools
import os
from functools import partial
from typing import Any

import pytest
import torch

from aot.backends.neutron.test_backend import TARGET, check_against_tflm, delegates, lowered_for
from aot.dialect.graph import dialect_op
from aot.partition.testing import calls

# First ops of MLPerf Tiny's networks, by the layout of the model's input.
NETWORKS = {
    "ds_cnn": ["reshape"],
    "mobilenet_v1": ["transpose"],
    "resnet8": ["transpose"],
    "deep_autoencoder": [],
}


LAYOUTS = ("nchw", "channels_last", "nhwc")


def _cases() -> list[Any]:
    """Return every network in each of its layouts, for images. Slow ones belong to the target
    `nightly`.
    """
    cases = []
    for name, layout in itertools.product(NETWORKS, LAYOUTS):
        images, first = name != "deep_autoencoder", layout == LAYOUTS[0]
        if first or (images and (name != "mobilenet_v1" or "NIGHTLY" in os.environ)):
            cases.append((name, layout))
    return cases


@pytest.mark.parametrize(("name", "layout"), _cases())
def test_a_network_is_one_delegate(name: str, layout: str) -> None:
    network = importlib.import_module(f"aot.models.{name}.model")
    data = [next(iter(network.calibration()))] * 2
    if layout == "channels_last":
        last = partial(torch.Tensor.to, memory_format=torch.channels_last)
        data = [tuple(map(last, sample)) for sample in data]
    kept = "nhwc" if layout == "nhwc" else "keep"
    lowered = lowered_for(
        network.factory(), data[0], target=TARGET, calibration=data, io_layout=kept
    )
    (delegate,) = delegates(lowered.module)
    moved = NETWORKS[name] == ["transpose"]
    left = [op.removesuffix("_to_nhwc") for op in calls(lowered.module).cpu]
    assert left == (["channels_last"] if layout == "channels_last" and moved else [])
    ops = [op.name for n in delegate.region.graph.nodes if (op := dialect_op(n))]
    assert ops[: len(NETWORKS[name])] == (NETWORKS[name] if layout == "nchw" else ops[:1])
    assert ops[-1] == ("linear" if name == "deep_autoencoder" else "softmax")
    check_against_tflm(delegate)
