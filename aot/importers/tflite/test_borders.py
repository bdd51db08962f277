# SPDX-License-Identifier: Apache-2.0
"""uint8 borders, integers without a scale and computed shapes, against TFLite Micro."""

from __future__ import annotations

import numpy as np
import pytest

from aot.importers.tflite.testing.borders import (
    FILES,
    MOVES,
    computed_size,
    moved,
    unscaled_quantize,
    wide_softmax,
)
from aot.importers.tflite.testing.oracle import differences, ours, random_runs, tflm


@pytest.mark.parametrize("name", FILES)
def test_has_tflite_micros_bits(name: str) -> None:
    assert differences(FILES[name]().bytes(), count=4) == []


@pytest.mark.parametrize("name", MOVES)
def test_bytes_are_moved_as_int8(name: str) -> None:
    narrow, unsigned = (moved(t, name, *MOVES[name]).bytes() for t in (np.int8, np.uint8))
    runs = random_runs(narrow)
    for (own,), (theirs,) in zip(ours(unsigned, runs), tflm(narrow, runs), strict=True):
        np.testing.assert_array_equal(own, theirs)


def test_a_computed_size_is_a_constant() -> None:
    """TFLite Micro refuses it, and takes the constant."""
    computed, constant = (computed_size(by_ops).bytes() for by_ops in (True, False))
    runs = random_runs(constant)
    for (own,), (theirs,) in zip(ours(computed, runs), tflm(constant, runs), strict=True):
        np.testing.assert_array_equal(own, theirs)


@pytest.mark.parametrize("scale", [0.01, 0.1, 2.0])
def test_probabilities_of_16_bits_are_halved(scale: float) -> None:
    """(q + 32768) / 2 of TFLite Micro's, within the half that is lost."""
    data = wide_softmax(scale=scale).bytes()
    runs = random_runs(data)
    for (own,), (theirs,) in zip(ours(data, runs), tflm(data, runs), strict=True):
        half = np.minimum((theirs.astype(np.float64) + 2**15) / 2, 2**15 - 1)
        assert np.abs(own - half).max() <= 0.5


def test_integers_without_a_scale_are_quantized_to_zero() -> None:
    """TFLite Micro takes the scale for 0."""
    data = unscaled_quantize().bytes()
    assert differences(data, count=4) == []
