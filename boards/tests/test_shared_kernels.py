# SPDX-License-Identifier: Apache-2.0
"""Images for boards of one core have the same kernels, whatever their boards and stacks are."""

import re
from pathlib import Path

import pytest

_KERNEL = re.compile(r"bazel-out/([^/\s]+)/bin/kernels/(?!common/)[^\s(]+\.a\b")


@pytest.mark.parametrize(
    "images",
    [
        pytest.param(("boards/microbit_app", "firmware/slot/testing/on_nrf"), id="one board"),
        pytest.param(("boards/lm3s6965evb_app", "boards/stm32vldiscovery_app"), id="two boards"),
    ],
)
def test_kernels_are_compiled_once_for_a_core(images: tuple[str, str]) -> None:
    first, second = (set(_KERNEL.findall(Path(image + ".map").read_text())) for image in images)
    assert len(first) == 1 and first == second
