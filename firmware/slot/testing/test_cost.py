# SPDX-License-Identifier: Apache-2.0
"""What a slot takes of flash: 12 KB at most, a good third of which is arithmetic of Ed25519."""

import pytest

from firmware.slot.testing.cost import BOARDS, cost


@pytest.mark.parametrize("board", BOARDS)
def test_flash(board: str) -> None:
    found = cost(board)
    assert 8 * 1024 < found.flash <= 12 * 1024, found
