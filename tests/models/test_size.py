# SPDX-License-Identifier: Apache-2.0
"""What fast kernels take of flash: at most 15% more than an image with the small ones."""

import json
import os
from pathlib import Path

import pytest

_MOST = 1.15

_IMAGES = os.environ["IMAGES"].split()
"""With the fast kernels; `<image>_small` are the others."""


def flash(image: str) -> tuple[int, int]:
    """Bytes of flash, and of them the kernels' code."""
    size = json.loads((Path("tests/models") / f"{image}.size.json").read_text())
    memories = [memory for memory in size["memories"] if memory["kind"] == "flash"]
    origins = [item for memory in memories for item in memory["by_origin"].items()]
    kernels = sum(count for origin, count in origins if origin.startswith("kernels/"))
    return sum(memory["used"] for memory in memories), kernels


@pytest.mark.parametrize("image", _IMAGES)
def test_growth(image: str) -> None:
    (fast, fast_code), (small, small_code) = flash(image), flash(f"{image}_small")
    assert small_code < fast_code
    assert fast <= small * _MOST
