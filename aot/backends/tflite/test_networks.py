# SPDX-License-Identifier: Apache-2.0
"""The networks of MLPerf Tiny as .tflite files, with TFLite Micro's bits."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

from aot.importers.tflite.importing import import_tflite
from aot.importers.tflite.testing.graphs import described
from aot.importers.tflite.testing.oracle import tflm
from aot.lower import lower
from aot.options import Io, Measure

_SAMPLES = 16


@pytest.mark.parametrize("name", ["ds_cnn", "mobilenet_v1", "resnet8", "deep_autoencoder"])
def test_network(name: str) -> None:
    module = importlib.import_module(f"aot.models.{name}.model")
    data = list(module.calibration())[:_SAMPLES]
    lowered = lower(
        module.factory(),
        data[0],
        target="tflite",
        calibration=data,
        io=Io(io_layout="nhwc"),
        measure=Measure(per_op=False, min_sqnr=-math.inf, min_agreement=0.0),
    )
    assert lowered.exported is not None
    inputs = [lowered.quantize_inputs(lowered.moved.taken(sample)) for sample in data]
    expected = tflm(lowered.exported, [[x.numpy() for x in sample] for sample in inputs])
    for sample, theirs in zip(inputs, expected, strict=True):
        for a, b in zip(lowered.reference(sample), theirs, strict=True):
            np.testing.assert_array_equal(a.numpy(), b)
    assert described(import_tflite(lowered.exported)) == described(lowered.module)
