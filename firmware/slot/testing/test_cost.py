# SPDX-License-Identifier: Apache-2.0
"""What a slot takes of flash, more than half of which is arithmetic of Ed25519."""

import pytest

from firmware.slot.testing.cost import BOARDS, cost


@pytest.mark.parametrize("board", BOARDS)
def test_flash(board: str) -> None:
    found = cost(board)
    limit = 20 if board == "microbit" else 16  # KB: without long products it takes more code
    assert 8 * 1024 < found.flash <= limit * 1024, found
