# SPDX-License-Identifier: Apache-2.0
"""What fast kernels take of flash: at most 15% more than an image with the small ones."""

import json
import os
from pathlib import Path

import pytest

_MOST = 1.15

_IMAGES = os.environ["IMAGES"].split()
"""With the fast kernels; `<image>_small` are the others."""


def flash(image: str) -> int:
    size = json.loads((Path("tests/models") / f"{image}.size.json").read_text())
    return sum(m["used"] for m in size["memories"] if m["kind"] == "flash")


@pytest.mark.parametrize("image", _IMAGES)
def test_growth(image: str) -> None:
    fast, small = flash(image), flash(f"{image}_small")
    assert small <= fast <= small * _MOST
