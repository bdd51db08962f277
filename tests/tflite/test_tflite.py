# SPDX-License-Identifier: Apache-2.0
"""Inputs and expected outputs of the boards, compared with TFLite Micro."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aot.importers.tflite.testing.oracle import tflm

_FOLDER = Path("tests/tflite")


@pytest.mark.parametrize(
    ("name", "steps"), [("filters", 0), ("network", 0), ("sequence", 1), ("streaming", 0)]
)
def test_vectors(name: str, steps: int) -> None:
    """Eight runs, one after the other; only the LSTM has different bits."""
    vectors = np.load(_FOLDER / f"{name}.vectors.npz")
    data = (_FOLDER / f"{name}.tflite").read_bytes()
    expected = tflm(data, [[x] for x in vectors["input_0"]])
    assert len(expected) == 8
    for own, (theirs,) in zip(vectors["output_0"], expected, strict=True):
        np.testing.assert_allclose(own, theirs, rtol=0, atol=steps)


def test_report() -> None:
    """Ops have the names of their index in the file. The report lists ops with different bits."""
    report = json.loads((_FOLDER / "network.report.json").read_text())
    assert report["ops"][0]["module"] == "op 0 CONV_2D (t3)"
    assert report["ops"][0]["from"] == ["tflite.CONV_2D"]
    assert report["inputs"][0]["layout"] == "nhwc"
    assert [warning["module"] for warning in report["warnings"]] == ["op 5 SOFTMAX (t13)"]
