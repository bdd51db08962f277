# SPDX-License-Identifier: Apache-2.0
"""What fast kernels take of flash: at most 15% more code than small ones."""

import json
import os
from pathlib import Path

import pytest

_MOST = 1.15

_FOLDER = "tests/models"
"""Where the models' constants are from, and what they are tried on."""

_IMAGES = os.environ["IMAGES"].split()
"""With the fast kernels; `<image>_small` are the others."""


def code(image: str) -> tuple[int, int]:
    """Bytes of flash without what is the model's own, and of them the kernels'."""
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
