# SPDX-License-Identifier: Apache-2.0
"""A program that never ends is stopped: the simulator's doing."""

import os
from pathlib import Path

import pytest

from boards.board import load_board
from boards.simulator.simulate import simulate

_NAME = os.environ["PL_BOARD"]


@pytest.mark.parametrize(
    ("time_limit", "silence", "count", "why"),
    [
        (8, 300, False, "no end after 8 s"),
        (300, 8, True, "no end, and nothing on the console for 8 s"),
    ],
)
def test_a_program_that_never_ends_is_stopped(
    time_limit: float, silence: float, count: bool, why: str
) -> None:
    run = simulate(
        Path(f"boards/tests/hang.{_NAME}.elf"),
        load_board(Path(f"boards/{_NAME}/{_NAME}.json")),
        time_limit=time_limit,
        silence=silence,
        count=count,
    )
    assert run.exit_status is None
    assert run.problem == f"{why}; the console ended with:\n  waiting"
    assert run.seconds < 300
