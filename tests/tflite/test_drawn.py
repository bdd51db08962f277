# SPDX-License-Identifier: Apache-2.0
"""A few drawn .tflite files; `tools/bazel run //tests/tflite:random` draws as many as you like."""

from __future__ import annotations

import pytest

from tests.tflite.drawn import drawn, problems


@pytest.mark.parametrize("seed", range(24))
def test_drawn(seed: int) -> None:
    assert problems(drawn(seed)) == []
