# SPDX-License-Identifier: Apache-2.0
"""Two images of a board, one of which has a stack of its own, are linked with the same kernels."""

import re
from pathlib import Path

_IMAGES = ("boards/microbit_app.map", "firmware/slot/testing/on_nrf.map")
_KERNEL = re.compile(r"bazel-out/([^/\s]+)/bin/kernels/(?!common/)[^\s(]+\.a\b")


def test_kernels_are_compiled_once_for_a_board() -> None:
    found = [set(_KERNEL.findall(Path(image).read_text())) for image in _IMAGES]
    assert len(found[0]) == 1 and found[0] == found[1]
