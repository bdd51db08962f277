# SPDX-License-Identifier: Apache-2.0
"""Flash that a slot takes: half of it is arithmetic of Ed25519, more on Cortex-M0."""

import pytest

from firmware.slot.testing.cost import BOARDS, cost


@pytest.mark.parametrize("board", BOARDS)
def test_flash(board: str) -> None:
    found = cost(board)
    most = 20 if board == "microbit" else 16
    assert 12 * 1024 < found.flash <= most * 1024, found
