# SPDX-License-Identifier: Apache-2.0
"""Flash of fast kernels: at most 15% more code than size-optimized ones."""

import json
import os
from pathlib import Path

import pytest

_MOST = 1.15

_FOLDER = "tests/models"
"""Folder of the models' constants and their test data."""

_IMAGES = os.environ["IMAGES"].split()
"""Images with the fast kernels; `<image>_small` are the others."""


def code(image: str) -> tuple[int, int]:
    """Return the bytes of flash without the model's own, and the share of the kernels."""
    size = json.loads((Path(_FOLDER) / f"{image}.size.json").read_text())
    memories = [memory for memory in size["memories"] if memory["kind"] == "flash"]
    origins = [item for memory in memories for item in memory["by_origin"].items()]
    kernels = sum(count for origin, count in origins if origin.startswith("kernels/"))
    return sum(count for origin, count in origins if origin != _FOLDER), kernels


@pytest.mark.parametrize("image", _IMAGES)
def test_growth(image: str) -> None:
    (fast, fast_kernels), (small, small_kernels) = code(image), code(f"{image}_small")
    print(f"{image:24}  {small:6,}  {fast:6,}  {fast / small - 1:6.1%}")
    assert small_kernels < fast_kernels
    assert fast <= small * _MOST
